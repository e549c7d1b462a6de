//! The decision about a request after its check: forward, repair or block.

use bytes::Bytes;

use crate::breaker::OnTrip;
use crate::config::{Config, Mode, OnFailure};
use crate::incident::IncidentOutcome;
use crate::inspect::{Inspected, Looked, NotInspected};
use crate::rescue::Refusal;

/// The decision about one request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The body that is sent in place of the original.
    pub(crate) body: Option<Bytes>,
    /// The error that the client gets; the request is not sent.
    pub(crate) refusal: Option<Refusal>,
    /// The number of results that tell the model to stop its wrong calls.
    pub(crate) escalations: u64,
    /// The outcomes that are recorded, with a cause where the outcome does not say enough.
    pub(crate) outcomes: Vec<(IncidentOutcome, Option<String>)>,
}

impl Decision {
    /// Keeps the original body, because the request could not be signed.
    pub(crate) fn keep_original(&mut self, why: &str) {
        let unsigned = (IncidentOutcome::Unsigned, Some(why.to_owned()));
        if self.body.take().is_some() {
            // Nothing of what was decided is done.
            self.outcomes.clear();
        }
        self.escalations = 0;
        self.outcomes.push(unsigned);
    }
}

/// Decides on a request.
pub(crate) fn decide(config: &Config, looked: &Looked) -> Decision {
    let mode = looked.mode(config);
    let mut decision = match &looked.inspected {
        Ok(inspected) => of_mode(mode, inspected),
        Err(failure) => of_failure(config.on_failure, *failure),
    };
    let Some(reviewed) = &looked.reviewed else { return decision };
    if decision.refusal.is_some() || reviewed.escalated.is_empty() && reviewed.stop.is_none() {
        return decision;
    }
    let cause = match (config.breaker, &reviewed.stop, mode) {
        (Some(OnTrip::Block), Some(stop), Mode::Repair | Mode::Block) => {
            decision.refusal = Some(Refusal::Looping(stop.clone()));
            "the request was not sent"
        }
        (_, _, Mode::Report) => "the request was sent unchanged",
        (_, _, Mode::Repair | Mode::Block) => {
            if let Some(body) = &reviewed.body {
                decision.body = Some(Bytes::from(body.clone()));
                decision.escalations = reviewed.escalated.len() as u64;
            }
            "the results of the calls tell the model to stop"
        }
    };
    decision.outcomes.push((IncidentOutcome::Looping, Some(cause.to_owned())));
    decision
}

fn of_mode(mode: Mode, inspected: &Inspected) -> Decision {
    let is_clean = inspected.errors.is_empty() && inspected.repaired.is_none();
    if is_clean {
        return Decision::default();
    }
    let outcome = |outcome| vec![(outcome, None)];
    match mode {
        Mode::Report => Decision { outcomes: outcome(IncidentOutcome::Reported), ..Decision::default() },
        Mode::Block if inspected.errors.is_empty() => Decision::default(),
        Mode::Block => Decision {
            refusal: Some(Refusal::Blocked(inspected.texts.join("; "))),
            outcomes: outcome(IncidentOutcome::Blocked),
            ..Decision::default()
        },
        Mode::Repair => {
            let is_repaired = inspected.remaining == 0 && inspected.repaired.is_some();
            let done = if is_repaired { IncidentOutcome::Repaired } else { IncidentOutcome::Unrepaired };
            Decision { body: inspected.repaired.clone(), outcomes: outcome(done), ..Decision::default() }
        }
    }
}

