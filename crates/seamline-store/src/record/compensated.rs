//! The outcomes of undoing calls.

use serde::{Deserialize, Serialize};

use crate::id::{CallId, CycleId};

/// The outcome of undoing a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compensated {
    /// The id of the cycle that was rolled back.
    pub cycle: CycleId,
    /// The id of the call.
    pub call: CallId,
    /// The outcome of the compensation.
    pub outcome: CompensationOutcome,
}

/// The outcome of a compensation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompensationOutcome {
    /// The tool undid the call.
    Undone,
    /// The tool could not undo the call.
    Failed,
    /// The run stopped before an outcome was recorded: the call may still be in effect.
    Unknown,
}
