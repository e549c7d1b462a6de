//! Child processes of tools, and their children, which end when they should.
//!
//! A tool that runs a command starts more than one process: a shell, what the shell runs, what
//! that leaves behind. All of it is one group, which is asked to end and then made to. What it
//! prints is read all the time, whoever waits for what, and only so much of it is kept. Once the
//! command itself has ended, its group is ended too: nothing goes on that nobody waits for.
//!
//! Some of what it starts may have a group of its own (what `timeout` runs, or a shell with job
//! control). On Linux it is followed: whoever descends from the command when it is ended is ended
//! too. On Windows there are no such groups: the command itself is ended, what it started is not.
//!
//! Who has left the group and lost its parents, as a daemon has, escapes. It may hold the outputs of
//! the command open; they are read for a moment more and then closed, so that whatever it prints
//! after that meets a closed pipe. Only on Windows is a pipe read for as long as somebody holds it.

mod followed;
mod group;
mod output;

use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use followed::Followed;
pub use output::ChildOutput;
use output::Reader;

/// How long a command may take, and how much of what it prints is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildLimits {
    /// After how long it is ended; nothing when it may take for ever.
    pub timeout: Option<Duration>,
    /// How long it may take to end once it was asked to, before it is made to.
    pub grace: Duration,
    /// How many bytes of each of its two outputs are kept: half from the start, half from the end.
    pub output_bytes_max: usize,
}

impl Default for ChildLimits {
    /// Two minutes, two seconds, a hundred thousand bytes.
    fn default() -> Self {
        Self { timeout: Some(Duration::from_mins(2)), grace: Duration::from_secs(2), output_bytes_max: 100_000 }
    }
}

/// Why a command is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildEnd {
    /// It ended by itself.
    Exited,
    /// It took too long and was ended.
    TimedOut,
    /// Somebody did not want it any more.
    Stopped,
}

/// What became of a command.
#[derive(Debug)]
pub struct Ran {
    /// Why it is over.
    pub end: ChildEnd,
    /// What it said when it ended, or the signal that ended it.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: ChildOutput,
    /// What it printed about itself.
    pub stderr: ChildOutput,
}

/// A command that runs, in a group of its own. If nobody [waits](Self::wait) for it, it is ended.
#[derive(Debug)]
pub struct Supervised {
    child: Child,
    limits: ChildLimits,
    started: Instant,
    stopped: Arc<AtomicBool>,
    stdout: Reader,
    stderr: Reader,
    followed: Followed,
    reaped: bool,
}

/// Ends a command that somebody else waits for. Any number of times does it once.
#[derive(Debug, Clone)]
pub struct Stopper {
    stopped: Arc<AtomicBool>,
}

impl Stopper {
    /// Ends the command: whoever waits for it gets [`ChildEnd::Stopped`] soon.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// Runs a command to its end.
///
/// ```
/// # #[cfg(unix)] {
/// use std::process::Command;
/// use std::time::Duration;
/// use seamline::guards::{ChildEnd, ChildLimits, supervise};
///
/// let mut shell = Command::new("sh");
/// shell.args(["-c", "echo here; sleep 60"]);
/// let limits = ChildLimits { timeout: Some(Duration::from_millis(300)), ..ChildLimits::default() };
/// let ran = supervise(&mut shell, &limits)?;
/// assert_eq!((ran.end, ran.stdout.text().as_str()), (ChildEnd::TimedOut, "here\n"));
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// What the command started is ended with it, but for who has left its process group and lost its
/// parents before, as a daemon has (`setsid … &` in a shell that exits): that one runs on. If it
/// holds an output of the command, that output is not [whole](ChildOutput::whole), and on Unix its
/// pipe is closed half a second after the command is gone: nothing waits for it any longer.
///
/// # Errors
///
/// When the command could not be started, or not be waited for.
pub fn supervise(command: &mut Command, limits: &ChildLimits) -> io::Result<Ran> {
    Supervised::start(command, limits)?.wait()
}

/// Starts to read both outputs of a command.
fn readers(child: &mut Child, bytes_max: usize) -> io::Result<(Reader, Reader)> {
    Ok((Reader::of(child.stdout.take(), bytes_max)?, Reader::of(child.stderr.take(), bytes_max)?))
}

impl Supervised {
    /// Starts a command in a group of its own. It reads nothing: its input is empty.
    ///
    /// # Errors
    ///
    /// When the command could not be started.
    pub fn start(command: &mut Command, limits: &ChildLimits) -> io::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        group::own(command);
        let mut child = command.spawn()?;
        match readers(&mut child, limits.output_bytes_max) {
            Ok((stdout, stderr)) => {
                let (started, stopped) = (Instant::now(), Arc::default());
                let followed = Followed::default();
                Ok(Self { child, limits: *limits, started, stopped, stdout, stderr, followed, reaped: false })
            }
            Err(error) => {
                // Nobody could hear it, and nobody would end it.
                group::kill(&mut child);
                child.wait()?;
                Err(error)
            }
        }
    }

