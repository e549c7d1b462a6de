//! The dialect of a session, and the record that changes it.

use serde::{Deserialize, Serialize};

use super::Record;
use crate::id::DialectName;

/// A change of the dialect that new messages have, and of the provider that requests are for. Earlier messages stay as
/// they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switch {
    /// The dialect of new messages.
    pub dialect: DialectName,
    /// The provider, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

impl Record {
    /// The dialect that new messages of the session have from here on, if the record sets it.
    pub(crate) fn dialect(&self) -> Option<DialectName> {
        match self {
            Self::Begin(begin) => Some(begin.dialect.clone()),
            Self::Switch(switch) => Some(switch.dialect.clone()),
            Self::Message(_)
            | Self::Turn(_)
            | Self::Intent(_)
            | Self::Staged(_)
            | Self::Cycle(_)
            | Self::CycleEnd(_)
            | Self::Checkpoint(_)
            | Self::CheckpointCommit(_)
            | Self::CheckpointsDropped(_)
            | Self::Rollback(_)
            | Self::Repair(_)
            | Self::Undo(_)
            | Self::Accepted(_)
            | Self::Compensated(_)
            | Self::Compact(_)
            | Self::Incident(_)
            | Self::Inbox(_)
            | Self::Reset(_)
            | Self::Policy(_)
            | Self::Renamed(_)
            | Self::Unknown(_)
            | Self::Unreadable(_) => None,
        }
    }

    /// The switch, if it is one.
    pub fn as_switch(&self) -> Option<&Switch> {
        match self {
            Self::Switch(switch) => Some(switch),
            Self::Begin(_)
            | Self::Message(_)
            | Self::Turn(_)
            | Self::Intent(_)
            | Self::Staged(_)
            | Self::Cycle(_)
            | Self::CycleEnd(_)
            | Self::Checkpoint(_)
            | Self::CheckpointCommit(_)
            | Self::CheckpointsDropped(_)
            | Self::Rollback(_)
            | Self::Repair(_)
            | Self::Undo(_)
            | Self::Accepted(_)
            | Self::Compensated(_)
            | Self::Compact(_)
            | Self::Incident(_)
            | Self::Inbox(_)
            | Self::Reset(_)
            | Self::Policy(_)
            | Self::Renamed(_)
            | Self::Unknown(_)
            | Self::Unreadable(_) => None,
        }
    }
}
