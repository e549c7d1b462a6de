//! Work on many inputs at once, told in the order they were given.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use crate::output;

/// Progress is shown when work takes longer than this, and renewed as often.
const PATIENCE: Duration = Duration::from_millis(400);
/// Items begun before the oldest of them was taken: what comes of them waits in memory.
const AHEAD_MAX: usize = 64;

/// Does `work` on every item, on all cores, and hands what came of each to `take` in the
/// order of the items. When `take` has had enough, no new item is begun.
pub(crate) fn in_order<T: Sync, R: Send>(
    verb: &str,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(R) -> ControlFlow<()>,
) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = sync_channel(AHEAD_MAX);
    let (permits, permitted) = permits();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    // A worker that finds nothing left to do keeps the permit it had for it.
    let workers = cores.min(items.len()).min(AHEAD_MAX);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next, work, permitted) = (sender.clone(), &next, &work, &permitted);
            scope.spawn(move || {
                while is_permitted(permitted) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    // A panic is handed on as well: everybody would wait for its turn.
                    let done = catch_unwind(AssertUnwindSafe(|| work(item)));
                    if sender.send((index, done)).is_err() {
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
                if take(done.unwrap_or_else(|panic| resume_unwind(panic))).is_break() {
                    next.store(items.len(), Ordering::Relaxed);
                    drop(permits);
                    return;
                }
                // Fails when every worker has gone.
                let _ = permits.send(());
            }
        }
    });
}

/// As many permits to begin an item as may be out at once.
fn permits() -> (SyncSender<()>, Mutex<Receiver<()>>) {
    let (permits, permitted) = sync_channel(AHEAD_MAX);
    for () in [(); AHEAD_MAX] {
        let _ = permits.send(());
    }
    (permits, Mutex::new(permitted))
}

/// Waits for a permit; there is none any more when nobody takes what comes of it.
fn is_permitted(permitted: &Mutex<Receiver<()>>) -> bool {
    permitted.lock().is_ok_and(|permitted| permitted.recv().is_ok())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_taken_in_order_and_never_far_ahead() {
        let items: Vec<usize> = (0..10 * AHEAD_MAX).collect();
        let (begun, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut order = Vec::new();
        let work = |item: &usize| {
            let begun = 1 + begun.fetch_add(1, Ordering::SeqCst);
            let ahead = begun.saturating_sub(taken.load(Ordering::SeqCst));
            assert!(ahead <= AHEAD_MAX, "{ahead}");
            if *item == 0 {
                std::thread::sleep(Duration::from_millis(50));
            }
            *item
        };
        in_order("counting", &items, work, |item| {
            taken.fetch_add(1, Ordering::SeqCst);
            order.push(item);
            ControlFlow::Continue(())
        });
        assert_eq!(order, items);
    }

    #[test]
    fn whoever_has_had_enough_gets_no_more() {
        let items: Vec<usize> = (0..10 * AHEAD_MAX).collect();
        let mut order = Vec::new();
        in_order(
            "counting",
            &items,
            |item| *item,
            |item| {
                order.push(item);
                if item == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        assert_eq!(order, [0, 1, 2, 3]);
    }

    #[test]
    fn a_panic_comes_through() {
        let items: Vec<usize> = (0..10 * AHEAD_MAX).collect();
        let work = |item: &usize| assert!(*item != 5, "item {item}");
        let all = || in_order("counting", &items, work, ControlFlow::Continue);
        let panic = catch_unwind(AssertUnwindSafe(all)).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some("item 5"));
    }
}
