//! A watchdog for runs without progress.
//!
//! ```text
//!                  progress                      warn_after without progress
//!        ┌──────────────────────────┐      ┌───────────────────────────────────┐
//!        ▾                          │      │                                   ▾
//!     Moving ────────────────────▸ Moving ─┘                                Warned
//!        ▴                                     progress                        │
//!        ├─────────────────────────────────────────────────────────────────────┤
//!        │ the last tool returned                                              │ kill_after
//!     Working ◂── a tool started, from Moving and Warned                       ▾
//!                                                                           Stalled
//! ```
//!
//! A sign of life (a comment of the stream, a heartbeat, a log line) does not count as progress. While tools run, the
//! model has nothing to send, so their time does not count against it.

use std::time::Duration;

/// The limits of a [`StallGuard`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StallLimits {
    /// The idle time until a warning; none for no warning.
    pub warn_after: Option<Duration>,
    /// The idle time until the run ends; none for no limit.
    pub kill_after: Option<Duration>,
    /// The running time of a tool until the run ends; none for no limit.
    pub tool_kill_after: Option<Duration>,
}

impl Default for StallLimits {
    /// A warning after ten seconds and the end after five minutes. Tools have no limit.
    fn default() -> Self {
        Self {
            warn_after: Some(Duration::from_secs(10)),
            kill_after: Some(Duration::from_mins(5)),
            tool_kill_after: None,
        }
    }
}

impl StallLimits {
    /// Makes the default limits with another end, as configuration files set it (`stall_timeout_ms`). None keeps the
    /// default, and zero removes the limit. The warning always comes before the end.
    ///
    /// ```
    /// use std::time::Duration;
    /// use seamline_guard::StallLimits;
    ///
    /// assert_eq!(StallLimits::of_timeout_ms(Some(300_000)), StallLimits::default());
    /// assert_eq!(StallLimits::of_timeout_ms(None), StallLimits::default());
    /// assert_eq!(StallLimits::of_timeout_ms(Some(0)).kill_after, None);
    /// assert_eq!(StallLimits::of_timeout_ms(Some(150)).warn_after, Some(Duration::from_millis(75)));
    /// ```
    pub fn of_timeout_ms(milliseconds: Option<u64>) -> Self {
        let default = Self::default();
        let kill_after = match milliseconds {
            None => default.kill_after,
            Some(0) => None,
            Some(time) => Some(Duration::from_millis(time)),
        };
        let warn_after = default.warn_after.map(|warn| kill_after.map_or(warn, |kill| warn.min(kill / 2)));
        Self { warn_after, kill_after, ..default }
    }
}

/// A watchdog for one run. The caller passes the time, as a duration since any fixed moment.
#[derive(Debug, Clone)]
pub struct StallGuard {
    limits: StallLimits,
    /// When the model last made progress or got its request.
    moved_at: Duration,
    /// When the last sign of life came.
    alive_at: Duration,
    /// The running tools in the order of their start; several may have the same name.
    tools: Vec<(String, Duration)>,
    told: Told,
}

/// The notices that the caller got since the last progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Warned,
    Stalled,
}

/// A notice about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StallNotice {
    /// The run made no progress for a while.
    Warn {
        /// How long it was idle.
        idle: Duration,
        /// Whether signs of life came meanwhile.
        alive: bool,
    },
    /// The run made no progress for too long and must end. The caller still answers the open calls.
    Stalled {
        /// How long it was idle.
        idle: Duration,
        /// The tool that did not return, if one was running.
        tool: Option<String>,
    },
}

impl StallGuard {
    /// Starts to watch a run that begins now.
    ///
    /// ```
    /// use std::time::Duration;
    /// use seamline_guard::{StallGuard, StallLimits, StallNotice};
    ///
    /// let seconds = Duration::from_secs;
    /// let mut guard = StallGuard::new(StallLimits::default(), seconds(0));
    /// guard.handle_progress(seconds(3));
    /// // A heartbeat does not count as progress.
    /// guard.handle_life(seconds(12));
    /// assert!(matches!(guard.poll_notice(seconds(13)), Some(StallNotice::Warn { alive: true, .. })));
    /// assert_eq!(guard.poll_notice(seconds(302)), None);
    /// assert!(matches!(guard.poll_notice(seconds(303)), Some(StallNotice::Stalled { tool: None, .. })));
    /// ```
    pub fn new(limits: StallLimits, now: Duration) -> Self {
        Self { limits, moved_at: now, alive_at: now, tools: Vec::new(), told: Told::Nothing }
    }

