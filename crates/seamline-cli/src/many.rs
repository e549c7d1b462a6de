//! Work on many inputs at once, reported in the order of the inputs.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing::level_filters::LevelFilter;

/// Progress is shown if the work takes longer than this.
const PATIENCE: Duration = Duration::from_millis(400);
/// How often progress is drawn while no item finishes.
const TICK: Duration = Duration::from_millis(400);
/// The line that shows progress.
const LINE: &str = "{msg} {wide_bar:.dim} {human_pos} of {human_len} done, {elapsed}";
/// The most items that are started before the oldest of them is reported; their outcomes wait in memory.
const AHEAD_MAX: usize = 64;

/// Runs `work` on every item, on all cores, and passes each outcome to `take` in the order of the items. After `take`
/// breaks, no new item is started.
pub(crate) fn in_order<T: Sync, R: Send>(
    verb: &'static str,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(R) -> ControlFlow<()>,
) {
    let has_stopped = AtomicBool::new(false);
    rayon::in_place_scope_fifo(|scope| {
        let (sender, receiver) = channel();
        let begin = |index: usize| {
            let Some(item) = items.get(index) else { return };
            let (sender, work, has_stopped) = (sender.clone(), &work, &has_stopped);
            scope.spawn_fifo(move |_| {
                if !has_stopped.load(Ordering::Relaxed) {
                    // A panic is an outcome, too: it resumes when its item is reported.
                    let done = catch_unwind(AssertUnwindSafe(|| work(item)));
                    // Sending fails when `take` has stopped.
                    let _ = sender.send((index, done));
                }
            });
        };
        (0..AHEAD_MAX).for_each(begin);
        let mut progress = Progress::new(verb, items.len());
        let mut waiting = BTreeMap::new();
        let mut turn = 0;
        while turn < items.len()
            && let Some((index, done)) = progress.wait(&receiver)
        {
            waiting.insert(index, done);
            while let Some(done) = waiting.remove(&turn) {
                let taken = done.map(|done| progress.bar.suspend(|| take(done)));
                match taken {
                    Ok(ControlFlow::Continue(())) => begin(turn + AHEAD_MAX),
                    Ok(ControlFlow::Break(())) => return has_stopped.store(true, Ordering::Relaxed),
                    Err(panic) => {
                        has_stopped.store(true, Ordering::Relaxed);
                        resume_unwind(panic);
                    }
                }
                turn += 1;
            }
        }
    });
}

/// The progress of the work on standard error. It is shown on a terminal only, and not beside a log.
struct Progress {
    bar: ProgressBar,
    is_shown: bool,
}

impl Progress {
    fn new(verb: &'static str, total: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(LINE).unwrap_or_else(|_| ProgressStyle::default_bar());
        Self { bar: bar.with_style(style).with_message(verb), is_shown: LevelFilter::current() != LevelFilter::OFF }
    }

    /// Waits for the next outcome, and updates the elapsed time.
    fn wait<R>(&mut self, receiver: &Receiver<R>) -> Option<R> {
        loop {
            if self.bar.elapsed() >= PATIENCE {
                self.show();
            }
            match receiver.recv_timeout(PATIENCE) {
                Ok(done) => {
                    self.bar.inc(1);
                    return Some(done);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn show(&mut self) {
        if !self.is_shown {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(TICK);
            self.is_shown = true;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn outcomes_are_taken_in_order_and_never_far_ahead() {
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
    fn nothing_is_taken_after_a_break() {
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
    fn a_panic_of_an_item_reaches_the_caller() {
        let items: Vec<usize> = (0..10 * AHEAD_MAX).collect();
        let work = |item: &usize| assert!(*item != 5, "item {item}");
        let all = || in_order("counting", &items, work, ControlFlow::Continue);
        let panic = catch_unwind(AssertUnwindSafe(all)).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some("item 5"));
    }
}
