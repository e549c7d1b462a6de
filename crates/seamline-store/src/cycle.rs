//! Tool cycles: their calls, the progress of each call, and the states of a cycle.

use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::id::{CallId, CheckpointId, CycleId, DialectName};
use crate::raw::Raw;
use crate::record::{CallOutcome, ResultText, Staged};

/// The effect of running a call. It decides what recovery may do when the outcome is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It changes nothing: recovery may run it again.
    ReadOnly,
    /// Two runs under one idempotency key have one effect: recovery may run it again under the same key.
    Idempotent,
    /// The tool can say whether the call happened.
    Probe,
    /// The tool can undo the call.
    Compensatable,
    /// None of these: recovery never runs it again.
    #[default]
    Unsafe,
}

impl Effect {
    /// All effects, in this order.
    pub const ALL: [Self; 5] = [Self::ReadOnly, Self::Idempotent, Self::Probe, Self::Compensatable, Self::Unsafe];

    /// The name of the effect.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Idempotent => "idempotent",
            Self::Probe => "probe",
            Self::Compensatable => "compensatable",
            Self::Unsafe => "unsafe",
        }
    }

    /// Whether an intent must be durable before the call runs.
    pub fn needs_intent(self) -> bool {
        self != Self::ReadOnly
    }

    /// Whether recovery may run a call with an unknown outcome again.
    pub fn may_run_again(self) -> bool {
        matches!(self, Self::ReadOnly | Self::Idempotent)
    }
}

/// A cycle that is neither committed nor rolled back.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenCycle {
    /// The id of the cycle.
    pub id: CycleId,
    /// The number of the record that began it.
    pub seq: u64,
    /// The checkpoint that was made before it.
    pub checkpoint: Option<CheckpointId>,
    /// The messages of the response that makes the calls. They are not in the view yet.
    pub turn: Vec<Raw>,
    /// The calls of the cycle, in the order of the turn.
    pub calls: Vec<OpenCall>,
    /// The dialect of the turn; none means the dialect of the first record.
    pub dialect: Option<DialectName>,
}

impl OpenCycle {
    /// The state of the cycle, as far as its records say.
    pub fn state(&self) -> CycleState {
        let is_pending = |call: &OpenCall| matches!(call.state, CallState::Pending);
        let is_finished = |call: &OpenCall| matches!(call.state, CallState::Finished { .. });
        if self.calls.iter().all(is_finished) {
            CycleState::Recording
        } else if self.calls.iter().all(is_pending) {
            CycleState::Pending
        } else {
            CycleState::Executing
        }
    }

    /// The calls of these ids, about to be undone.
    pub(crate) fn pending_compensations(&self, undoing: &[CallId]) -> Vec<PendingCompensation> {
        let mut calls: Vec<&OpenCall> = self.calls.iter().collect();
        let pending = undoing.iter().filter_map(|id| {
            // Where calls share an id, each of them is named.
            let call = calls.remove(calls.iter().position(|call| call.id == *id)?);
            Some(PendingCompensation { cycle: self.id.clone(), call: call.id.clone(), tool: call.tool.clone() })
        });
        pending.collect()
    }
}

/// A call of a cycle that was rolled back, about to be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCompensation {
    /// The id of the cycle.
    pub cycle: CycleId,
    /// The id of the call.
    pub call: CallId,
    /// The name of the tool.
    pub tool: String,
}

/// The states of a cycle: `pending → executing → recording → committed | rolled_back`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CycleState {
    /// The turn is durable, and no call has started.
    Pending,
    /// Some call has started, and some call has no result.
    Executing,
    /// Every call has a result, real or synthetic, and the results are about to be committed.
    Recording,
    /// The turn and all results are in the view.
    Committed,
    /// The turn never enters the view.
    RolledBack,
}

/// A step of a cycle from one state to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CycleStep {
    /// A call starts.
    Start,
    /// A call has its result, and others have none.
    Stage,
    /// The last call has its result.
    Record,
    /// The turn and its results enter the view.
    Commit,
    /// The turn is discarded.
    RollBack,
}

