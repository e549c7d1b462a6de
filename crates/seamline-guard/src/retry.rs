//! Decides whether and when to send a failed request again.
//!
//! After a temporary failure the same request is sent again a few times, with growing waits. A broken conversation is
//! repaired and sent once more, if the repair changed the body: the hashes of failed bodies are remembered, because the
//! same body fails again. All other failures need a person.

use std::time::Duration;

use crate::{Class, Verdict};

/// How often and when to send a request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The most retries after temporary failures.
    pub retries_max: u32,
    /// The first wait; each later one is twice as long.
    pub wait_min: Duration,
    /// The longest wait if the provider names none.
    pub wait_max: Duration,
    /// The longest wait that a provider may ask for; a longer one ends the retries.
    pub asked_wait_max: Duration,
    /// Treatment of a conversation that the provider rejects as broken.
    pub on_corruption: OnCorruption,
}

seamline_model::words! {
    /// Treatment of a conversation that a provider rejects as broken. It is never sent again unchanged.
    OnCorruption default Repair {
        /// Repair it and send it once more.
        Repair = "repair" | "repair_and_resend",
        /// Drop it and start over once, for pipelines whose stages can run again.
        Restart = "restart" | "transient",
        /// Roll it back to its last open checkpoint and send it once more.
        Rollback = "rollback",
        /// Leave it to a person.
        Stop = "stop",
    }
}

impl Default for RetryPolicy {
    /// Two retries after one and two seconds. Own waits have at most a minute, requested ones two minutes.
    fn default() -> Self {
        Self {
            retries_max: 2,
            wait_min: Duration::from_secs(1),
            wait_max: Duration::from_mins(1),
            asked_wait_max: Duration::from_mins(2),
            on_corruption: OnCorruption::Repair,
        }
    }
}

/// The most broken bodies that are remembered. After the second one nothing is sent any more.
const BROKEN_MAX: usize = 16;

/// The retries of one request so far.
#[derive(Debug, Clone)]
pub struct Retry {
    policy: RetryPolicy,
    retries: u32,
    repaired: bool,
    /// Whether a repaired body was requested and not sent yet.
    awaits_other: bool,
    /// The hashes of bodies that a provider rejected as broken.
    broken: Vec<blake3::Hash>,
}

/// How much of a failed response was already passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emitted {
    /// No part of it was passed on.
    Nothing,
    /// A part of it was passed on; a retry would send it twice.
    Something,
}

/// The advice on a failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// Send the body after this wait.
    SendAgain {
        /// How long to wait.
        wait: Duration,
    },
    /// Repair the body, and ask [`handle_repaired`](Retry::handle_repaired) whether to send the result.
    Repair,
    /// Start over with a new conversation, and ask [`handle_repaired`](Retry::handle_repaired) whether to send it.
    Restart,
    /// Roll the conversation back to its last open checkpoint, and ask [`handle_repaired`](Retry::handle_repaired)
    /// whether to send the rest.
    Rollback,
    /// Shorten the conversation; nothing else helps.
    Shorten,
    /// Do not send the request again.
    GiveUp {
        /// The reason not to.
        why: GaveUp,
    },
}

/// Why a request is not sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GaveUp {
    /// The provider will never accept it.
    Fatal,
    /// Its content was filtered and would be filtered again.
    Filtered,
    /// The policy allows no more retries.
    Retries,
    /// The provider asks to wait longer than the policy allows.
    Wait,
    /// It was repaired or restarted already, or the repair changed nothing.
    Repaired,
    /// The conversation is broken, and the policy says to stop.
    Broken,
    /// The provider forbids a retry.
    Told,
    /// A part of the response was already passed on; a retry would send it twice.
    Emitted,
}

impl Advice {
    /// Returns the failure class for schedulers of whole stages, like
    /// [`StopTurn::failure_class`](crate::StopTurn::failure_class): `transient_infra` if the stage may run again,
    /// `deterministic` if it would fail in the same way.
    pub fn failure_class(&self) -> &'static str {
        match self {
            Self::SendAgain { .. }
            | Self::Restart
            | Self::GiveUp { why: GaveUp::Retries | GaveUp::Wait | GaveUp::Emitted } => "transient_infra",
            Self::Repair | Self::Rollback | Self::Shorten | Self::GiveUp { .. } => "deterministic",
        }
    }
}