    /// Notes progress of the message: text, a piece of a tool call, an ending.
    pub fn handle_progress(&mut self, now: Duration) {
        self.moved_at = self.moved_at.max(now);
        self.alive_at = self.alive_at.max(now);
        if self.told == Told::Warned {
            self.told = Told::Nothing;
        }
    }

    /// Notes a sign of life without progress.
    pub fn handle_life(&mut self, now: Duration) {
        self.alive_at = self.alive_at.max(now);
    }

    /// Notes the start of a tool.
    pub fn handle_tool_begun(&mut self, call: &str, now: Duration) {
        self.tools.push((call.to_owned(), now));
        self.handle_progress(now);
    }

    /// Notes the end of a tool, whatever its result.
    pub fn handle_tool_ended(&mut self, call: &str, now: Duration) {
        if let Some(first) = self.tools.iter().position(|(begun, _)| begun == call) {
            self.tools.remove(first);
        }
        self.handle_progress(now);
    }

    /// Returns the notice that is due now. Each notice comes once.
    pub fn poll_notice(&mut self, now: Duration) -> Option<StallNotice> {
        if self.told == Told::Stalled {
            return None;
        }
        if let Some((tool, idle)) = self.stuck_tool(now) {
            self.told = Told::Stalled;
            return Some(StallNotice::Stalled { idle, tool: Some(tool) });
        }
        if !self.tools.is_empty() {
            return None;
        }
        let idle = now.saturating_sub(self.moved_at);
        if self.limits.kill_after.is_some_and(|limit| idle >= limit) {
            self.told = Told::Stalled;
            return Some(StallNotice::Stalled { idle, tool: None });
        }
        if self.told == Told::Nothing && self.limits.warn_after.is_some_and(|limit| idle >= limit) {
            self.told = Told::Warned;
            return Some(StallNotice::Warn { idle, alive: self.alive_at > self.moved_at });
        }
        None
    }

    /// Returns when the next notice is due if nothing happens before.
    pub fn poll_deadline(&self) -> Option<Duration> {
        if self.told == Told::Stalled {
            return None;
        }
        let tools = self.limits.tool_kill_after.and_then(|limit| Some(self.earliest_tool()?.saturating_add(limit)));
        if !self.tools.is_empty() {
            return tools;
        }
        let warn = self.limits.warn_after.filter(|_| self.told == Told::Nothing);
        [warn, self.limits.kill_after].into_iter().flatten().min().map(|limit| self.moved_at.saturating_add(limit))
    }

    fn stuck_tool(&self, now: Duration) -> Option<(String, Duration)> {
        let limit = self.limits.tool_kill_after?;
        let idle = |begun: Duration| now.saturating_sub(begun);
        let stuck = self.tools.iter().filter(|(_, begun)| idle(*begun) >= limit).min_by_key(|(_, begun)| *begun);
        stuck.map(|(call, begun)| (call.clone(), idle(*begun)))
    }

