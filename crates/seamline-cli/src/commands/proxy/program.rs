//! Runs a program behind the proxy, with the terminal of the user.

use std::io::ErrorKind;
use std::process::{Command, ExitStatus};

use seamline_proxy::launch::{Launch, PROGRAMS, Surroundings};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, suggest};

/// Runs the program until it ends. Its status is the status of the command.
pub(super) async fn run(launch: &Launch, around: &Surroundings, url: &str) -> Result<Exit, Failure> {
    for note in launch.notes() {
        output::say(&format!("seamline: {note}\n"));
    }
    let prepared = launch.prepare(url, around).map_err(|error| Failure::io("write a file for the program", &error))?;
    let Some((program, arguments)) = prepared.words.split_first() else { return Ok(Exit::Failed) };
    let mut command = Command::new(program);
    command.args(arguments).envs(prepared.variables.iter().map(|(name, value)| (name, value)));
    // From here on a signal must not end this process before the program.
    let signals = Signals::take().map_err(|error| Failure::io("wait for signals", &error))?;
    let mut child = command.spawn().map_err(|error| not_started(&program.to_string_lossy(), &error))?;
    let id = child.id();
    let ended = tokio::task::spawn_blocking(move || child.wait());
    let status = signals.forward_until(ended, id).await;
    status.map_err(|error| Failure::io("wait for the program", &error)).map(|status| Exit::Program(code(status)))
}

fn not_started(program: &str, error: &std::io::Error) -> Failure {
    let names: Vec<&str> = PROGRAMS.iter().map(|(name, _)| *name).collect();
    let failure = Failure::new(format!("could not start `{program}`: {}", error.to_string().to_lowercase()));
    match error.kind() {
        ErrorKind::NotFound => {
            failure.with_hint(suggest::hint(program, &names, "check that it is installed and in PATH"))
        }
        _ => failure,
    }
}

/// The status as shells report it: 128 and the number of the signal that ended the program.
fn code(status: ExitStatus) -> u8 {
    let of_signal = || signal_of(status).map(|signal| 128 + signal);
    status.code().or_else(of_signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// The outcome of the program.
type Ended = tokio::task::JoinHandle<std::io::Result<ExitStatus>>;

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}

/// The signals that would end this process.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    quit: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn take() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Passes signals on to the program until it ends.
    async fn forward_until(mut self, mut ended: Ended, program: u32) -> std::io::Result<ExitStatus> {
        use rustix::process::Signal;
        loop {
            let signal = tokio::select! {
                status = &mut ended => return status.map_err(std::io::Error::other)?,
                _ = self.interrupt.recv() => (!is_in_foreground()).then_some(Signal::INT),
                _ = self.quit.recv() => (!is_in_foreground()).then_some(Signal::QUIT),
                _ = self.terminate.recv() => Some(Signal::TERM),
                _ = self.hang_up.recv() => Some(Signal::HUP),
            };
            let process = i32::try_from(program).ok().and_then(rustix::process::Pid::from_raw);
            if let (Some(signal), Some(process)) = (signal, process) {
                // The program may just have ended.
                let _ = rustix::process::kill_process(process, signal);
            }
        }
    }
}

/// Whether a terminal sends the signals of its keys to this process, and so to the program, too. Standard input can be a
/// pipe meanwhile.
#[cfg(unix)]
fn is_in_foreground() -> bool {
    let Ok(terminal) = std::fs::File::open("/dev/tty") else { return false };
    rustix::termios::tcgetpgrp(&terminal).is_ok_and(|group| group == rustix::process::getpgrp())
}

/// Other systems send the signals of a console to every process of it.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn take() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn forward_until(self, mut ended: Ended, _: u32) -> std::io::Result<ExitStatus> {
        loop {
            tokio::select! {
                status = &mut ended => return status.map_err(std::io::Error::other)?,
                _ = tokio::signal::ctrl_c() => {}
            }
        }
    }
}
