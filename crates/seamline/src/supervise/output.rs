//! What a command prints, read by a thread of its own so that nobody waits for anybody.
//!
//! A pipe ends when nobody holds it open for writing any more, and who has escaped may hold it for
//! as long as it likes. So a thread waits for bytes only so long, and ends when nobody listens.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use of_system::{Pipe, is_ready};

/// What a command printed, or its start and its end if it was too much.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChildOutput {
    /// The start of it; all of it if nothing was left out.
    pub head: Vec<u8>,
    /// How many bytes were left out in the middle.
    pub left_out: u64,
    /// The end of it, after what was left out.
    pub tail: Vec<u8>,
    /// Whether it was read to its end.
    pub whole: bool,
}

impl ChildOutput {
    /// As text, with a line that says what was left out.
    pub fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.left_out > 0 {
            let _ = write!(text, "\n[… {} bytes left out …]\n", self.left_out);
        }
        text.push_str(&String::from_utf8_lossy(&self.tail));
        text
    }
}

/// Reads an output to its end, or until it is dropped, and keeps what may be kept.
#[derive(Debug)]
pub(super) struct Reader {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    kept: Mutex<Kept>,
    closed: Condvar,
    /// Nobody listens any more.
    is_left: AtomicBool,
}

#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    head_max: usize,
    tail: VecDeque<u8>,
    tail_max: usize,
    left_out: u64,
    closed: bool,
}

impl Kept {
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
    /// Starts to read, if there is anything to be read.
    pub(super) fn of(pipe: Option<impl Pipe>, bytes_max: usize) -> io::Result<Self> {
        let tail_max = bytes_max / 2;
        let kept = Kept { head_max: bytes_max - tail_max, tail_max, closed: pipe.is_none(), ..Kept::default() };
        let shared = Arc::new(Shared { kept: Mutex::new(kept), ..Shared::default() });
        if let Some(pipe) = pipe {
            let shared = Arc::clone(&shared);
            thread::Builder::new().spawn(move || read(pipe, &shared))?;
        }
        Ok(Self { shared })
    }

    /// Whether nothing more can come.
    pub(super) fn is_closed(&self) -> bool {
        self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner).closed
    }

    /// What was read, once all of it was, or when it is too late to wait for more.
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

    /// How long bytes are waited for before somebody looks whether they are still wanted.
    const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

    /// Waits a while until a pipe can be read. Whether it can: there are bytes, or its end, or
    /// something is wrong with it, which reading says.
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

    /// A pipe cannot be asked here, so that whoever reads it waits for as long as it is held open.
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
            // What cannot be read any more has ended as well.
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
    fn nobody_reads_on_for_nobody() {
        let (pipe, mut writer) = io::pipe().unwrap();
        let reader = Reader::of(Some(pipe), 10).unwrap();
        writer.write_all(b"here").unwrap();
        let output = reader.take(Instant::now() + Duration::from_millis(300));
        assert_eq!((output.text().as_str(), output.whole), ("here", false));
        drop(reader);
        // The end that is read goes with the thread that reads it.
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
