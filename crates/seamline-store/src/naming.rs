//! Finds the messages that a record is about.
//!
//! A record that changes messages holds their indices and the ids of the records that brought them. While every record
//! is readable, both agree. After damage the indices point at other messages, and only the ids count.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::raw::Raw;
use crate::record::{Compact, Cut, EntryId, Insert, Meant, Origin, Record, RepairRecord, Reset};
use crate::state::State;
use crate::view::{Entry, EntrySource, Patch, View};

impl State {
    /// Writes into new records the ids of the messages at their indices. Leaves records alone that follow a record
    /// which changes the view.
    pub fn name(&self, records: &mut [Record]) {
        for record in records {
            match record {
                Record::Repair(repair) => {
                    let meant = repair.cuts.iter().map(|cut| self.view.meant(range(cut.at, cut.removed)?));
                    repair.meant = meant.collect::<Option<_>>().unwrap_or_default();
                    return;
                }
                Record::Compact(compact) => {
                    let count = compact.to.checked_sub(compact.from);
                    compact.meant =
                        count.and_then(|count| range(compact.from, count)).and_then(|range| self.view.meant(range));
                    return;
                }
                Record::Reset(reset) => {
                    let entry = |place: &u64| self.view.entries().get(usize::try_from(*place).ok()?).map(Entry::id);
                    reset.meant = reset.kept.iter().map(entry).collect::<Option<_>>().unwrap_or_default();
                    return;
                }
                Record::Rollback(rollback) => {
                    rollback.since = self.checkpoint_of(&rollback.checkpoint).map(|checkpoint| checkpoint.seq);
                    return;
                }
                Record::Message(_) | Record::Cycle(_) | Record::Undo(_) => return,
                Record::Begin(_)
                | Record::Turn(_)
                | Record::Intent(_)
                | Record::Staged(_)
                | Record::CycleEnd(_)
                | Record::Checkpoint(_)
                | Record::CheckpointCommit(_)
                | Record::CheckpointsDropped(_)
                | Record::Accepted(_)
                | Record::Compensated(_)
                | Record::Incident(_)
                | Record::Inbox(_)
                | Record::Switch(_)
                | Record::Policy(_)
                | Record::Renamed(_)
                | Record::Unknown(_)
                | Record::Unreadable(_) => {}
            }
        }
    }
}

/// The places of a repair. Indices count while no record is lost.
pub(crate) fn of_repair(view: &View, has_gaps: bool, seq: u64, repair: &RepairRecord) -> Places {
    let mut parts = 0..;
    let mut inserted = |cut: &Cut| -> Vec<Entry> {
        let entries = cut.inserted.iter().zip(parts.by_ref());
        entries
            .map(|(insert, part)| {
                let (source, Insert { message, origin, dialect, synthetic_results }) =
                    (repair.kind.into(), insert.clone());
                Entry { seq, part, message, origin, source, dialect, synthetic_results }
            })
            .collect()
    };
    let cuts = repair.cuts.iter().map(|cut| Wanted {
        range: range(cut.at, cut.removed),
        meant: None,
        inserted: inserted(cut),
    });
    let mut wanted: Vec<Wanted<'_>> = cuts.collect();
    if repair.meant.len() == wanted.len() {
        wanted.iter_mut().zip(&repair.meant).for_each(|(wanted, meant)| wanted.meant = Some(meant));
    }
    place(view, has_gaps, wanted)
}

/// The place of a compaction.
pub(crate) fn of_compact(view: &View, has_gaps: bool, seq: u64, compact: &Compact) -> Places {
    let summary = (0..).zip(&compact.summary);
    let (origin, source) = (Origin::Summary, EntrySource::Compaction);
    let entry = |(part, message): (u32, &Raw)| {
        let (message, dialect) = (message.clone(), compact.dialect.clone());
        Entry { seq, part, message, origin, source, dialect, synthetic_results: Vec::new() }
    };
    let inserted = summary.map(entry).collect();
    let range = compact.to.checked_sub(compact.from).and_then(|count| range(compact.from, count));
    place(view, has_gaps, vec![Wanted { range, meant: compact.meant.as_ref(), inserted }])
}

