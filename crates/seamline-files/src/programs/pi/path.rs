//! The path from the root to the leaf, and the defects on it.

use std::collections::{HashMap, HashSet};

use super::read::{Anchor, Entry, Kind};
use crate::json::quoted;
use crate::session::catalogue::{FILE007, FILE009, FILE010, FILE012};
use crate::session::{Defect, RecordEdit};

/// The path through the records.
pub(super) struct Path {
    /// The records on it, from the root to the leaf.
    pub(super) records: Vec<usize>,
    /// The last compaction on it.
    pub(super) compaction: Option<Compaction>,
    pub(super) defects: Vec<Defect>,
}

/// A compaction on the path.
pub(super) struct Compaction {
    /// Its place on the path.
    pub(super) place: usize,
    /// The place of the first entry that it keeps; nothing if it keeps none.
    pub(super) first_kept: Option<usize>,
}

/// Walks from the leaf to the root. Where a parent is missing, the walk goes on at the record before, as the repair would
/// connect it.
pub(super) fn walk(entries: &[Entry], is_linear: bool) -> Path {
    let (records, mut defects) = if is_linear {
        let is_entry = |record: &usize| entries[*record].kind != Kind::Header;
        ((0..entries.len()).filter(is_entry).collect(), Vec::new())
    } else {
        Tree::of(entries).walk()
    };
    let compaction = records.iter().rposition(|record| entries[*record].kind == Kind::Compaction).map(|place| {
        let (first_kept, defect) = first_kept(entries, &records, place);
        defects.extend(defect);
        Compaction { place, first_kept }
    });
    Path { records, compaction, defects }
}

/// The entries by their ids.
struct Tree<'e> {
    entries: &'e [Entry],
    by_id: HashMap<&'e str, usize>,
    /// The ids of the session: its first entries may name one as their parent.
    headers: HashSet<&'e str>,
    /// The records that are in the file before.
    copies: HashSet<usize>,
}

impl<'e> Tree<'e> {
    fn of(entries: &'e [Entry]) -> Self {
        let mut tree = Self { entries, by_id: HashMap::new(), headers: HashSet::new(), copies: HashSet::new() };
        let mut hashes: HashMap<&str, Vec<[u8; 8]>> = HashMap::new();
        for (record, entry) in entries.iter().enumerate() {
            let Some(id) = entry.id.as_deref() else { continue };
            if entry.kind == Kind::Header {
                tree.headers.insert(id);
                continue;
            }
            let seen = hashes.entry(id).or_default();
            if seen.contains(&entry.hash) {
                tree.copies.insert(record);
            } else {
                // If several entries have one id, `pi` takes the last one.
                seen.push(entry.hash);
                tree.by_id.insert(id, record);
            }
        }
        tree
    }

    fn walk(&self) -> (Vec<usize>, Vec<Defect>) {
        let mut defects: Vec<Defect> = self.copies.iter().copied().map(copy).collect();
        let calls = self.calls();
        let mut at = self.leaf();
        let mut records = Vec::new();
        let mut seen = HashSet::new();
        let mut earliest = 0;
        while let Some(record) = at {
            seen.insert(record);
            records.push(record);
            let Some(parent) = self.entries[record].parent.as_deref() else { break };
            let named = self.by_id.get(parent).copied();
            at = named.or_else(|| calls.get(parent).copied()).filter(|parent| !seen.contains(parent));
            if at.is_some() || self.headers.contains(parent) {
                continue;
            }
            at = self.before(record, &seen);
            // The path only grows, so the earliest message that is not on it moves in one direction.
            while earliest < record && (!self.is_message(earliest) || seen.contains(&earliest)) {
                earliest += 1;
            }
            let is_cut = earliest < record;
            if named.is_some() || is_cut {
                defects.push(cut(record, named.is_some(), at.and_then(|before| self.entries[before].id.as_deref())));
            } else {
                break;
            }
        }
        records.reverse();
        (records, defects)
    }

    /// The last entry of the file, or the one that it names as the leaf.
    fn leaf(&self) -> Option<usize> {
        let last = (0..self.entries.len()).rev().find(|record| self.is_entry(*record))?;
        let target = self.entries[last].target.as_deref().filter(|_| self.entries[last].kind == Kind::Leaf);
        Some(target.and_then(|target| self.by_id.get(target).copied()).unwrap_or(last))
    }

    /// The records by the ids of their calls: some programs name a call as the parent of its result.
    fn calls(&self) -> HashMap<&'e str, usize> {
        let calls = |(record, entry): (usize, &'e Entry)| entry.calls.iter().map(move |call| (call.as_str(), record));
        self.entries.iter().enumerate().flat_map(calls).collect()
    }

    fn is_entry(&self, record: usize) -> bool {
        let entry = &self.entries[record];
        entry.kind != Kind::Header && entry.id.is_some() && !self.copies.contains(&record)
    }

    fn is_message(&self, record: usize) -> bool {
        matches!(self.entries[record].kind, Kind::Message | Kind::Compaction) && self.is_entry(record)
    }

    /// The entry before a record in the file.
    fn before(&self, record: usize, seen: &HashSet<usize>) -> Option<usize> {
        (0..record).rev().find(|at| self.is_entry(*at) && !seen.contains(at))
    }
}

/// The place of the first entry that a compaction keeps, and the defect if that entry is not in the file.
fn first_kept(entries: &[Entry], records: &[usize], place: usize) -> (Option<usize>, Option<Defect>) {
    let record = records[place];
    let before = &records[..place];
    let id = match &entries[record].anchor {
        None => return (None, None),
        Some(Anchor::Index(index)) => return (before.iter().position(|kept| kept >= index), None),
        Some(Anchor::Id(id)) => id.as_str(),
    };
    if let Some(kept) = before.iter().position(|kept| entries[*kept].id.as_deref() == Some(id)) {
        return (Some(kept), None);
    }
    // An entry elsewhere in the file keeps nothing, as an extension may want it.
    if entries.iter().any(|entry| entry.kind != Kind::Header && entry.id.as_deref() == Some(id)) {
        return (None, None);
    }
    // The entry whose parent is the missing one is the first of those that are left. Without it, nothing is kept.
    let first = before.iter().position(|kept| entries[*kept].parent.as_deref() == Some(id));
    let named = first.map(|first| before[first]).or(records.get(place + 1).copied()).unwrap_or(record);
    let value = entries[named].id.as_deref().map(quoted);
    let edits = value.map(|value| RecordEdit::Set { record, member: "firstKeptEntryId", value: Some(value) });
    let message = "the first entry that it keeps is not in the file".to_owned();
    (first, Some(Defect { kind: &FILE012, record, message, edits: edits.into_iter().collect() }))
}

/// The defect of a record whose parent does not lead to the root.
fn cut(record: usize, is_cycle: bool, before: Option<&str>) -> Defect {
    let (kind, message) = if is_cycle {
        (&FILE010, "its parents lead back to the record itself")
    } else {
        (&FILE007, "its parent is not in the file")
    };
    let parent = before.map_or_else(|| "null".to_owned(), quoted);
    let edits = vec![RecordEdit::Set { record, member: "parentId", value: Some(parent) }];
    Defect { kind, record, message: message.to_owned(), edits }
}

/// The defect of a record that is in the file before.
fn copy(record: usize) -> Defect {
    let message = "the same record is in the file before".to_owned();
    Defect { kind: &FILE009, record, message, edits: vec![RecordEdit::Remove { record }] }
}
