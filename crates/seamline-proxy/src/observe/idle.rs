//! The time that a response waits for its upstream.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use seamline::guards::{StallGuard, StallLimits, StallNotice};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::config::StallTimes;
use crate::log;

/// Watches how long a response waits for its upstream. The time in which the client does not read does not count.
pub(crate) struct Idle {
    /// Watches for progress.
    progress: StallGuard,
    /// Watches for any bytes.
    life: StallGuard,
    /// The time that was spent in waiting.
    waited: Duration,
    /// When the present wait began.
    since: Option<Instant>,
    /// The timer of the next notice. It is set late: a timer that fires too early is set again.
    timer: Option<Pin<Box<Sleep>>>,
}

/// How an upstream stalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stalled {
    /// It sent nothing.
    Silent,
    /// It sent signs of life, and no content.
    Alive,
}

impl Stalled {
    /// A sentence for an incident.
    pub(crate) fn cause(self) -> &'static str {
        match self {
            Self::Silent => "the upstream sent nothing until the stall limit",
            Self::Alive => "the upstream sent only signs of life until the stall limit",
        }
    }
}

impl Idle {
    pub(crate) fn new(times: StallTimes) -> Self {
        let StallTimes { warn_after, kill_after, alive_kill_after } = times;
        let alive = kill_after.and_then(|silent| Some(alive_kill_after?.max(silent)));
        let guard = |warn_after, kill_after| {
            StallGuard::new(StallLimits { warn_after, kill_after, tool_kill_after: None }, Duration::ZERO)
        };
        let (progress, life) = (guard(warn_after, alive), guard(None, kill_after));
        Self { progress, life, waited: Duration::ZERO, since: None, timer: None }
    }

    /// Notes a piece of the upstream.
    pub(crate) fn handle_piece(&mut self, has_moved: bool) {
        self.waited = self.now();
        self.since = None;
        self.life.handle_progress(self.waited);
        if has_moved {
            self.progress.handle_progress(self.waited);
        } else {
            self.progress.handle_life(self.waited);
        }
    }

    /// How the upstream stalled; `None` while it did not. Then the task is woken when that may be so.
    pub(crate) fn poll_stalled(&mut self, cx: &mut Context<'_>) -> Option<Stalled> {
        let is_waiting = self.since.is_some();
        // While nothing arrives, the next notice stays where the timer is.
        if is_waiting && self.timer.as_mut().is_some_and(|timer| timer.as_mut().poll(cx).is_pending()) {
            return None;
        }
        self.since.get_or_insert_with(Instant::now);
        loop {
            let now = self.now();
            if self.life.poll_notice(now).is_some() {
                return Some(Stalled::Silent);
            }
            match self.progress.poll_notice(now) {
                Some(StallNotice::Stalled { .. }) => return Some(Stalled::Alive),
                Some(StallNotice::Warn { idle, alive }) => log::warn_of_stall(idle, alive),
                None => {}
            }
            let due = [self.progress.poll_deadline(), self.life.poll_deadline()].into_iter().flatten().min()?;
            let at = Instant::now() + due.saturating_sub(now);
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(at)));
            if timer.is_elapsed() || timer.deadline() > at {
                timer.as_mut().reset(at);
            }
            match timer.as_mut().poll(cx) {
                Poll::Ready(()) => {}
                Poll::Pending => return None,
            }
        }
    }

    fn now(&self) -> Duration {
        self.waited + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}
