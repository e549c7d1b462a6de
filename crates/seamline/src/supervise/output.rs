//! Reads the output of a command in its own thread.
//!
//! A pipe ends when every process has closed it for writing, and an escaped process may hold it open for ever. So the
//! thread waits for bytes for a bounded time, and ends when the reader is dropped.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use of_system::{Pipe, is_ready};

/// The output of a command, or its start and end if it was too long.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChildOutput {
    /// The start of the output; all of it if nothing was left out.
    pub head: Vec<u8>,
    /// The number of bytes that were left out in the middle.
    pub left_out: u64,
    /// The end of the output, after the omitted bytes.
    pub tail: Vec<u8>,
    /// Whether it was read to its end.
    pub whole: bool,
}

impl ChildOutput {
    /// Returns the output as text, with a line that counts the omitted bytes.
    pub fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.left_out > 0 {
            let _ = write!(text, "\n[… {} bytes left out …]\n", self.left_out);
        }
        text.push_str(&String::from_utf8_lossy(&self.tail));
        text
    }
}

/// Reads an output to its end, or until it is dropped, and keeps a bounded part.
#[derive(Debug)]
pub(super) struct Reader {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    kept: Mutex<BoundedOutput>,
    closed: Condvar,
    /// Whether the reader was dropped.
    is_left: AtomicBool,
}

#[derive(Debug, Default)]
struct BoundedOutput {
    head: Vec<u8>,
    head_max: usize,
    tail: VecDeque<u8>,
    tail_max: usize,
    left_out: u64,
    closed: bool,
}

impl BoundedOutput {
    fn add(&mut self, bytes: &[u8]) {
        let room = (self.head_max - self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let too_much = self.tail.len().saturating_sub(self.tail_max);
        self.tail.drain(..too_much);
        self.left_out += too_much as u64;
    }
}

impl Reader {
    /// Starts a thread that reads the pipe, if there is one.
    pub(super) fn of(pipe: Option<impl Pipe>, bytes_max: usize) -> io::Result<Self> {
        let tail_max = bytes_max / 2;
        let kept = BoundedOutput {
            head_max: bytes_max - tail_max,
            tail_max,
            closed: pipe.is_none(),
            ..BoundedOutput::default()
        };
        let shared = Arc::new(Shared { kept: Mutex::new(kept), ..Shared::default() });
        if let Some(pipe) = pipe {
            let shared = Arc::clone(&shared);
            thread::Builder::new().spawn(move || read(pipe, &shared))?;
        }
        Ok(Self { shared })
    }

    /// Whether the pipe has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner).closed
    }

    /// Returns the output when it is complete, or when the deadline has passed.
    pub(super) fn take(&self, deadline: Instant) -> ChildOutput {
        let mut kept = self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner);
        while !kept.closed {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.shared.closed.wait_timeout(kept, left);
            kept = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        ChildOutput {
            head: std::mem::take(&mut kept.head),
            left_out: kept.left_out,
            tail: std::mem::take(&mut kept.tail).into(),
            whole: kept.closed,
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.shared.is_left.store(true, Ordering::Relaxed);
    }
}

#[cfg(unix)]
mod of_system {
    use std::io::Read;
    use std::os::fd::AsFd;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;

    /// An output of a command.
    pub(in super::super) trait Pipe: Read + AsFd + Send + 'static {}

    impl<P: Read + AsFd + Send + 'static> Pipe for P {}

    /// The time to wait for bytes before the thread checks whether the reader still exists.
    const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

    /// Waits a while for a pipe. Returns whether a read does not block: there are bytes, the end, or an error, which
    /// the read returns.
    pub(super) fn is_ready(pipe: &impl Pipe) -> bool {
        let ready = poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&WAIT));
        ready.map_or_else(|error| error != Errno::INTR, |count| count > 0)
    }
}

#[cfg(not(unix))]
mod of_system {
    use std::io::Read;

    /// An output of a command.
    pub(in super::super) trait Pipe: Read + Send + 'static {}

    impl<P: Read + Send + 'static> Pipe for P {}

    /// This system cannot poll a pipe, so a read waits until every process has closed it.
    pub(super) fn is_ready(_: &impl Pipe) -> bool {
        true
    }
}

fn read(mut pipe: impl Pipe, shared: &Shared) {
    let mut buffer = vec![0; 16 * 1024];
    while !shared.is_left.load(Ordering::Relaxed) {
        if !is_ready(&pipe) {
            continue;
        }
        let count = match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            // An unreadable pipe counts as ended.
            Err(_) => break,
        };
        shared.kept.lock().unwrap_or_else(PoisonError::into_inner).add(&buffer[..count]);
    }
    shared.kept.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
    shared.closed.notify_all();
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::time::Duration;

    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    fn output(bytes: &'static [u8], kept: usize) -> ChildOutput {
        let (pipe, mut writer) = io::pipe().unwrap();
        writer.write_all(bytes).unwrap();
        drop(writer);
        Reader::of(Some(pipe), kept).unwrap().take(Instant::now() + SOON)
    }

    #[cfg(unix)]
    #[test]
    fn a_dropped_reader_ends_its_thread() {
        let (pipe, mut writer) = io::pipe().unwrap();
        let reader = Reader::of(Some(pipe), 10).unwrap();
        writer.write_all(b"here").unwrap();
        let output = reader.take(Instant::now() + Duration::from_millis(300));
        assert_eq!((output.text().as_str(), output.whole), ("here", false));
        drop(reader);
        // The reading end is closed with its thread.
        let started = Instant::now();
        while writer.write_all(b"?").is_ok() {
            assert!(started.elapsed() < SOON);
            thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn the_start_and_the_end_are_kept() {
        let all = output(b"0123456789", 10);
        assert_eq!((all.text().as_str(), all.left_out, all.whole), ("0123456789", 0, true));
        let ends = output(b"0123456789", 4);
        assert_eq!((&ends.head[..], &ends.tail[..], ends.left_out), (&b"01"[..], &b"89"[..], 6));
        assert_eq!(ends.text(), "01\n[… 6 bytes left out …]\n89");
        let none = output(b"0123456789", 0);
        assert_eq!((none.head.len(), none.tail.len(), none.left_out), (0, 0, 10));
    }
}
