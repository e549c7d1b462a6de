//! Runs the commands of tools and ends all of their processes.
//!
//! A tool that runs a command starts several processes: a shell and everything that the shell starts. They form one
//! process group. To end the command, this module first sends the group SIGTERM, then SIGKILL. Threads read the output
//! all the time and keep a bounded part of it. When the command itself has ended, the rest of its group is ended too.
//!
//! Some descendants have a process group of their own, for example what `timeout` runs, or a shell with job control. On
//! Linux this module follows them: descendants of the command are ended with it. Windows has no such groups: only the
//! command itself is ended there.
//!
//! A process that left the group and lost its parents, as a daemon has, escapes. It may hold the outputs of the command
//! open; they are read for a moment more and then closed, so that later output of the process meets a closed pipe. Only
//! on Windows is a pipe read until every process has closed it.

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

/// The limits of a command: its time and its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildLimits {
    /// The time after which the command is ended; `None` for no limit.
    pub timeout: Option<Duration>,
    /// The time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// The most bytes of each output that are kept: half from the start, half from the end.
    pub output_bytes_max: usize,
}

impl Default for ChildLimits {
    /// Two minutes, two seconds, a hundred thousand bytes.
    fn default() -> Self {
        Self { timeout: Some(Duration::from_mins(2)), grace: Duration::from_secs(2), output_bytes_max: 100_000 }
    }
}

/// The reason why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildEnd {
    /// It ended by itself.
    Exited,
    /// It took too long and was ended.
    TimedOut,
    /// A [`Stopper`] ended it.
    Stopped,
}

/// The outcome of a command.
#[derive(Debug)]
pub struct Ran {
    /// The reason why it ended.
    pub end: ChildEnd,
    /// The exit status of the command, or the signal that ended it.
    pub status: ExitStatus,
    /// The captured standard output.
    pub stdout: ChildOutput,
    /// The captured standard error.
    pub stderr: ChildOutput,
}

/// A running command in its own process group. Dropping it without [`wait`](Self::wait) ends it.
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

/// A handle that ends a command from another thread. Stopping twice has the effect of once.
#[derive(Debug, Clone)]
pub struct Stopper {
    stopped: Arc<AtomicBool>,
}

impl Stopper {
    /// Ends the command: its [`wait`](Supervised::wait) returns [`ChildEnd::Stopped`] soon.
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
/// Descendants of the command are ended with it. A process that left the process group and lost its parents before, as
/// a daemon has (`setsid … &` in a shell that exits), keeps running. If it holds an output of the command, that output
/// is not [whole](ChildOutput::whole), and on Unix its pipe is closed half a second after the command is gone.
///
/// # Errors
///
/// Fails when the command cannot be started or waited for.
pub fn supervise(command: &mut Command, limits: &ChildLimits) -> io::Result<Ran> {
    Supervised::start(command, limits)?.wait()
}

/// Starts to read both outputs of a command.
fn readers(child: &mut Child, bytes_max: usize) -> io::Result<(Reader, Reader)> {
    Ok((Reader::of(child.stdout.take(), bytes_max)?, Reader::of(child.stderr.take(), bytes_max)?))
}

impl Supervised {
    /// Starts a command in its own process group, with empty input.
    ///
    /// # Errors
    ///
    /// Fails when the command cannot be started.
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
                // Without readers, no caller could see its output or end it.
                group::kill(&mut child);
                child.wait()?;
                Err(error)
            }
        }
    }

    /// The process id of the command, and on Unix also the id of its group.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns a handle that ends the command from another thread.
    pub fn stopper(&self) -> Stopper {
        Stopper { stopped: Arc::clone(&self.stopped) }
    }

    /// Waits until the command is over, ends its remaining processes, and returns the outcome.
    ///
    /// # Errors
    ///
    /// Fails when the system does not return the exit status.
    pub fn wait(mut self) -> io::Result<Ran> {
        let end = self.watch()?;
        // A command that ended and left no process behind needs no signal.
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

    /// Polls until the command ends, exceeds its time, or is stopped.
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

    /// Waits up to `time`. Returns whether the command seems to be over: it ended, its outputs are closed, and the
    /// descendants that were found outside its group ended too.
    fn is_over_within(&mut self, time: Duration) -> io::Result<bool> {
        // A deadline that overflows the clock means no limit.
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

    /// Whether descendants outside the group still run. They can be found only until the group is ended.
    fn has_leftovers(&mut self) -> bool {
        self.followed.look(&self.child);
        !self.followed.are_gone()
    }

    /// Sends SIGTERM to the group and to the followed descendants, also those started meanwhile.
    fn terminate(&mut self) {
        self.followed.look(&self.child);
        group::terminate(&self.child);
        self.followed.terminate();
        self.followed.look(&self.child);
        self.followed.terminate();
    }

    /// Sends SIGKILL to all of them. Searches for descendants first, because after the kill they have no parents.
    fn kill(&mut self) {
        self.followed.look(&self.child);
        group::kill(&mut self.child);
        self.followed.kill();
    }

    /// Kills the group and reaps the command. The system reuses the process id only after it is reaped, so no other
    /// process is hit; hence the reaping comes last.
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
            // `drop` cannot return an error.
            let _ = self.reap();
        }
    }
}

/// The time that an ended command may leave its outputs open before this module suspects another process of holding
/// them.
const LEFTOVERS_MAX: Duration = Duration::from_millis(50);

/// The time to wait for the outputs of an ended command. Only a process that escaped can hold them open longer.
const PIPES_MAX: Duration = Duration::from_millis(500);

/// The time between two polls, which grows while nothing happens.
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
