//! The time that a response waits for its upstream.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use seamline::guards::{StallGuard, StallLimits, StallNotice};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::log;

/// Watches how long a response waits for its upstream. The time in which the client does not read does not count.
pub(crate) struct Idle {
    guard: StallGuard,
    /// The time that was spent in waiting.
    waited: Duration,
    /// When the present wait began.
    since: Option<Instant>,
    /// The timer of the next notice. It is set late: a timer that fires too early is set again.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Idle {
    pub(crate) fn new(limits: StallLimits) -> Self {
        Self { guard: StallGuard::new(limits, Duration::ZERO), waited: Duration::ZERO, since: None, timer: None }
    }

    /// Notes a piece of the upstream.
    pub(crate) fn handle_piece(&mut self, has_moved: bool) {
        self.waited = self.now();
        self.since = None;
        if has_moved {
            self.guard.handle_progress(self.waited);
        } else {
            self.guard.handle_life(self.waited);
        }
    }

    /// Whether the upstream made no progress for too long. If not, the task is woken when that may be so.
    pub(crate) fn poll_stalled(&mut self, cx: &mut Context<'_>) -> bool {
        let is_waiting = self.since.is_some();
        // While nothing arrives, the next notice stays where the timer is.
        if is_waiting && self.timer.as_mut().is_some_and(|timer| timer.as_mut().poll(cx).is_pending()) {
            return false;
        }
        self.since.get_or_insert_with(Instant::now);
        loop {
            let now = self.now();
            match self.guard.poll_notice(now) {
                Some(StallNotice::Stalled { .. }) => return true,
                Some(StallNotice::Warn { idle, alive }) => log::warn_of_stall(idle, alive),
                None => {}
            }
            let Some(due) = self.guard.poll_deadline() else { return false };
            let at = Instant::now() + due.saturating_sub(now);
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(at)));
            if timer.is_elapsed() || timer.deadline() > at {
                timer.as_mut().reset(at);
            }
            match timer.as_mut().poll(cx) {
                Poll::Ready(()) => {}
                Poll::Pending => return false,
            }
        }
    }

    fn now(&self) -> Duration {
        self.waited + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}
