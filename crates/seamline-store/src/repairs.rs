//! Repairs that can be taken back.

use std::sync::Arc;

use crate::changes::Swap;
use crate::id::RepairId;

/// A repair that can be taken back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Applied {
    pub(crate) id: RepairId,
    pub(crate) seq: u64,
    pub(crate) swaps: Arc<[Swap]>,
}

/// The repairs that can be taken back, and those that could before a record that can be gone back behind.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Repairs {
    /// The last one first to go.
    stack: Vec<Applied>,
    /// Those that are no more, with the record that made them so, from the first to the last.
    gone: Vec<(u64, Applied)>,
}

impl Repairs {
    /// The id of the one that is the first to go.
    pub(crate) fn last(&self) -> Option<&RepairId> {
        self.stack.last().map(|repair| &repair.id)
    }

    pub(crate) fn push(&mut self, repair: Applied) {
        self.stack.push(repair);
    }

    /// Takes off the last one, because of a record.
    pub(crate) fn pop(&mut self, seq: u64) -> Option<Applied> {
        let last = self.stack.pop()?;
        self.gone.push((seq, last.clone()));
        Some(last)
    }

    /// Makes them those that there were at a record.
    pub(crate) fn go_back(&mut self, made: u64) {
        let stay = self.stack.partition_point(|repair| repair.seq <= made);
        self.stack.truncate(stay);
        let since = self.gone.partition_point(|(seq, _)| *seq <= made);
        let back = self.gone.drain(since..).rev().map(|(_, repair)| repair);
        self.stack.extend(back.filter(|repair| repair.seq <= made));
    }

    /// Forgets those that were no more at a record.
    pub(crate) fn forget_up_to(&mut self, seq: u64) {
        let since = self.gone.partition_point(|(gone, _)| *gone <= seq);
        self.gone.drain(..since);
    }
}
