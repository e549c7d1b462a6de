//! The time and the peak memory of a process.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often the memory of a process is looked at.
const LOOK: Duration = Duration::from_millis(1);

/// A finished process.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) time: Duration,
    /// The most memory that it had at once; 0 where the system does not tell.
    pub(crate) peak_bytes: usize,
}

impl Run {
    /// The better time and the higher peak of two runs of the same work.
    pub(crate) fn or_better(self, other: Self) -> Self {
        Self { time: self.time.min(other.time), peak_bytes: self.peak_bytes.max(other.peak_bytes) }
    }
}

/// Runs a command that has nothing to complain about.
pub(crate) fn run(command: &mut Command) -> std::io::Result<Run> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    // The system keeps the peak itself, so that only memory of the last moment of the process could be missed.
    let mut peak_bytes = 0;
    let status = loop {
        peak_bytes = peak(child.id()).unwrap_or(peak_bytes);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(LOOK);
    };
    if !status.success() {
        return Err(std::io::Error::other(format!("{command:?} failed ({status})")));
    }
    Ok(Run { time: start.elapsed(), peak_bytes })
}

/// The peak memory of a running process.
fn peak(process: u32) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? * 1024)
}
