//! What is to be seen of a session.

use crate::hash::Hash;
use crate::raw::Raw;
use crate::record::Origin;

/// A message that is to be seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The record that brought it.
    pub seq: u64,
    /// Its exact bytes.
    pub message: Raw,
    /// Where it comes from.
    pub origin: Origin,
}

/// The messages that are to be seen, and the hash of each beginning of them.
///
/// Appending costs the same however many there are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View {
    entries: Vec<Entry>,
    /// The hash of all messages up to and with this one.
    hashes: Vec<Hash>,
}

impl View {
    /// The messages.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The hash of all of them.
    pub fn hash(&self) -> Hash {
        self.hash_of(self.len())
    }

    /// The hash of the first `count`.
    pub fn hash_of(&self, count: usize) -> Hash {
        count.checked_sub(1).and_then(|last| self.hashes.get(last)).copied().unwrap_or(Hash::ZERO)
    }

    /// The hash of the first `count`, from their bytes.
    pub fn rehash(&self, count: usize) -> Hash {
        self.entries.iter().take(count).fold(Hash::ZERO, |hash, entry| hash.then(entry.message.as_bytes()))
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.hashes.push(self.hash().then(entry.message.as_bytes()));
        self.entries.push(entry);
    }

    pub(crate) fn truncate(&mut self, count: usize) {
        self.entries.truncate(count);
        self.hashes.truncate(count);
    }

    /// Puts entries where others stood, and gives back what stood there. Places are those before, from the first to the
    /// last; what follows the first is gone over once, however many there are.
    pub(crate) fn splice(&mut self, patches: Vec<Patch>) -> Vec<Vec<Entry>> {
        let Some(first) = patches.first().map(|patch| patch.at) else { return Vec::new() };
        let mut old = self.entries.split_off(first).into_iter();
        self.hashes.truncate(first);
        let mut at = first;
        let mut gone = Vec::with_capacity(patches.len());
        for patch in patches {
            let stays = patch.at - at;
            old.by_ref().take(stays).for_each(|entry| self.push(entry));
            gone.push(old.by_ref().take(patch.removed).collect());
            at = patch.at + patch.removed;
            patch.inserted.into_iter().for_each(|entry| self.push(entry));
        }
        old.for_each(|entry| self.push(entry));
        gone
    }
}

/// A place where entries are put, and how many stood there.
pub(crate) struct Patch {
    pub(crate) at: usize,
    pub(crate) removed: usize,
    pub(crate) inserted: Vec<Entry>,
}

impl FromIterator<Entry> for View {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        let mut view = Self::default();
        entries.into_iter().for_each(|entry| view.push(entry));
        view
    }
}
