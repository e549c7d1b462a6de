//! The facts of one kind of record, for code that looks for no other kind.

use super::Record;
use crate::id::{CycleId, InboxId};
use crate::incident::Incident;

impl Record {
    /// The ids of the inbox messages that it takes in.
    pub(crate) fn taken(&self) -> impl Iterator<Item = &InboxId> {
        let ids = if let Self::Inbox(taken) = self { taken.ids.as_slice() } else { &[] };
        ids.iter()
    }

    /// Takes the incident out of its record; nothing for another record.
    pub fn into_incident(self) -> Option<Incident> {
        match self {
            Self::Incident(incident) => Some(incident),
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
            | Self::Inbox(_)
            | Self::Reset(_)
            | Self::Switch(_)
            | Self::Policy(_)
            | Self::Renamed(_)
            | Self::Unknown(_)
            | Self::Unreadable(_) => None,
        }
    }

    /// The cycle that it ends, by a commit or a rollback of that cycle.
    pub fn ended_cycle(&self) -> Option<&CycleId> {
        match self {
            Self::Cycle(record) => Some(&record.cycle),
            Self::CycleEnd(record) => Some(&record.cycle),
            Self::Begin(_)
            | Self::Message(_)
            | Self::Turn(_)
            | Self::Intent(_)
            | Self::Staged(_)
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
            | Self::Switch(_)
            | Self::Policy(_)
            | Self::Renamed(_)
            | Self::Unknown(_)
            | Self::Unreadable(_) => None,
        }
    }

    /// The cycle that it commits.
    pub fn committed_cycle(&self) -> Option<&CycleId> {
        match self {
            Self::Cycle(record) => Some(&record.cycle),
            Self::Begin(_)
            | Self::Message(_)
            | Self::Turn(_)
            | Self::Intent(_)
            | Self::Staged(_)
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
            | Self::Switch(_)
            | Self::Policy(_)
            | Self::Renamed(_)
            | Self::Unknown(_)
            | Self::Unreadable(_) => None,
        }
    }
}
