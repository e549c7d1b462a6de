//! Whether a request that failed is sent again, and when.
//!
//! What only failed for the moment is sent again as it is, a few times, ever later. A
//! conversation that is broken is repaired and sent once more, and only if that made another
//! body of it: the same body fails the same way. Everything else is for a person to look at.

use std::time::Duration;

use crate::{Class, Verdict};

/// How often and how late a request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How many times at most what failed for the moment is sent again.
    pub retries_max: u32,
    /// The first wait; each further one is twice as long.
    pub wait_min: Duration,
    /// The longest wait that is our own.
    pub wait_max: Duration,
    /// The longest wait that a provider may ask for; who asks for more is not waited for.
    pub asked_wait_max: Duration,
}

impl Default for RetryPolicy {
    /// Two retries after one and two seconds, at most a minute; two minutes where asked for.
    fn default() -> Self {
        Self {
            retries_max: 2,
            wait_min: Duration::from_secs(1),
            wait_max: Duration::from_mins(1),
            asked_wait_max: Duration::from_mins(2),
        }
    }
}

/// What was tried so far for one request.
#[derive(Debug, Clone)]
pub struct Retry {
    policy: RetryPolicy,
    retries: u32,
    repaired: bool,
}

/// What to do about a request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// Send the same body again after this wait.
    SendAgain {
        /// How long to wait.
        wait: Duration,
    },
    /// Repair the body, check it, and send it if it is another one now; then tell
    /// [`handle_repaired`](Retry::handle_repaired) what came of it.
    Repair,
    /// Make the conversation shorter; nothing else helps.
    Shorten,
    /// Do not send this again.
    GiveUp {
        /// Why not.
        why: GaveUp,
    },
}

/// Why a request is not sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GaveUp {
    /// The provider will never take it.
    Fatal,
    /// Its content was filtered, and would be again.
    Filtered,
    /// It was sent again as often as the policy allows.
    Retries,
    /// The provider asks to wait longer than the policy allows.
    Wait,
    /// It was repaired already, or a repair changes nothing.
    Repaired,
    /// Something of the answer was already given to somebody, who would get it twice.
    Emitted,
}

impl Retry {
    /// Nothing was tried yet.
    pub fn new(policy: RetryPolicy) -> Self {
        Self { policy, retries: 0, repaired: false }
    }

    /// What to do about an attempt that failed. `emitted` says whether something of its answer
    /// was already given to somebody.
    ///
    /// ```
    /// use std::time::Duration;
    /// use seamline_guard::{Advice, Failure, GaveUp, Retry, RetryPolicy, classify};
    ///
    /// let mut retry = Retry::new(RetryPolicy::default());
    /// let overloaded = classify(&Failure { status: Some(529), ..Failure::default() });
    /// let wait = |seconds| Advice::SendAgain { wait: Duration::from_secs(seconds) };
    /// assert_eq!(retry.handle_failure(&overloaded, false), wait(1));
    /// assert_eq!(retry.handle_failure(&overloaded, false), wait(2));
    /// assert_eq!(retry.handle_failure(&overloaded, false), Advice::GiveUp { why: GaveUp::Retries });
    /// ```
    pub fn handle_failure(&mut self, verdict: &Verdict, emitted: bool) -> Advice {
        let give_up = |why| Advice::GiveUp { why };
        match verdict.class {
            Class::Fatal => give_up(GaveUp::Fatal),
            Class::Filter => give_up(GaveUp::Filtered),
            Class::Overflow => Advice::Shorten,
            _ if emitted => give_up(GaveUp::Emitted),
            Class::Corruption if self.repaired => give_up(GaveUp::Repaired),
            Class::Corruption => {
                self.repaired = true;
                Advice::Repair
            }
            Class::Transient => self.send_again(verdict.retry_after),
        }
    }

