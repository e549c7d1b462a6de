//! Repairs that can be undone.

use std::sync::Arc;

use crate::changes::Swap;
use crate::id::RepairId;

/// A repair that can be undone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Applied {
    pub(crate) id: RepairId,
    pub(crate) seq: u64,
    pub(crate) swaps: Arc<[Swap]>,
}

/// The repairs that can be undone now, and those that a rollback can make undoable again.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Repairs {
    /// The undoable repairs; the last one is undone first.
    stack: Vec<Applied>,
    /// The undone repairs, each with the record that undid it, in order.
    gone: Vec<(u64, Applied)>,
}

impl Repairs {
    /// The id of the repair that is undone first.
    pub(crate) fn last(&self) -> Option<&RepairId> {
        self.stack.last().map(|repair| &repair.id)
    }

    pub(crate) fn push(&mut self, repair: Applied) {
        self.stack.push(repair);
    }

    /// Removes the last one, because of a record.
    pub(crate) fn pop(&mut self, seq: u64) -> Option<Applied> {
        let last = self.stack.pop()?;
        self.gone.push((seq, last.clone()));
        Some(last)
    }

    /// Restores the repairs that were undoable at a record.
    pub(crate) fn go_back(&mut self, made: u64) {
        let stay = self.stack.partition_point(|repair| repair.seq <= made);
        self.stack.truncate(stay);
        let since = self.gone.partition_point(|(seq, _)| *seq <= made);
        let back = self.gone.drain(since..).rev().map(|(_, repair)| repair);
        self.stack.extend(back.filter(|repair| repair.seq <= made));
    }

    /// Forgets repairs that were undone up to a record.
    pub(crate) fn forget_up_to(&mut self, seq: u64) {
        let since = self.gone.partition_point(|(gone, _)| *gone <= seq);
        self.gone.drain(..since);
    }
}
