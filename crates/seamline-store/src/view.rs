//! The view: the messages that a provider gets.

use std::ops::Range;

use crate::hash::Hash;
use crate::id::DialectName;
use crate::raw::Raw;
use crate::record::{EntryId, Insert, Meant, Origin, RepairKind};

/// A message of the view.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The number of the record that brought it.
    pub seq: u64,
    /// The index among the messages that this record brought.
    pub part: u32,
    /// The exact bytes of the message.
    pub message: Raw,
    /// The origin of the message.
    pub origin: Origin,
    /// The kind of the record that brought it.
    pub source: EntrySource,
    /// The dialect of the message; none means the dialect of the first record.
    pub dialect: Option<DialectName>,
    /// The numbers, from 0 on, of the synthetic results among the results of the message, where they are recorded.
    pub synthetic_results: Vec<u32>,
}

impl From<&Entry> for Insert {
    /// A message of the view, as a record inserts it elsewhere.
    fn from(entry: &Entry) -> Self {
        Self {
            message: entry.message.clone(),
            origin: entry.origin,
            dialect: entry.dialect.clone(),
            synthetic_results: entry.synthetic_results.clone(),
        }
    }
}

/// The kind of the record that brought a message into the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntrySource {
    /// An appended message.
    Message,
    /// A committed cycle, or a reorder that moved one. Its results have a certain origin.
    Cycle,
    /// A repair of kind [`Fix`](crate::RepairKind::Fix).
    Fix,
    /// A tool result that came late.
    LateResult,
    /// The summary of a compaction.
    Compaction,
}

impl EntrySource {
    /// Whether the record replaced messages that were in the view before it. A reorder only moves what a cycle brought.
    pub fn is_change(self) -> bool {
        match self {
            Self::Message | Self::Cycle => false,
            Self::Fix | Self::LateResult | Self::Compaction => true,
        }
    }
}

impl From<RepairKind> for EntrySource {
    fn from(kind: RepairKind) -> Self {
        match kind {
            RepairKind::Fix => Self::Fix,
            RepairKind::Reorder => Self::Cycle,
            RepairKind::LateResult => Self::LateResult,
        }
    }
}

impl Entry {
    /// The id that no other message of the session has.
    pub fn id(&self) -> EntryId {
        EntryId(self.seq, self.part)
    }
}

/// The messages that a provider gets, and the hash of each prefix of them.
///
/// Appending costs the same however many there are.
#[derive(Debug, Clone, Default)]
pub struct View {
    entries: Vec<Entry>,
    /// The hash of each prefix. After a change in the middle, the hashes end there until a caller needs them: many
    /// changes in a row cost no hashing.
    hashes: Vec<Hash>,
}

impl PartialEq for View {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl View {
    /// The messages of the view.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the view has no messages.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The hash of all messages.
    pub fn hash(&self) -> Hash {
        self.hash_of(self.len())
    }

    /// The hash of the first `count` messages.
    pub fn hash_of(&self, count: usize) -> Hash {
        let count = count.min(self.len());
        let known = count.min(self.hashes.len());
        let start = known.checked_sub(1).and_then(|last| self.hashes.get(last)).copied().unwrap_or(Hash::ZERO);
        self.entries[known..count].iter().fold(start, |hash, entry| hash.then(entry.message.as_bytes()))
    }

    /// The hash of each prefix, from the first message to all. Hashes each message at most once.
    pub fn hashes(&self) -> Vec<Hash> {
        let mut hashes = self.hashes.clone();
        fill(&mut hashes, &self.entries);
        hashes
    }

    /// Computes the hash of the first `count` messages from their bytes.
    pub fn rehash(&self, count: usize) -> Hash {
        hash_of(self.entries.iter().take(count))
    }

    /// The ids of the messages of a range and of its neighbours, or `None` where the view has no such range.
    pub(crate) fn meant(&self, range: Range<usize>) -> Option<Meant> {
        let entries = self.entries.get(range.clone())?.iter().map(Entry::id).collect();
        let after = range.start.checked_sub(1).and_then(|at| self.entries.get(at)).map(Entry::id);
        Some(Meant { after, entries, before: self.entries.get(range.end).map(Entry::id) })
    }

    /// Computes the missing hashes.
    pub(crate) fn hash_all(&mut self) {
        fill(&mut self.hashes, &self.entries);
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        if self.hashes.len() == self.entries.len() {
            self.hashes.push(self.hash().then(entry.message.as_bytes()));
        }
        self.entries.push(entry);
    }

    /// Replaces entries and returns the replaced ones. Indices are those before the change, in ascending order. Goes
    /// over the entries after the first patch once.
    pub(crate) fn splice(&mut self, patches: Vec<Patch>) -> Vec<Vec<Entry>> {
        let first = patches.first().map_or(self.hashes.len(), |patch| patch.at);
        self.hashes.truncate(first);
        splice(&mut self.entries, patches)
    }

    /// Removes the entries of later records.
    pub(crate) fn truncate_to(&mut self, seq: u64) {
        let count = self.entries.iter().rposition(|entry| entry.seq < seq).map_or(0, |last| last + 1);
        self.entries.truncate(count);
        self.hashes.truncate(count);
    }

    /// Replaces all entries. The common prefix keeps its hashes.
    pub(crate) fn replace(&mut self, entries: Vec<Entry>) {
        let same = self.entries.iter().zip(&entries).take_while(|(old, new)| old.id() == new.id()).count();
        self.hashes.truncate(same);
        self.entries = entries;
    }
}

/// Adds the hashes of prefixes that have none yet.
fn fill(hashes: &mut Vec<Hash>, entries: &[Entry]) {
    while let Some(entry) = entries.get(hashes.len()) {
        let last = hashes.last().copied().unwrap_or(Hash::ZERO);
        hashes.push(last.then(entry.message.as_bytes()));
    }
}

/// Hashes the messages of entries.
pub(crate) fn hash_of<'a>(entries: impl Iterator<Item = &'a Entry>) -> Hash {
    entries.fold(Hash::ZERO, |hash, entry| hash.then(entry.message.as_bytes()))
}

/// A place where entries are inserted, and the number of entries that they replace.
pub(crate) struct Patch {
    pub(crate) at: usize,
    pub(crate) removed: usize,
    pub(crate) inserted: Vec<Entry>,
}

/// Applies patches in ascending order and returns the replaced entries.
pub(crate) fn splice(entries: &mut Vec<Entry>, patches: Vec<Patch>) -> Vec<Vec<Entry>> {
    let Some(first) = patches.first().map(|patch| patch.at) else { return Vec::new() };
    let mut old = entries.split_off(first).into_iter();
    let mut at = first;
    let mut gone = Vec::with_capacity(patches.len());
    for patch in patches {
        entries.extend(old.by_ref().take(patch.at - at));
        gone.push(old.by_ref().take(patch.removed).collect());
        at = patch.at + patch.removed;
        entries.extend(patch.inserted);
    }
    entries.extend(old);
    gone
}

impl FromIterator<Entry> for View {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        let mut view = Self::default();
        entries.into_iter().for_each(|entry| view.push(entry));
        view
    }
}