    /// What to do after a repair: the body is sent once more if it is another one, and never
    /// the one that failed.
    ///
    /// ```
    /// use seamline_guard::{Advice, GaveUp, Retry, RetryPolicy};
    ///
    /// let retry = Retry::new(RetryPolicy::default());
    /// assert!(matches!(retry.handle_repaired(b"old", b"new"), Advice::SendAgain { .. }));
    /// assert_eq!(retry.handle_repaired(b"same", b"same"), Advice::GiveUp { why: GaveUp::Repaired });
    /// ```
    pub fn handle_repaired(&self, before: &[u8], after: &[u8]) -> Advice {
        if before == after {
            Advice::GiveUp { why: GaveUp::Repaired }
        } else {
            Advice::SendAgain { wait: Duration::ZERO }
        }
    }

    fn send_again(&mut self, asked: Option<Duration>) -> Advice {
        if self.retries >= self.policy.retries_max {
            return Advice::GiveUp { why: GaveUp::Retries };
        }
        let own = self.policy.wait_min.saturating_mul(1_u32.checked_shl(self.retries).unwrap_or(u32::MAX));
        self.retries += 1;
        match asked {
            Some(asked) if asked > self.policy.asked_wait_max => Advice::GiveUp { why: GaveUp::Wait },
            Some(asked) => Advice::SendAgain { wait: asked },
            None => Advice::SendAgain { wait: own.min(self.policy.wait_max) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Failure, classify};

    fn verdict(status: u16, headers: &[(&str, &str)], text: &str) -> Verdict {
        classify(&Failure { status: Some(status), headers, text, ..Failure::default() })
    }

    const BROKEN: &str =
        "messages.6: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.";

    #[test]
    fn waits_grow_up_to_the_longest() {
        let mut retry = Retry::new(RetryPolicy { retries_max: 40, ..RetryPolicy::default() });
        let failed = verdict(500, &[], "");
        let waits: Vec<_> = (0..40).map(|_| retry.handle_failure(&failed, false)).collect();
        let seconds = |advice: &Advice| match advice {
            Advice::SendAgain { wait } => wait.as_secs(),
            other => panic!("{other:?}"),
        };
        let waits: Vec<_> = waits.iter().map(seconds).collect();
        assert_eq!(waits[..8], [1, 2, 4, 8, 16, 32, 60, 60]);
        assert!(waits[8..].iter().all(|wait| *wait == 60));
    }

    #[test]
    fn the_provider_says_how_long_to_wait() {
        let mut retry = Retry::new(RetryPolicy::default());
        let soon = verdict(429, &[("retry-after", "7")], "");
        assert_eq!(retry.handle_failure(&soon, false), Advice::SendAgain { wait: Duration::from_secs(7) });
        let late = verdict(429, &[("retry-after", "3600")], "");
        assert_eq!(retry.handle_failure(&late, false), Advice::GiveUp { why: GaveUp::Wait });
    }

    #[test]
    fn damage_is_repaired_once() {
        let mut retry = Retry::new(RetryPolicy::default());
        let broken = verdict(400, &[], BROKEN);
        assert_eq!(retry.handle_failure(&broken, false), Advice::Repair);
        assert_eq!(retry.handle_failure(&broken, false), Advice::GiveUp { why: GaveUp::Repaired });
    }

    #[test]
    fn what_was_given_to_somebody_is_not_given_again() {
        for failed in [verdict(400, &[], BROKEN), verdict(529, &[], "")] {
            let mut retry = Retry::new(RetryPolicy::default());
            assert_eq!(retry.handle_failure(&failed, true), Advice::GiveUp { why: GaveUp::Emitted });
        }
    }

    #[test]
    fn what_will_never_be_taken_is_not_sent_again() {
        let mut retry = Retry::new(RetryPolicy::default());
        let why = |advice| match advice {
            Advice::GiveUp { why } => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why(retry.handle_failure(&verdict(401, &[], ""), false)), GaveUp::Fatal);
        assert_eq!(why(retry.handle_failure(&verdict(400, &[], "never heard of it"), false)), GaveUp::Fatal);
        let filtered = verdict(400, &[], "Output blocked by content filtering policy");
        assert_eq!(why(retry.handle_failure(&filtered, false)), GaveUp::Filtered);
        assert_eq!(retry.handle_failure(&verdict(413, &[], ""), false), Advice::Shorten);
    }
}
