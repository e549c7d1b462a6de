//! Changes of messages that stood, and the way back behind them.

use std::sync::Arc;

use crate::view::{Entry, Patch, View, splice};

/// Entries that were put where others stood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Swap {
    /// Where they are since.
    at: usize,
    /// How many were put there.
    put: usize,
    /// What stood there.
    gone: Vec<Entry>,
}

impl Swap {
    /// What takes it back.
    pub(crate) fn back(&self) -> Patch {
        Patch { at: self.at, removed: self.put, inserted: self.gone.clone() }
    }
}

/// What a record did to messages that stood.
#[derive(Debug, Clone, PartialEq)]
struct Change {
    seq: u64,
    swaps: Arc<[Swap]>,
}

/// The changes of messages that stood, from the first to the last: what is to be seen without them is what was to be
/// seen before. They hold what was taken out and nothing of what stayed, so that many of them cost little.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Changes(Vec<Change>);

impl Changes {
    /// Changes a view, and says how.
    pub(crate) fn make(&mut self, view: &mut View, seq: u64, patches: Vec<Patch>) -> Arc<[Swap]> {
        let places: Vec<(usize, usize)> = patches.iter().map(|patch| (patch.at, patch.inserted.len())).collect();
        let gone = view.splice(patches);
        // Places are those before the change; what earlier patches put in and took out moves the later ones.
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

    /// What was to be seen before a record.
    pub(crate) fn view_before(&self, view: &View, seq: u64) -> Vec<Entry> {
        let mut entries = view.entries().to_vec();
        for change in self.0.iter().rev().take_while(|change| change.seq > seq) {
            splice(&mut entries, change.swaps.iter().map(Swap::back).collect());
        }
        entries.retain(|entry| entry.seq < seq);
        entries
    }

    /// Whether any came after a record.
    pub(crate) fn any_since(&self, seq: u64) -> bool {
        self.0.last().is_some_and(|change| change.seq > seq)
    }

    /// Forgets those after a record.
    pub(crate) fn forget_since(&mut self, seq: u64) {
        let stay = self.0.partition_point(|change| change.seq <= seq);
        self.0.truncate(stay);
    }

    /// Forgets those up to a record.
    pub(crate) fn forget_up_to(&mut self, seq: u64) {
        let gone = self.0.partition_point(|change| change.seq <= seq);
        self.0.drain(..gone);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
