//! Why a record does not fit the state of a session.

use std::fmt;

use crate::id::{CallId, CheckpointId, CycleId, RepairId};

/// The reason why a record does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// No checkpoint has this id.
    #[error("Checkpoint not found: {0}")]
    NoCheckpoint(CheckpointId),
    /// Another checkpoint has this id.
    #[error("checkpoint {0} exists already")]
    CheckpointExists(CheckpointId),
    /// The session was rolled back to it, or to an earlier one.
    #[error("cannot use checkpoint {0}: it is {1}")]
    CheckpointSpent(CheckpointId, SpentCheckpoint),
    /// The messages changed since the checkpoint was made.
    #[error("Checkpoint integrity mismatch — messages were modified")]
    Mismatch(CheckpointId),
    /// No open cycle has this id.
    #[error("there is no open cycle {0}")]
    NoCycle(CycleId),
    /// Another cycle has this id.
    #[error("cycle {0} exists already")]
    CycleExists(CycleId),
    /// The cycle has no such call, or the call is past that step.
    #[error("call {call} of cycle {cycle} cannot be {step}")]
    Call {
        /// The id of the cycle.
        cycle: CycleId,
        /// The id of the call.
        call: CallId,
        /// The step that the caller asked for.
        step: CallStep,
    },
    /// No repair has this id, or later changes follow it.
    #[error("cannot undo repair {0}: it is not the last change")]
    NoRepair(RepairId),
    /// An index is outside the view.
    #[error("message {place} does not exist: the view has {messages} messages")]
    Place {
        /// The index that was given.
        place: u64,
        /// The number of messages in the view.
        messages: usize,
    },
    /// Cycles are open, so the view must not change.
    #[error("tools are running: the conversation cannot be changed now")]
    InFlight,
}

/// A step that a call refuses, with the reason where there are several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallStep {
    /// To start: the cycle has no such call, or the call has a result.
    Start,
    /// To start once more: the outcome of the first run is not known.
    StartAgain,
    /// To take in a result: the cycle has no such call, or the call has one.
    Finish,
    /// To take in the result of a call that has an effect and was never started.
    FinishUnstarted,
    /// To commit the cycle of a call without a result.
    CommitUnfinished,
}

impl fmt::Display for CallStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "started",
            Self::StartAgain => "started again: its outcome is not known",
            Self::Finish => "finished",
            Self::FinishUnstarted => "finished before it was started",
            Self::CommitUnfinished => "committed without a result",
        })
    }
}

/// Why a checkpoint is not a rollback target any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpentCheckpoint {
    /// The session was rolled back to it.
    RolledBack,
    /// The session was rolled back to an earlier one.
    Expired,
}

impl fmt::Display for SpentCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RolledBack => "rolled back",
            Self::Expired => "expired",
        })
    }
}
