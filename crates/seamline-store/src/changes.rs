//! Reversible changes of the view.

use std::sync::Arc;

use crate::view::{Entry, Patch, View, splice};

/// Entries that replaced others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Swap {
    /// The index of the inserted entries.
    at: usize,
    /// The number of inserted entries.
    put: usize,
    /// The entries that were replaced.
    gone: Vec<Entry>,
}

impl Swap {
    /// The patch that reverts it.
    pub(crate) fn back(&self) -> Patch {
        Patch { at: self.at, removed: self.put, inserted: self.gone.clone() }
    }
}

/// The changes that one record made to the view.
#[derive(Debug, Clone, PartialEq)]
struct Change {
    seq: u64,
    swaps: Arc<[Swap]>,
}

/// The changes of the view, in order. Reverting them gives the earlier view. They hold only the replaced entries, so
/// that many changes cost little memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Changes(Vec<Change>);

impl Changes {
    /// Applies patches to a view and returns how to revert them.
    pub(crate) fn make(&mut self, view: &mut View, seq: u64, patches: Vec<Patch>) -> Arc<[Swap]> {
        let places: Vec<(usize, usize)> = patches.iter().map(|patch| (patch.at, patch.inserted.len())).collect();
        let gone = view.splice(patches);
        // Indices are those before the change; earlier patches shift the later ones.
        let (mut put_in, mut taken_out) = (0, 0);
        let swaps = places.into_iter().zip(gone).map(|((at, put), gone)| {
            let at = at + put_in - taken_out;
            put_in += put;
            taken_out += gone.len();
            Swap { at, put, gone }
        });
        let swaps: Arc<[Swap]> = swaps.collect();
        self.0.push(Change { seq, swaps: swaps.clone() });
        swaps
    }

    /// The view as it was before a record.
    pub(crate) fn view_before(&self, view: &View, seq: u64) -> Vec<Entry> {
        let mut entries = view.entries().to_vec();
        for change in self.0.iter().rev().take_while(|change| change.seq > seq) {
            splice(&mut entries, change.swaps.iter().map(Swap::back).collect());
        }
        entries.retain(|entry| entry.seq < seq);
        entries
    }

    /// Whether a later record changed the view.
    pub(crate) fn any_since(&self, seq: u64) -> bool {
        self.0.last().is_some_and(|change| change.seq > seq)
    }

    /// Forgets the changes of later records.
    pub(crate) fn forget_since(&mut self, seq: u64) {
        let stay = self.0.partition_point(|change| change.seq <= seq);
        self.0.truncate(stay);
    }

    /// Forgets the changes up to a record.
    pub(crate) fn forget_up_to(&mut self, seq: u64) {
        let gone = self.0.partition_point(|change| change.seq <= seq);
        self.0.drain(..gone);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