impl Retry {
    /// Starts without retries.
    pub fn new(policy: RetryPolicy) -> Self {
        Self { policy, retries: 0, repaired: false, awaits_other: false, broken: Vec::new() }
    }

    /// Returns the advice on a failed attempt with this body. `emitted` says how much of its response was passed on.
    ///
    /// ```
    /// use std::time::Duration;
    /// use seamline_guard::{Advice, Emitted, Failure, GaveUp, Retry, RetryPolicy, classify};
    ///
    /// let mut retry = Retry::new(RetryPolicy::default());
    /// let overloaded = classify(&Failure { status: Some(529), ..Failure::default() });
    /// let wait = |seconds| Advice::SendAgain { wait: Duration::from_secs(seconds) };
    /// assert_eq!(retry.handle_failure(&overloaded, b"{}", Emitted::Nothing), wait(1));
    /// assert_eq!(retry.handle_failure(&overloaded, b"{}", Emitted::Nothing), wait(2));
    /// assert_eq!(retry.handle_failure(&overloaded, b"{}", Emitted::Nothing), Advice::GiveUp { why: GaveUp::Retries });
    /// ```
    pub fn handle_failure(&mut self, verdict: &Verdict, body: &[u8], emitted: Emitted) -> Advice {
        let give_up = |why| Advice::GiveUp { why };
        let is_unseen = emitted == Emitted::Nothing;
        match (verdict.class, verdict.should_retry) {
            (Class::Filter, _) => give_up(GaveUp::Filtered),
            // The provider's header about retries overrides the class.
            (Class::Fatal, Some(true)) if is_unseen => self.send_again(verdict.retry_after, body),
            (Class::Fatal, _) => give_up(GaveUp::Fatal),
            _ if !is_unseen => give_up(GaveUp::Emitted),
            (Class::Overflow, _) => Advice::Shorten,
            (Class::Corruption, _) => self.mend(body),
            (Class::Transient, Some(false)) => give_up(GaveUp::Told),
            (Class::Transient, _) => self.send_again(verdict.retry_after, body),
        }
    }

    /// Returns the advice on a repaired body or the body of a restarted run. It is sent once, if
    /// [`handle_failure`](Self::handle_failure) asked for it and it did not fail before.
    ///
    /// ```
    /// use seamline_guard::{Advice, Emitted, Failure, GaveUp, Retry, RetryPolicy, classify};
    ///
    /// let text = "messages.6: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.";
    /// let broken = classify(&Failure { status: Some(400), text, ..Failure::default() });
    /// let mut retry = Retry::new(RetryPolicy::default());
    /// assert_eq!(retry.handle_failure(&broken, b"old", Emitted::Nothing), Advice::Repair);
    /// assert!(matches!(retry.handle_repaired(b"new"), Advice::SendAgain { .. }));
    /// assert_eq!(retry.handle_repaired(b"old"), Advice::GiveUp { why: GaveUp::Repaired });
    /// ```
    pub fn handle_repaired(&mut self, body: &[u8]) -> Advice {
        if self.policy.on_corruption == OnCorruption::Stop {
            return Advice::GiveUp { why: GaveUp::Broken };
        }
        if self.is_broken(body) || !std::mem::take(&mut self.awaits_other) {
            return Advice::GiveUp { why: GaveUp::Repaired };
        }
        Advice::SendAgain { wait: Duration::ZERO }
    }

    fn mend(&mut self, body: &[u8]) -> Advice {
        if self.broken.len() < BROKEN_MAX {
            self.broken.push(blake3::hash(body));
        }
        let advice = match self.policy.on_corruption {
            OnCorruption::Repair => Advice::Repair,
            OnCorruption::Restart => Advice::Restart,
            OnCorruption::Rollback => Advice::Rollback,
            OnCorruption::Stop => return Advice::GiveUp { why: GaveUp::Broken },
        };
        if std::mem::replace(&mut self.repaired, true) {
            self.awaits_other = false;
            return Advice::GiveUp { why: GaveUp::Repaired };
        }
        self.awaits_other = true;
        advice
    }

    fn is_broken(&self, body: &[u8]) -> bool {
        self.broken.contains(&blake3::hash(body))
    }