fn of_failure(on_failure: OnFailure, failure: NotInspected) -> Decision {
    let outcomes = vec![(IncidentOutcome::Failed, Some(failure.to_string()))];
    // The provider says best what is wrong with a body that cannot be read.
    let is_refused = on_failure == OnFailure::Reject && failure == NotInspected::Failed;
    Decision { refusal: is_refused.then_some(Refusal::Unchecked(failure)), outcomes, ..Decision::default() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use hyper::HeaderMap;
    use seamline::guards::{Reviewed, StopTurn, TurnLoop};

    use super::*;
    use crate::identity::ConversationKey;

    fn looked(inspected: Result<Inspected, NotInspected>) -> Looked {
        let conversation = ConversationKey::of("x", None, &HeaderMap::new(), b"");
        Looked { conversation, terms: conversation, known: None, options: Arc::default(), inspected, reviewed: None }
    }

    fn damaged(remaining: usize) -> Inspected {
        Inspected {
            repaired: Some(Bytes::from_static(b"new")),
            errors: BTreeMap::from([("PAIR001".to_owned(), 1)]),
            texts: vec!["PAIR001 /messages/1: no result".to_owned()],
            remaining,
            ..Inspected::default()
        }
    }

    fn decided(mode: Mode, inspected: Inspected) -> (Option<Bytes>, bool, Vec<IncidentOutcome>) {
        let decision = decide(&Config { mode: Some(mode), ..Config::default() }, &looked(Ok(inspected)));
        let outcomes = decision.outcomes.into_iter().map(|(outcome, _)| outcome).collect();
        (decision.body, decision.refusal.is_some(), outcomes)
    }

    #[test]
    fn the_mode_decides_about_a_broken_history() {
        let new = Some(Bytes::from_static(b"new"));
        assert_eq!(decided(Mode::Repair, damaged(0)), (new.clone(), false, vec![IncidentOutcome::Repaired]));
        assert_eq!(decided(Mode::Repair, damaged(1)), (new, false, vec![IncidentOutcome::Unrepaired]));
        let unrepairable = Inspected { repaired: None, ..damaged(1) };
        assert_eq!(decided(Mode::Repair, unrepairable), (None, false, vec![IncidentOutcome::Unrepaired]));
        assert_eq!(decided(Mode::Report, damaged(0)), (None, false, vec![IncidentOutcome::Reported]));
        assert_eq!(decided(Mode::Block, damaged(0)), (None, true, vec![IncidentOutcome::Blocked]));
        for mode in [Mode::Repair, Mode::Report, Mode::Block] {
            assert_eq!(decided(mode, Inspected::default()), (None, false, vec![]));
        }
    }

    #[test]
    fn the_policy_decides_where_no_mode_is_set() {
        let decided = |on_invalid: &str| {
            let policy = seamline::Policy::from_toml(&format!("[repair]\non_invalid = '{on_invalid}'")).unwrap();
            let decision = decide(&Config { policy, ..Config::default() }, &looked(Ok(damaged(0))));
            decision.outcomes[0].0
        };
        assert_eq!(decided("repair"), IncidentOutcome::Repaired);
        assert_eq!(decided("offer"), IncidentOutcome::Blocked);
        assert_eq!(decided("block"), IncidentOutcome::Blocked);
        assert_eq!(decided("warn"), IncidentOutcome::Reported);
        let policy = "[provider.groq]\non_invalid = 'block'";
        let config = Config { policy: seamline::Policy::from_toml(policy).unwrap(), ..Config::default() };
        assert_eq!((config.mode_for(Some("groq")), config.mode_for(None)), (Mode::Block, Mode::Repair));
    }

    #[test]
    fn a_body_that_cannot_be_signed_leaves_one_outcome() {
        let mut decision = decide(&Config::default(), &looked(Ok(damaged(0))));
        decision.keep_original("no key");
        let outcomes = vec![(IncidentOutcome::Unsigned, Some("no key".to_owned()))];
        assert_eq!(decision, Decision { outcomes, ..Decision::default() });
    }

    #[test]
    fn a_failed_check_passes_unless_the_configuration_refuses_it() {
        let decide = |on_failure, failure| {
            let config = Config { on_failure, ..Config::default() };
            let decision = decide(&config, &looked(Err(failure)));
            assert_eq!((decision.body, decision.outcomes[0].0), (None, IncidentOutcome::Failed));
            decision.refusal.is_some()
        };
        assert!(!decide(OnFailure::Pass, NotInspected::Failed));
        assert!(decide(OnFailure::Reject, NotInspected::Failed));
        assert!(!decide(OnFailure::Reject, NotInspected::Unreadable), "the provider says what is wrong");
    }

    #[test]
    fn a_loop_is_told_blocked_or_reported() {
        let stop = StopTurn { repeats: TurnLoop::Failing, rounds: 3, tools: vec!["read".to_owned()] };
        let reviewed = Reviewed { body: Some(b"told".to_vec()), escalated: vec!["read".to_owned()], stop: Some(stop) };
        let decided = |breaker, mode| {
            let looked = Looked { reviewed: Some(reviewed.clone()), ..looked(Ok(damaged(0))) };
            decide(&Config { breaker: Some(breaker), mode: Some(mode), ..Config::default() }, &looked)
        };
        assert_eq!(decided(OnTrip::Escalate, Mode::Repair).body, Some(Bytes::from_static(b"told")));
        assert!(matches!(decided(OnTrip::Block, Mode::Repair).refusal, Some(Refusal::Looping(_))));
        let reported = decided(OnTrip::Block, Mode::Report);
        assert_eq!((reported.body, reported.refusal), (None, None));
        assert_eq!(reported.outcomes.len(), 2);
    }
}
