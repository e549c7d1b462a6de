//! Checkpoints: named places to roll back to.

use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::id::CheckpointId;
use crate::raw::Raw;

/// The operation that a checkpoint was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A cycle of tool calls and their results.
    ToolCycle,
    /// A compaction: a summary replaces messages.
    Compaction,
    /// A request to the provider.
    ApiCall,
    /// The caller asked for it.
    Manual,
}

impl Operation {
    /// All operations, in this order.
    pub const ALL: [Self; 4] = [Self::ToolCycle, Self::Compaction, Self::ApiCall, Self::Manual];

    /// The name of the operation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolCycle => "tool_cycle",
            Self::Compaction => "compaction",
            Self::ApiCall => "api_call",
            Self::Manual => "manual",
        }
    }
}

/// The state of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointState {
    /// The operation is in progress. Only open checkpoints are automatic rollback targets.
    Open,
    /// The operation is over.
    Committed,
    /// The session was rolled back to it.
    RolledBack,
    /// The session was rolled back to an earlier one.
    Expired,
}

/// A named place to roll back to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checkpoint {
    /// The id of the checkpoint.
    pub id: CheckpointId,
    /// The time when it was made, in milliseconds since 1970.
    pub at: u64,
    /// The number of messages in the view at that time.
    pub messages: usize,
    /// The hash of these messages.
    pub hash: Hash,
    /// The operation that it was made for.
    pub operation: Operation,
    /// The state of the checkpoint.
    pub state: CheckpointState,
    /// The number of the record that made it.
    pub seq: u64,
    /// The messages themselves, where the policy keeps them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Vec<Raw>>,
}