    /// Advises to send the body again, unless it is known to be broken.
    fn send_again(&mut self, asked: Option<Duration>, body: &[u8]) -> Advice {
        if self.is_broken(body) {
            let is_wanted = self.policy.on_corruption != OnCorruption::Stop;
            return Advice::GiveUp { why: if is_wanted { GaveUp::Repaired } else { GaveUp::Broken } };
        }
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

    fn send_again(seconds: u64) -> Advice {
        Advice::SendAgain { wait: Duration::from_secs(seconds) }
    }

    fn give_up(why: GaveUp) -> Advice {
        Advice::GiveUp { why }
    }

    const BROKEN: &str =
        "messages.6: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.";
    const BODY: &[u8] = b"{}";

    #[test]
    fn s3_17_two_retries_after_one_and_two_seconds() {
        let mut retry = Retry::new(RetryPolicy::default());
        let failed = verdict(503, &[], "");
        let advice = [(); 3].map(|()| retry.handle_failure(&failed, BODY, Emitted::Nothing));
        assert_eq!(advice, [send_again(1), send_again(2), give_up(GaveUp::Retries)]);
    }

    #[test]
    fn waits_grow_up_to_the_longest() {
        let mut retry = Retry::new(RetryPolicy { retries_max: 40, ..RetryPolicy::default() });
        let failed = verdict(500, &[], "");
        let waits: Vec<_> = (0..40).map(|_| retry.handle_failure(&failed, BODY, Emitted::Nothing)).collect();
        assert_eq!(waits[..8], [1, 2, 4, 8, 16, 32, 60, 60].map(send_again));
        assert!(waits[8..].iter().all(|wait| *wait == send_again(60)));
    }

    #[test]
    fn the_provider_says_how_long_to_wait() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        for (headers, seconds) in [
            (&[("retry-after", "7")][..], 7.0),
            (&[("Retry-After-Ms", "1500"), ("retry-after", "9")], 1.5),
            (&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"), ("date", date)], 30.0),
        ] {
            let mut retry = Retry::new(RetryPolicy::default());
            let wait = Duration::from_secs_f64(seconds);
            let advice = retry.handle_failure(&verdict(429, headers, ""), BODY, Emitted::Nothing);
            assert_eq!(advice, Advice::SendAgain { wait }, "{headers:?}");
        }
        let late = verdict(429, &[("retry-after", "3600")], "");
        let mut retry = Retry::new(RetryPolicy::default());
        assert_eq!(retry.handle_failure(&late, BODY, Emitted::Nothing), give_up(GaveUp::Wait));
    }

    #[test]
    fn a_date_needs_a_clock() {
        let headers = [("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")];
        let failure = Failure { status: Some(503), headers: &headers, ..Failure::default() };
        let advice = |failure: &Failure<'_>| {
            Retry::new(RetryPolicy::default()).handle_failure(&classify(failure), BODY, Emitted::Nothing)
        };
        assert_eq!(advice(&failure), send_again(1), "without a clock the date says nothing");
        let received_at = Some(Duration::from_secs(784_111_777));
        assert_eq!(advice(&Failure { received_at, ..failure }), send_again(30));
        let received_at = Some(Duration::from_secs(784_222_777));
        assert_eq!(advice(&Failure { received_at, ..failure }), send_again(0), "the date has passed");
    }