    /// The number the system knows the command by, and on Unix its group.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What ends it from elsewhere.
    pub fn stopper(&self) -> Stopper {
        Stopper { stopped: Arc::clone(&self.stopped) }
    }

    /// Waits until the command is over, ends what is left of it, and says what became of it.
    ///
    /// # Errors
    ///
    /// When the system does not say what became of it.
    pub fn wait(mut self) -> io::Result<Ran> {
        let end = self.watch()?;
        // Who has ended and left nothing behind need not be asked.
        if end != ChildEnd::Exited || !self.is_over_within(LEFTOVERS_MAX)? || self.has_leftovers() {
            self.terminate();
            self.is_over_within(self.limits.grace)?;
            self.kill();
        }
        let status = self.reap()?;
        let deadline = Instant::now() + PIPES_MAX;
        let (stdout, stderr) = (self.stdout.take(deadline), self.stderr.take(deadline));
        Ok(Ran { end, status, stdout, stderr })
    }

    /// Looks until the command has ended, takes too long, or is not wanted any more.
    fn watch(&mut self) -> io::Result<ChildEnd> {
        let mut pause = Pause::default();
        loop {
            if group::has_exited(&mut self.child)? {
                return Ok(ChildEnd::Exited);
            }
            if self.stopped.load(Ordering::Relaxed) {
                return Ok(ChildEnd::Stopped);
            }
            let left = self.limits.timeout.map(|timeout| timeout.saturating_sub(self.started.elapsed()));
            if left == Some(Duration::ZERO) {
                return Ok(ChildEnd::TimedOut);
            }
            pause.wait(left);
        }
    }

    /// Gives the command some time. Whether it seems to be over: it has ended, nobody holds its
    /// outputs open any more, and those that were found outside its group have ended too.
    fn is_over_within(&mut self, time: Duration) -> io::Result<bool> {
        // A time that no clock reaches has no end.
        let deadline = Instant::now().checked_add(time);
        let mut pause = Pause::default();
        loop {
            let is_closed = self.stdout.is_closed() && self.stderr.is_closed();
            if is_closed && group::has_exited(&mut self.child)? && self.followed.are_gone() {
                return Ok(true);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(false);
            }
            pause.wait(left);
        }
    }

    /// Whether somebody runs on outside the group who can still be found: only until the group is
    /// ended, for after that nothing leads there any more.
    fn has_leftovers(&mut self) -> bool {
        self.followed.look(&self.child);
        !self.followed.are_gone()
    }

    /// Asks all of it to end, and who was started meanwhile as well.
    fn terminate(&mut self) {
        self.followed.look(&self.child);
        group::terminate(&self.child);
        self.followed.terminate();
        self.followed.look(&self.child);
        self.followed.terminate();
    }

    /// Makes all of it end. Who has lost its parents cannot be found any more, so it is looked for first.
    fn kill(&mut self) {
        self.followed.look(&self.child);
        group::kill(&mut self.child);
        self.followed.kill();
    }

    /// Makes the group end. Until the command is reaped nobody else gets its number, so nobody
    /// else is hit; that is why it is reaped last.
    fn reap(&mut self) -> io::Result<ExitStatus> {
        group::kill(&mut self.child);
        let status = self.child.wait()?;
        self.reaped = true;
        Ok(status)
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            // There is nobody to tell that it failed.
            let _ = self.reap();
        }
    }
}

/// How long a command that has ended may leave its outputs open before somebody is suspected to
/// hold them.
const LEFTOVERS_MAX: Duration = Duration::from_millis(50);

/// How long the outputs of a command that is gone are waited for. Only a process that has left
/// the group, and lost its parents, can hold them open longer, and it is not ours any more.
const PIPES_MAX: Duration = Duration::from_millis(500);

/// The time between two looks, growing while nothing happens.
#[derive(Debug)]
struct Pause(Duration);

impl Default for Pause {
    fn default() -> Self {
        Self(Duration::from_millis(1))
    }
}

impl Pause {
    const MAX: Duration = Duration::from_millis(20);

    fn wait(&mut self, left: Option<Duration>) {
        thread::sleep(left.map_or(self.0, |left| left.min(self.0)));
        self.0 = (self.0 * 2).min(Self::MAX);
    }
}
