//! What becomes of a request after its check.

use bytes::Bytes;

use crate::breaker::OnTrip;
use crate::config::{Config, Mode, OnFailure};
use crate::incident::IncidentOutcome;
use crate::inspect::{Inspected, Looked, NotInspected};
use crate::rescue::Refusal;

/// What becomes of a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The body that is sent in place of the original.
    pub(crate) body: Option<Bytes>,
    /// The error that the client gets; the request is not sent.
    pub(crate) refusal: Option<Refusal>,
    /// The outcomes that are recorded, with a cause where the outcome does not say enough.
    pub(crate) outcomes: Vec<(IncidentOutcome, Option<String>)>,
}

/// Decides on a request.
pub(crate) fn decide(config: &Config, looked: &Looked) -> Decision {
    let mut decision = match &looked.inspected {
        Ok(inspected) => of_mode(config.mode, inspected),
        Err(failure) => of_failure(config.on_failure, *failure),
    };
    let Some(reviewed) = &looked.reviewed else { return decision };
    if decision.refusal.is_some() || reviewed.escalated.is_empty() && reviewed.stop.is_none() {
        return decision;
    }
    let cause = match (config.breaker, &reviewed.stop, config.mode) {
        (Some(OnTrip::Block), Some(stop), Mode::Repair | Mode::Block) => {
            decision.refusal = Some(Refusal::Looping(stop.clone()));
            "the request was not sent"
        }
        (_, _, Mode::Report) => "the request was sent as it came",
        (_, _, Mode::Repair | Mode::Block) => {
            decision.body = reviewed.body.clone().map(Bytes::from).or(decision.body);
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
            body: None,
        },
        Mode::Repair => {
            let is_repaired = inspected.remaining == 0 && inspected.repaired.is_some();
            let done = if is_repaired { IncidentOutcome::Repaired } else { IncidentOutcome::Unrepaired };
            Decision { body: inspected.repaired.clone(), outcomes: outcome(done), refusal: None }
        }
    }
}

fn of_failure(on_failure: OnFailure, failure: NotInspected) -> Decision {
    let outcomes = vec![(IncidentOutcome::Failed, Some(failure.to_string()))];
    // The provider says best what is wrong with a body that is no request at all.
    let is_refused = on_failure == OnFailure::Reject && failure == NotInspected::Failed;
    Decision { refusal: is_refused.then_some(Refusal::Unchecked(failure)), outcomes, body: None }
}
