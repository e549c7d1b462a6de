//! Whether a request that failed is sent again, and when.
//!
//! What only failed for the moment is sent again as it is, a few times, ever later. A
//! conversation that is broken is repaired and sent once more, and only if that made another
//! body of it: the same body fails the same way, and which bodies failed is known by their
//! hashes. Everything else is for a person to look at.

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
    /// What is done about a conversation that the provider finds broken.
    pub on_corruption: OnCorruption,
}

seamline_model::words! {
    /// What happens after a provider rejects a conversation as broken. The same body is never sent again.
    OnCorruption {
        /// The body is repaired and sent once more.
        Repair = "repair" | "repair_and_resend",
        /// The run is given up and begun anew, once: for hosts whose stages can run again.
        Restart = "restart" | "transient",
        /// The conversation is rolled back to its last open checkpoint and sent once more.
        Rollback = "rollback",
        /// Nothing is sent again.
        Stop = "stop",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro that declares the words has no place for the attribute")]
impl Default for OnCorruption {
    fn default() -> Self {
        Self::Repair
    }
}

impl Default for RetryPolicy {
    /// Two retries after one and two seconds, at most a minute; two minutes where asked for.
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

/// How many bodies are remembered that a provider found broken; after the second one nothing is
/// sent any more, whoever goes on asking.
const BROKEN_MAX: usize = 16;

/// What was tried so far for one request.
#[derive(Debug, Clone)]
pub struct Retry {
    policy: RetryPolicy,
    retries: u32,
    repaired: bool,
    /// Whether another body was asked for and not sent yet.
    awaits_other: bool,
    /// The bodies that a provider found broken.
    broken: Vec<blake3::Hash>,
}

/// What somebody already has of an answer that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emitted {
    /// Nothing of it was given to anybody.
    Nothing,
    /// Some of it was given to somebody, who would get it twice.
    Something,
}

/// What to do about a request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// Send the same body again after this wait.
    SendAgain {
        /// How long to wait.
        wait: Duration,
    },
    /// Repair the body, and ask [`handle_repaired`](Retry::handle_repaired) whether what came of
    /// it is sent.
    Repair,
    /// Give the conversation up and begin anew, with another one: ask
    /// [`handle_repaired`](Retry::handle_repaired) whether it is sent.
    Restart,
    /// Roll the conversation back to its last open checkpoint, and ask
    /// [`handle_repaired`](Retry::handle_repaired) whether what is left of it is sent.
    Rollback,
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
    /// It was repaired or begun anew already, or that changes nothing.
    Repaired,
    /// The conversation is broken, and the policy wants nothing done about it.
    Broken,
    /// The provider says that it is not to be sent again.
    Told,
    /// Something of the answer was already given to somebody, who would get it twice.
    Emitted,
}

impl Advice {
    /// The word for the failure that whoever runs whole stages decides by, as
    /// [`StopTurn::failure_class`](crate::StopTurn::failure_class) has it: `transient_infra` where
    /// the stage may be run again, `deterministic` where that would end the same way.
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
    /// Nothing was tried yet.
    pub fn new(policy: RetryPolicy) -> Self {
        Self { policy, retries: 0, repaired: false, awaits_other: false, broken: Vec::new() }
    }

    /// What to do about an attempt with this body that failed, and of whose answer so much was
    /// already given to somebody.
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
            // Whatever the error is called, the provider knows best whether it passes.
            (Class::Fatal, Some(true)) if is_unseen => self.send_again(verdict.retry_after, body),
            (Class::Fatal, _) => give_up(GaveUp::Fatal),
            _ if !is_unseen => give_up(GaveUp::Emitted),
            (Class::Overflow, _) => Advice::Shorten,
            (Class::Corruption, _) => self.mend(body),
            (Class::Transient, Some(false)) => give_up(GaveUp::Told),
            (Class::Transient, _) => self.send_again(verdict.retry_after, body),
        }
    }

    /// What to do with a body that was repaired, or with that of a run that begins anew: it is sent
    /// once, if [`handle_failure`](Self::handle_failure) asked for it and it is not one that failed.
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

    /// The body as it is; unless it is known to be broken, whatever else was wrong this time.
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
        assert_eq!(advice(&failure), send_again(1), "whose clock?");
        let received_at = Some(Duration::from_secs(784_111_777));
        assert_eq!(advice(&Failure { received_at, ..failure }), send_again(30));
        let received_at = Some(Duration::from_secs(784_222_777));
        assert_eq!(advice(&Failure { received_at, ..failure }), send_again(0), "the date has passed");
    }

    #[test]
    fn the_provider_s_word_on_sending_again_counts() {
        let advice = |status, word, text| {
            let verdict = verdict(status, &[("X-Should-Retry", word)], text);
            Retry::new(RetryPolicy::default()).handle_failure(&verdict, BODY, Emitted::Nothing)
        };
        // Known by its text, or by its number, or not at all.
        let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
        assert_eq!(advice(529, "false", overloaded), give_up(GaveUp::Told));
        assert_eq!(advice(529, "true", overloaded), send_again(1));
        assert_eq!(advice(500, "false", ""), give_up(GaveUp::Fatal));
        assert_eq!(advice(400, "true", "never heard of it"), send_again(1));
        assert_eq!(advice(404, "true", r#"{"error":{"type":"not_found_error"}}"#), send_again(1));
        // What is broken stays broken, whoever says what.
        assert_eq!(advice(400, "true", BROKEN), Advice::Repair);
        assert_eq!(advice(400, "true", "Output blocked by content filtering policy"), give_up(GaveUp::Filtered));
    }

    #[test]
    fn k32_damage_is_repaired_once_and_the_body_that_failed_is_never_sent_again() {
        let mut retry = Retry::new(RetryPolicy::default());
        let broken = verdict(400, &[], BROKEN);
        assert_eq!(retry.handle_failure(&broken, b"old", Emitted::Nothing), Advice::Repair);
        assert_eq!(retry.handle_repaired(b"old"), give_up(GaveUp::Repaired));
        assert_eq!(retry.handle_repaired(b"new"), send_again(0));
        assert_eq!(retry.handle_failure(&broken, b"new", Emitted::Nothing), give_up(GaveUp::Repaired));
    }

    #[test]
    fn another_body_is_sent_once_and_only_where_it_was_asked_for() {
        let broken = verdict(400, &[], BROKEN);
        let mut retry = Retry::new(RetryPolicy::default());
        assert_eq!(retry.handle_repaired(b"new"), give_up(GaveUp::Repaired), "nobody asked");
        assert_eq!(retry.handle_failure(&broken, b"old", Emitted::Nothing), Advice::Repair);
        assert_eq!(retry.handle_repaired(b"new"), send_again(0));
        assert_eq!(retry.handle_repaired(b"newer"), give_up(GaveUp::Repaired));
        let stop = RetryPolicy { on_corruption: OnCorruption::Stop, ..RetryPolicy::default() };
        let mut retry = Retry::new(stop);
        assert_eq!(retry.handle_failure(&broken, b"old", Emitted::Nothing), give_up(GaveUp::Broken));
        assert_eq!(retry.handle_repaired(b"new"), give_up(GaveUp::Broken));
    }

    #[test]
    fn a_body_that_is_broken_does_not_pass_because_the_next_attempt_failed_for_the_moment() {
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
    fn nothing_is_sent_once_it_was_given_up() {
        let broken = verdict(400, &[], BROKEN);
        let mut retry = Retry::new(RetryPolicy::default());
        assert_eq!(retry.handle_failure(&broken, b"old", Emitted::Nothing), Advice::Repair);
        assert_eq!(retry.handle_failure(&broken, b"old", Emitted::Nothing), give_up(GaveUp::Repaired));
        assert_eq!(retry.handle_repaired(b"new"), give_up(GaveUp::Repaired));
    }

    /// A stage of a pipeline against a provider that refuses a broken history: what it sent, and
    /// what came of it.
    #[test]
    fn x14_a_broken_conversation_is_rolled_back_once_where_the_policy_says_so() {
        let mut retry = Retry::new(RetryPolicy { on_corruption: OnCorruption::Rollback, ..RetryPolicy::default() });
        let broken = verdict(400, &[], BROKEN);
        assert_eq!(retry.handle_failure(&broken, b"old", Emitted::Nothing), Advice::Rollback);
        assert_eq!(Advice::Rollback.failure_class(), "deterministic");
        assert_eq!(retry.handle_repaired(b"shorter"), send_again(0));
        assert_eq!(retry.handle_failure(&broken, b"shorter", Emitted::Nothing), give_up(GaveUp::Repaired));
    }

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
    fn s3_20_a_stage_whose_conversation_broke_begins_anew_once() {
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
    fn s3_11_failures_have_the_classes_that_stages_decide_by() {
        let again = [Advice::Restart, send_again(1), give_up(GaveUp::Retries), give_up(GaveUp::Emitted)];
        assert!(again.iter().all(|advice| advice.failure_class() == "transient_infra"));
        let never = [GaveUp::Fatal, GaveUp::Filtered, GaveUp::Repaired, GaveUp::Broken, GaveUp::Told].map(give_up);
        assert!(never.iter().all(|advice| advice.failure_class() == "deterministic"));
    }

    #[test]
    fn a_repaired_body_may_fail_for_the_moment_like_any_other() {
        let mut retry = Retry::new(RetryPolicy::default());
        assert_eq!(retry.handle_failure(&verdict(400, &[], BROKEN), b"old", Emitted::Nothing), Advice::Repair);
        assert_eq!(retry.handle_failure(&verdict(503, &[], ""), b"new", Emitted::Nothing), send_again(1));
        assert_eq!(retry.handle_failure(&verdict(503, &[], ""), b"new", Emitted::Nothing), send_again(2));
        assert_eq!(retry.handle_failure(&verdict(503, &[], ""), b"new", Emitted::Nothing), give_up(GaveUp::Retries));
    }

    #[test]
    fn k32_what_was_given_to_somebody_is_not_given_again() {
        for failed in [verdict(400, &[], BROKEN), verdict(529, &[], "")] {
            let mut retry = Retry::new(RetryPolicy::default());
            assert_eq!(retry.handle_failure(&failed, BODY, Emitted::Something), give_up(GaveUp::Emitted));
        }
    }

    #[test]
    fn what_will_never_be_taken_is_not_sent_again() {
        let mut retry = Retry::new(RetryPolicy::default());
        let mut advice = |status, text| retry.handle_failure(&verdict(status, &[], text), BODY, Emitted::Nothing);
        assert_eq!(advice(401, ""), give_up(GaveUp::Fatal));
        assert_eq!(advice(400, "never heard of it"), give_up(GaveUp::Fatal));
        assert_eq!(advice(400, "Output blocked by content filtering policy"), give_up(GaveUp::Filtered));
        assert_eq!(advice(413, ""), Advice::Shorten);
    }
}