/// The messages that a reset keeps, and whether they are all that it means.
pub(crate) fn of_reset(view: &View, has_gaps: bool, reset: &Reset) -> (Vec<Entry>, Accuracy) {
    if !has_gaps {
        let kept = reset.kept.iter().filter_map(|place| view.entries().get(usize::try_from(*place).ok()?));
        return (kept.cloned().collect(), Accuracy::Certain);
    }
    if reset.meant.len() != reset.kept.len() {
        let accuracy = if reset.kept.is_empty() { Accuracy::Certain } else { Accuracy::Guessed };
        return (Vec::new(), accuracy);
    }
    let meant: HashSet<EntryId> = reset.meant.iter().copied().collect();
    (view.entries().iter().filter(|entry| meant.contains(&entry.id())).cloned().collect(), Accuracy::Certain)
}

fn range(at: u64, count: u64) -> Option<Range<usize>> {
    let (at, end) = (usize::try_from(at).ok()?, usize::try_from(at.checked_add(count)?).ok()?);
    Some(at..end)
}

/// The places of a change in a view.
pub(crate) struct Places {
    pub(crate) patches: Vec<Patch>,
    pub(crate) accuracy: Accuracy,
}

/// Whether the places of a change are those that its record means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accuracy {
    /// Each place is the one that the record means.
    Certain,
    /// A part of them is missing, and the nearest place takes its change.
    Guessed,
}

/// Entries that replace others.
struct Wanted<'a> {
    range: Option<Range<usize>>,
    meant: Option<&'a Meant>,
    inserted: Vec<Entry>,
}

/// Finds the places of entries: the recorded index if the wanted entries are there, otherwise their actual place.
fn place(view: &View, has_gaps: bool, wanted: Vec<Wanted<'_>>) -> Places {
    let holds = |wanted: &Wanted<'_>| {
        let found = wanted.range.clone().and_then(|range| view.meant(range));
        !has_gaps || (found.is_some() && found.as_ref() == wanted.meant)
    };
    let in_order = wanted.is_sorted_by(|one, next| {
        one.range.as_ref().zip(next.range.as_ref()).is_some_and(|(one, next)| one.end <= next.start)
    });
    if in_order && wanted.iter().all(holds) {
        let patch = |wanted: Wanted<'_>| {
            let range = wanted.range.unwrap_or_default();
            Patch { at: range.start, removed: range.len(), inserted: wanted.inserted }
        };
        return Places { patches: wanted.into_iter().map(patch).collect(), accuracy: Accuracy::Certain };
    }
    let asked: HashSet<EntryId> = wanted.iter().filter_map(|wanted| wanted.meant).flat_map(Meant::ids).collect();
    let entries = (0..).zip(view.entries()).map(|(at, entry)| (entry.id(), at));
    let places: HashMap<EntryId, usize> = entries.filter(|(id, _)| asked.contains(id)).collect();
    let (mut patches, mut taken, mut accuracy) = (Vec::new(), HashSet::new(), Accuracy::Certain);
    for Wanted { meant, inserted, .. } in wanted {
        let Some(meant) = meant else {
            accuracy = Accuracy::Guessed;
            continue;
        };
        let found = meant.entries.iter().filter_map(|id| places.get(id)).copied();
        let mut found = found.filter(|at| taken.insert(*at)).collect::<Vec<_>>().into_iter();
        let first = found.next();
        let beside = || beside(&places, meant);
        let at = first.or_else(beside).unwrap_or_else(|| {
            accuracy = Accuracy::Guessed;
            nearest(view, meant)
        });
        patches.push(Patch { at, removed: usize::from(first.is_some()), inserted });
        patches.extend(found.map(|at| Patch { at, removed: 1, inserted: Vec::new() }));
    }
    // At one place, insertions come before removals.
    patches.sort_by_key(|patch| (patch.at, patch.removed));
    Places { patches, accuracy }
}

impl Meant {
    /// All ids that it names.
    fn ids(&self) -> impl Iterator<Item = EntryId> {
        self.entries.iter().copied().chain(self.after).chain(self.before)
    }
}

/// The place next to a neighbour that is in the view.
fn beside(places: &HashMap<EntryId, usize>, meant: &Meant) -> Option<usize> {
    let Some(after) = meant.after else { return Some(0) };
    let behind = || places.get(&meant.before?).copied();
    places.get(&after).map(|at| at + 1).or_else(behind)
}

/// The place after all entries that are older than the lost neighbour.
fn nearest(view: &View, meant: &Meant) -> usize {
    let last = view.entries().iter().rposition(|entry| Some(entry.id()) < meant.after);
    last.map_or(0, |at| at + 1)
}