    fn earliest_tool(&self) -> Option<Duration> {
        self.tools.iter().map(|(_, begun)| *begun).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn each_notice_comes_once_and_progress_starts_over() {
        let mut guard = StallGuard::new(StallLimits::default(), at(0));
        assert_eq!(guard.poll_notice(at(9)), None);
        assert_eq!(guard.poll_notice(at(10)), Some(StallNotice::Warn { idle: at(10), alive: false }));
        assert_eq!(guard.poll_notice(at(11)), None);
        guard.handle_progress(at(200));
        assert_eq!(guard.poll_deadline(), Some(at(210)));
        assert_eq!(guard.poll_notice(at(215)), Some(StallNotice::Warn { idle: at(15), alive: false }));
        assert_eq!(guard.poll_notice(at(500)), Some(StallNotice::Stalled { idle: at(300), tool: None }));
        guard.handle_progress(at(501));
        assert_eq!((guard.poll_notice(at(900)), guard.poll_deadline()), (None, None));
    }

    /// Runs events at given seconds with a clock that jumps to each deadline. Returns when the run ended.
    fn ended_at(limits: StallLimits, happens: &[(u64, &str)]) -> Option<u64> {
        let mut guard = StallGuard::new(limits, at(0));
        let mut happens = happens.iter().peekable();
        loop {
            let deadline = guard.poll_deadline();
            let next = happens.peek().map(|(second, _)| at(*second));
            let now = deadline.into_iter().chain(next).min()?;
            if next == Some(now) {
                match happens.next()?.1 {
                    "progress" => guard.handle_progress(now),
                    "ping" => guard.handle_life(now),
                    "tool" => guard.handle_tool_begun("a", now),
                    "result" => guard.handle_tool_ended("a", now),
                    other => panic!("{other}"),
                }
            }
            if matches!(guard.poll_notice(now), Some(StallNotice::Stalled { .. })) {
                return Some(now.as_secs());
            }
        }
    }

    #[test]
    fn s3_26_a_run_that_stalls_ends_inside_its_window() {
        let limits = StallLimits::default();
        assert_eq!(ended_at(limits, &[]), Some(300));
        assert_eq!(ended_at(limits, &[(290, "progress")]), Some(590));
        let pings: Vec<_> = (1..1000).map(|second| (second, "ping")).collect();
        assert_eq!(ended_at(limits, &pings), Some(300), "a sign of life does not count as progress");
        assert_eq!(ended_at(StallLimits::of_timeout_ms(Some(600_000)), &pings), Some(600));
    }

    #[test]
    fn k52_a_long_tool_is_not_a_stall_and_a_dead_run_after_it_is_one() {
        let limits = StallLimits::default();
        assert_eq!(ended_at(limits, &[(5, "tool"), (4000, "result")]), Some(4300));
        assert_eq!(ended_at(limits, &[(5, "tool")]), None, "a tool without a limit never stalls");
        let limits = StallLimits { tool_kill_after: Some(at(60)), ..limits };
        assert_eq!(ended_at(limits, &[(5, "tool"), (20, "ping")]), Some(65));
    }

    #[test]
    fn s3_15_the_default_has_an_end() {
        assert_eq!(StallLimits::default().kill_after, Some(Duration::from_mins(5)));
        assert_eq!(ended_at(StallLimits::of_timeout_ms(None), &[]), Some(300));
        assert_eq!(ended_at(StallLimits::of_timeout_ms(Some(0)), &[]), None, "switched off explicitly");
    }

    #[test]
    fn signs_of_life_delay_nothing() {
        let mut guard = StallGuard::new(StallLimits::default(), at(0));
        for second in 1..300 {
            guard.handle_life(at(second));
        }
        assert_eq!(guard.poll_notice(at(300)), Some(StallNotice::Stalled { idle: at(300), tool: None }));
    }

    #[test]
    fn the_time_of_tools_does_not_count_against_the_model() {
        let mut guard = StallGuard::new(StallLimits::default(), at(0));
        guard.handle_tool_begun("a", at(1));
        guard.handle_tool_begun("b", at(1));
        assert_eq!((guard.poll_notice(at(10_000)), guard.poll_deadline()), (None, None));
        guard.handle_tool_ended("a", at(10_000));
        assert_eq!(guard.poll_notice(at(20_000)), None);
        guard.handle_tool_ended("b", at(20_000));
        assert_eq!(guard.poll_notice(at(20_009)), None);
        assert!(matches!(guard.poll_notice(at(20_300)), Some(StallNotice::Stalled { tool: None, .. })));
    }

    #[test]
    fn a_tool_can_have_its_own_limit() {
        let limits = StallLimits { tool_kill_after: Some(at(60)), ..StallLimits::default() };
        let mut guard = StallGuard::new(limits, at(0));
        guard.handle_tool_begun("slow", at(5));
        guard.handle_tool_begun("slower", at(10));
        assert_eq!(guard.poll_deadline(), Some(at(65)));
        assert_eq!(
            guard.poll_notice(at(70)),
            Some(StallNotice::Stalled { idle: at(65), tool: Some("slow".to_owned()) })
        );
    }

    #[test]
    fn without_limits_there_are_no_notices() {
        let limits = StallLimits { warn_after: None, kill_after: None, tool_kill_after: None };
        let mut guard = StallGuard::new(limits, at(0));
        assert_eq!((guard.poll_notice(at(1 << 40)), guard.poll_deadline()), (None, None));
    }

    #[test]
    fn tools_with_one_name_are_counted_separately() {
        for name in ["a", ""] {
            let mut guard = StallGuard::new(StallLimits::default(), at(0));
            guard.handle_tool_begun(name, at(1));
            guard.handle_tool_begun(name, at(1));
            guard.handle_tool_ended(name, at(2));
            assert_eq!((guard.poll_notice(at(10_000)), guard.poll_deadline()), (None, None), "one still runs");
            guard.handle_tool_ended(name, at(10_000));
            assert_eq!(guard.poll_deadline(), Some(at(10_010)));
        }
    }

    #[test]
    fn very_long_limits_do_not_overflow() {
        let never = Some(Duration::MAX);
        let limits = StallLimits { warn_after: never, kill_after: never, tool_kill_after: never };
        let mut guard = StallGuard::new(limits, at(1));
        assert_eq!((guard.poll_deadline(), guard.poll_notice(at(1 << 40))), (never, None));
        guard.handle_tool_begun("a", at(2));
        assert_eq!((guard.poll_deadline(), guard.poll_notice(at(1 << 40))), (never, None));
    }
}
