//! Why a record does not fit the state of a session.

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
    CheckpointSpent(CheckpointId, &'static str),
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
    #[error("call {call} of cycle {cycle} cannot be {what}")]
    Call {
        /// The id of the cycle.
        cycle: CycleId,
        /// The id of the call.
        call: CallId,
        /// The step that was asked for.
        what: &'static str,
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