    #[test]
    fn the_provider_s_header_about_retries_counts() {
        let advice = |status, word, text| {
            let verdict = verdict(status, &[("X-Should-Retry", word)], text);
            Retry::new(RetryPolicy::default()).handle_failure(&verdict, BODY, Emitted::Nothing)
        };
        // The error is known by its text, by its status, or not at all.
        let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
        assert_eq!(advice(529, "false", overloaded), give_up(GaveUp::Told));
        assert_eq!(advice(529, "true", overloaded), send_again(1));
        assert_eq!(advice(500, "false", ""), give_up(GaveUp::Fatal));
        assert_eq!(advice(400, "true", "never heard of it"), send_again(1));
        assert_eq!(advice(404, "true", r#"{"error":{"type":"not_found_error"}}"#), send_again(1));
        // A broken conversation stays broken, whatever the header says.
        assert_eq!(advice(400, "true", BROKEN), Advice::Repair);
        assert_eq!(advice(400, "true", "Output blocked by content filtering policy"), give_up(GaveUp::Filtered));
    }

    #[test]
    fn k32_damage_is_repaired_once_and_a_failed_body_is_never_sent_again() {
        let mut retry = Retry::new(RetryPolicy::default());
        let broken = verdict(400, &[], BROKEN);
        assert_eq!(retry.handle_failure(&broken, b"old", Emitted::Nothing), Advice::Repair);
        assert_eq!(retry.handle_repaired(b"old"), give_up(GaveUp::Repaired));
        assert_eq!(retry.handle_repaired(b"new"), send_again(0));
        assert_eq!(retry.handle_failure(&broken, b"new", Emitted::Nothing), give_up(GaveUp::Repaired));
    }

    #[test]
    fn a_repaired_body_is_sent_once_and_only_on_request() {
        let broken = verdict(400, &[], BROKEN);
        let mut retry = Retry::new(RetryPolicy::default());
        assert_eq!(retry.handle_repaired(b"new"), give_up(GaveUp::Repaired), "not requested");
        assert_eq!(retry.handle_failure(&broken, b"old", Emitted::Nothing), Advice::Repair);
        assert_eq!(retry.handle_repaired(b"new"), send_again(0));
        assert_eq!(retry.handle_repaired(b"newer"), give_up(GaveUp::Repaired));
        let stop = RetryPolicy { on_corruption: OnCorruption::Stop, ..RetryPolicy::default() };
        let mut retry = Retry::new(stop);
        assert_eq!(retry.handle_failure(&broken, b"old", Emitted::Nothing), give_up(GaveUp::Broken));
        assert_eq!(retry.handle_repaired(b"new"), give_up(GaveUp::Broken));
    }

    #[test]
    fn a_broken_body_is_not_sent_again_after_a_temporary_failure() {
        let (broken, busy) = (verdict(400, &[], BROKEN), verdict(503, &[], ""));
        for (on_corruption, why) in [
            (OnCorruption::Repair, GaveUp::Repaired),
            (OnCorruption::Restart, GaveUp::Repaired),
            (OnCorruption::Stop, GaveUp::Broken),
        ] {
            let mut retry = Retry::new(RetryPolicy { on_corruption, ..RetryPolicy::default() });
            retry.handle_failure(&broken, b"old", Emitted::Nothing);
            assert_eq!(retry.handle_failure(&busy, b"old", Emitted::Nothing), give_up(why), "{on_corruption:?}");
            assert_eq!(retry.handle_failure(&busy, b"new", Emitted::Nothing), send_again(1), "{on_corruption:?}");
        }
    }

    #[test]
    fn nothing_is_sent_after_giving_up() {
        let broken = verdict(400, &[], BROKEN);
        let mut retry = Retry::new(RetryPolicy::default());
        assert_eq!(retry.handle_failure(&broken, b"old", Emitted::Nothing), Advice::Repair);
        assert_eq!(retry.handle_failure(&broken, b"old", Emitted::Nothing), give_up(GaveUp::Repaired));
        assert_eq!(retry.handle_repaired(b"new"), give_up(GaveUp::Repaired));
    }

    #[test]
    fn x14_a_broken_conversation_is_rolled_back_once_where_the_policy_says_so() {
        let mut retry = Retry::new(RetryPolicy { on_corruption: OnCorruption::Rollback, ..RetryPolicy::default() });
        let broken = verdict(400, &[], BROKEN);
        assert_eq!(retry.handle_failure(&broken, b"old", Emitted::Nothing), Advice::Rollback);
        assert_eq!(Advice::Rollback.failure_class(), "deterministic");
        assert_eq!(retry.handle_repaired(b"shorter"), send_again(0));
        assert_eq!(retry.handle_failure(&broken, b"shorter", Emitted::Nothing), give_up(GaveUp::Repaired));
    }

    /// Runs a stage of a pipeline with a provider that rejects a broken conversation. Returns the bodies that were sent and
    /// the outcome.
    fn stage(policy: RetryPolicy, glitches: &[bool]) -> (Vec<String>, Result<(), Advice>) {
        let mut retry = Retry::new(policy);
        let mut sent = Vec::new();
        for (run, glitch) in glitches.iter().enumerate() {
            // A glitch of a stream leaves a call without a result in the history of its run.
            let body = format!("run {run}, {}", if *glitch { "a call without a result" } else { "whole" });
            sent.push(body.clone());
            if !glitch {
                return (sent, Ok(()));
            }
            let advice = retry.handle_failure(&verdict(400, &[], BROKEN), body.as_bytes(), Emitted::Nothing);
            let same_again = retry.handle_repaired(body.as_bytes());
            assert!(matches!(same_again, Advice::GiveUp { why: GaveUp::Repaired | GaveUp::Broken }), "{same_again:?}");
            if advice != Advice::Restart {
                return (sent, Err(advice));
            }
            assert_eq!(advice.failure_class(), "transient_infra");
        }
        (sent, Ok(()))
    }

    #[test]
    fn s3_20_a_stage_with_a_broken_conversation_restarts_once() {
        let restart = RetryPolicy { on_corruption: OnCorruption::Restart, ..RetryPolicy::default() };
        let sent = |runs: &[&str]| runs.iter().map(|run| (*run).to_owned()).collect::<Vec<_>>();
        let (broken, whole) = ("run 0, a call without a result", "run 1, whole");
        assert_eq!(stage(restart, &[true, false]), (sent(&[broken, whole]), Ok(())), "S3-21: one glitch fails nothing");
        let twice = sent(&[broken, "run 1, a call without a result"]);
        assert_eq!(stage(restart, &[true, true, false]), (twice, Err(give_up(GaveUp::Repaired))));
        let stop = RetryPolicy { on_corruption: OnCorruption::Stop, ..RetryPolicy::default() };
        assert_eq!(stage(stop, &[true, false]).1, Err(give_up(GaveUp::Broken)));
    }

    #[test]
    fn s3_11_failures_have_classes_for_schedulers() {
        let again = [Advice::Restart, send_again(1), give_up(GaveUp::Retries), give_up(GaveUp::Emitted)];
        assert!(again.iter().all(|advice| advice.failure_class() == "transient_infra"));
        let never = [GaveUp::Fatal, GaveUp::Filtered, GaveUp::Repaired, GaveUp::Broken, GaveUp::Told].map(give_up);
        assert!(never.iter().all(|advice| advice.failure_class() == "deterministic"));
    }

    #[test]
    fn a_repaired_body_may_fail_temporarily_like_any_other() {
        let mut retry = Retry::new(RetryPolicy::default());
        assert_eq!(retry.handle_failure(&verdict(400, &[], BROKEN), b"old", Emitted::Nothing), Advice::Repair);
        assert_eq!(retry.handle_failure(&verdict(503, &[], ""), b"new", Emitted::Nothing), send_again(1));
        assert_eq!(retry.handle_failure(&verdict(503, &[], ""), b"new", Emitted::Nothing), send_again(2));
        assert_eq!(retry.handle_failure(&verdict(503, &[], ""), b"new", Emitted::Nothing), give_up(GaveUp::Retries));
    }

    #[test]
    fn k32_a_response_that_was_passed_on_is_not_sent_again() {
        for failed in [verdict(400, &[], BROKEN), verdict(529, &[], "")] {
            let mut retry = Retry::new(RetryPolicy::default());
            assert_eq!(retry.handle_failure(&failed, BODY, Emitted::Something), give_up(GaveUp::Emitted));
        }
    }

    #[test]
    fn permanent_failures_are_not_retried() {
        let mut retry = Retry::new(RetryPolicy::default());
        let mut advice = |status, text| retry.handle_failure(&verdict(status, &[], text), BODY, Emitted::Nothing);
        assert_eq!(advice(401, ""), give_up(GaveUp::Fatal));
        assert_eq!(advice(400, "never heard of it"), give_up(GaveUp::Fatal));
        assert_eq!(advice(400, "Output blocked by content filtering policy"), give_up(GaveUp::Filtered));
        assert_eq!(advice(413, ""), Advice::Shorten);
    }

    #[test]
    fn a_conversation_that_a_template_rejects_is_never_sent_again_unchanged() {
        for text in [
            "Error: Jinja Exception: System message must be at the beginning.",
            "Error: Jinja Exception: This template likes Tuesdays",
        ] {
            let mut retry = Retry::new(RetryPolicy::default());
            let advice = retry.handle_failure(&verdict(500, &[], text), b"body", Emitted::Nothing);
            assert!(matches!(advice, Advice::Repair | Advice::GiveUp { .. }), "{text}: {advice:?}");
        }
    }
}