impl CycleState {
    /// The state after a step, or nothing where the step is illegal.
    pub fn after(self, step: CycleStep) -> Option<Self> {
        use CycleState::{Committed, Executing, Pending, Recording, RolledBack};
        match (self, step) {
            (Pending | Executing, CycleStep::Start | CycleStep::Stage) => Some(Executing),
            (Pending | Executing | Recording, CycleStep::Record) => Some(Recording),
            (Recording, CycleStep::Commit) => Some(Committed),
            (Pending | Executing | Recording, CycleStep::RollBack) => Some(RolledBack),
            (Recording, CycleStep::Start | CycleStep::Stage)
            | (Pending | Executing, CycleStep::Commit)
            | (Committed | RolledBack, _) => None,
        }
    }

    /// The name of the state.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Executing => "executing",
            Self::Recording => "recording",
            Self::Committed => "committed",
            Self::RolledBack => "rolled_back",
        }
    }
}

/// A call of an open cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenCall {
    /// The id of the call.
    pub id: CallId,
    /// The name of the tool.
    pub tool: String,
    /// The effect of running it.
    pub effect: Effect,
    /// The hash of its name and arguments.
    pub arguments: Hash,
    /// The progress of the call.
    pub state: CallState,
}

/// The progress of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallState {
    /// No intent is durable.
    Pending,
    /// The intent is durable, and no result is.
    Started {
        /// The time of the intent, in milliseconds since 1970.
        at: u64,
        /// The idempotency key of the call.
        key: String,
    },
    /// The result is durable.
    Finished {
        /// The origin of the text.
        outcome: CallOutcome,
        /// The text that the model reads.
        text: ResultText,
        /// Whether the text reports a failure.
        failed: bool,
    },
}

impl From<&Staged> for CallState {
    fn from(staged: &Staged) -> Self {
        Self::Finished { outcome: staged.outcome, text: staged.text.clone(), failed: staged.failed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [CycleState; 5] = [
        CycleState::Pending,
        CycleState::Executing,
        CycleState::Recording,
        CycleState::Committed,
        CycleState::RolledBack,
    ];
    const STEPS: [CycleStep; 5] =
        [CycleStep::Start, CycleStep::Stage, CycleStep::Record, CycleStep::Commit, CycleStep::RollBack];

    #[test]
    fn a_finished_cycle_accepts_no_step() {
        for step in STEPS {
            assert_eq!(CycleState::Committed.after(step), None, "{step:?}");
            assert_eq!(CycleState::RolledBack.after(step), None, "{step:?}");
        }
    }

    #[test]
    fn only_a_cycle_with_all_results_is_committed() {
        let committed = STATES.into_iter().filter(|state| state.after(CycleStep::Commit).is_some());
        assert_eq!(committed.collect::<Vec<_>>(), [CycleState::Recording]);
    }

    #[test]
    fn no_step_leads_backwards() {
        for state in STATES {
            for next in STEPS.into_iter().filter_map(|step| state.after(step)) {
                assert!(next as u8 >= state as u8, "{state:?} to {next:?}");
            }
        }
    }

    #[test]
    fn the_state_of_a_cycle_follows_from_its_calls() {
        let (finished, started) = (
            || CallState::Finished { outcome: CallOutcome::Returned, text: "".into(), failed: false },
            || CallState::Started { at: 1, key: "k".to_owned() },
        );
        let cases = [
            (vec![CallState::Pending, CallState::Pending], CycleState::Pending),
            (vec![started(), CallState::Pending], CycleState::Executing),
            (vec![finished(), CallState::Pending], CycleState::Executing),
            (vec![finished(), finished()], CycleState::Recording),
        ];
        for (states, expected) in cases {
            let calls = states.into_iter().map(|state| OpenCall {
                id: "toolu_1".into(),
                tool: "pay".to_owned(),
                effect: Effect::Unsafe,
                arguments: Hash::ZERO,
                state,
            });
            let (id, calls) = ("cycle_1".into(), calls.collect());
            let cycle = OpenCycle { id, seq: 1, checkpoint: None, turn: Vec::new(), calls, dialect: None };
            assert_eq!(cycle.state(), expected);
        }
    }
}
