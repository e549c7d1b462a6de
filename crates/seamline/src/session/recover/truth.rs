//! The known facts about a call whose process is gone.

use seamline_store::{CallId, CallState, CycleId, Effect, OpenCall, OpenCycle, State};

/// The outcome of a call as far as the records prove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// The call did not run.
    NeverStarted,
    /// The call only reads, so it has no intent: it may have run, and that harmed nothing.
    Harmless,
    /// The call was started, and its outcome is not known.
    OutcomeUnknown,
    /// The call ran, and its result is durable.
    Finished,
}

/// A call of an open cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// The id of the cycle.
    pub cycle: CycleId,
    /// The id of the call.
    pub call: CallId,
    /// The name of the tool.
    pub tool: String,
    /// The effect of running it.
    pub effect: Effect,
    /// The outcome that the records prove.
    pub truth: Truth,
}

/// The calls of open cycles.
pub(in crate::session) fn unresolved(state: &State) -> Vec<Unresolved> {
    let of_cycle = |cycle: &OpenCycle| {
        let id = cycle.id.clone();
        let calls = cycle.calls.clone().into_iter();
        calls.map(move |call| Unresolved {
            cycle: id.clone(),
            truth: truth_of(&call),
            call: call.id,
            tool: call.tool,
            effect: call.effect,
        })
    };
    state.cycles.iter().flat_map(of_cycle).collect()
}

/// Derives the outcome of a call from its records.
pub(in crate::session) fn truth_of(call: &OpenCall) -> Truth {
    match &call.state {
        // A call that only reads may have an intent; it is still harmless.
        CallState::Pending | CallState::Started { .. } if !call.effect.needs_intent() => Truth::Harmless,
        CallState::Started { .. } => Truth::OutcomeUnknown,
        CallState::Finished { outcome, .. } if outcome.has_run() => Truth::Finished,
        CallState::Pending | CallState::Finished { .. } => Truth::NeverStarted,
    }
}

/// The number of calls of a cycle that have an unknown outcome.
pub(in crate::session) fn unknown_count(cycle: &OpenCycle) -> usize {
    cycle.calls.iter().filter(|call| truth_of(call) == Truth::OutcomeUnknown).count()
}
