//! Work on many inputs at once, told in the order they were given.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::output;

/// Progress is shown when work takes longer than this, and renewed as often.
const PATIENCE: Duration = Duration::from_millis(400);

/// Does `work` on every item, on all cores, and hands what came of each to `take` in the
/// order of the items. When `take` has had enough, no new item is begun.
pub(crate) fn in_order<T: Sync, R: Send>(
    verb: &str,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(R) -> ControlFlow<()>,
) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..cores.min(items.len()) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    if sender.send((index, work(item))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut progress = Progress::new(verb, items.len());
        let mut waiting = BTreeMap::new();
        let mut turn = 0;
        while let Some((index, done)) = progress.next(&receiver) {
            waiting.insert(index, done);
            while let Some(done) = waiting.remove(&turn) {
                turn += 1;
                progress.clear();
                if take(done).is_break() {
                    next.store(items.len(), Ordering::Relaxed);
                    return;
                }
            }
        }
    });
}

/// How far the work is, on standard error, for people.
struct Progress<'v> {
    verb: &'v str,
    total: usize,
    done: usize,
    start: Instant,
    shown_at: Instant,
    is_shown: bool,
    is_wanted: bool,
}

impl<'v> Progress<'v> {
    fn new(verb: &'v str, total: usize) -> Self {
        Self {
            verb,
            total,
            done: 0,
            start: Instant::now(),
            shown_at: Instant::now(),
            is_shown: false,
            is_wanted: std::io::stderr().is_terminal(),
        }
    }

    /// Waits for the next piece of work, and shows that time passes.
    fn next<R>(&mut self, receiver: &Receiver<R>) -> Option<R> {
        loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(done) => {
                    self.done += 1;
                    if self.shown_at.elapsed() >= PATIENCE {
                        self.show();
                    }
                    return Some(done);
                }
                Err(RecvTimeoutError::Timeout) => self.show(),
                Err(RecvTimeoutError::Disconnected) => {
                    self.clear();
                    return None;
                }
            }
        }
    }

    fn show(&mut self) {
        if self.is_wanted {
            let seconds = self.start.elapsed().as_secs();
            output::say_raw(&format!("\r\u{1b}[2K{} … {} of {} done, {seconds} s", self.verb, self.done, self.total));
            self.is_shown = true;
            self.shown_at = Instant::now();
        }
    }

    fn clear(&mut self) {
        if self.is_shown {
            output::say_raw("\r\u{1b}[2K");
            self.is_shown = false;
        }
    }
}
