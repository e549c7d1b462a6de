//! Places to come back to.

use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::raw::Raw;

/// What a checkpoint was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A cycle of calls and results.
    ToolCycle,
    /// Messages are about to be replaced by a summary.
    Compaction,
    /// The provider is about to be asked.
    ApiCall,
    /// Somebody wanted it.
    Manual,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::ToolCycle, Self::Compaction, Self::ApiCall, Self::Manual];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolCycle => "tool_cycle",
            Self::Compaction => "compaction",
            Self::ApiCall => "api_call",
            Self::Manual => "manual",
        }
    }
}

/// What became of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointState {
    /// What it was made for goes on. Only such a one is come back to without being named.
    Open,
    /// What it was made for went well.
    Committed,
    /// It was come back to.
    RolledBack,
    /// An earlier one was come back to.
    Expired,
}

/// A place to come back to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checkpoint {
    /// Its id.
    pub id: String,
    /// When it was made, in milliseconds since 1970.
    pub at: u64,
    /// How many messages there were to be seen.
    pub messages: usize,
    /// The hash of them.
    pub hash: Hash,
    /// What it was made for.
    pub operation: Operation,
    /// What became of it.
    pub state: CheckpointState,
    /// The record that made it.
    pub seq: u64,
    /// The messages, where they were kept with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Vec<Raw>>,
}
