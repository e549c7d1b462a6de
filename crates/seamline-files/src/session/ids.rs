//! The ids in a file, each stored once. A record names its own id and that of its parent, and a call that of its result, so
//! that ids are a good part of what a reading of a long file keeps.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::ops::Deref;

use super::KeptTexts;

/// The number of an id, from 1, so that an optional one takes no more room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct IdNumber(NonZeroU32);

impl IdNumber {
    /// Its index among the ids of the file.
    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A list of ids. Most records have one at most, which needs no memory of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum IdList {
    #[default]
    Empty,
    One(IdNumber),
    #[expect(clippy::box_collection, reason = "a list of several is rare, and every record has room for a list")]
    Several(Box<Vec<IdNumber>>),
}

impl IdList {
    pub(crate) fn push(&mut self, id: IdNumber) {
        *self = match std::mem::take(self) {
            Self::Empty => Self::One(id),
            Self::One(first) => Self::Several(Box::new(vec![first, id])),
            Self::Several(mut ids) => {
                ids.push(id);
                Self::Several(ids)
            }
        };
    }
}

impl Deref for IdList {
    type Target = [IdNumber];

    fn deref(&self) -> &[IdNumber] {
        match self {
            Self::Empty => &[],
            Self::One(id) => std::slice::from_ref(id),
            Self::Several(ids) => ids,
        }
    }
}

/// The ids in a file.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    /// The texts of all ids, one behind the other.
    texts: String,
    /// The end of each text.
    ends: Vec<usize>,
    /// A short digest is enough: an id with the digest of another one is in `others`.
    by_digest: HashMap<u32, IdNumber>,
    /// The ids whose digest another one has.
    others: HashMap<String, IdNumber>,
}

impl Ids {
    /// The number of an id.
    pub(crate) fn number(&mut self, text: &str) -> IdNumber {
        let digest = digest(text);
        let Some(known) = self.by_digest.get(&digest).copied() else {
            let number = self.add(text);
            self.by_digest.insert(digest, number);
            return number;
        };
        if self.text(known) == text {
            return known;
        }
        if let Some(known) = self.others.get(text) {
            return *known;
        }
        let number = self.add(text);
        self.others.insert(text.to_owned(), number);
        number
    }

    /// The text of an id.
    pub(crate) fn text(&self, id: IdNumber) -> &str {
        let at = id.index();
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[start..self.ends[at]]
    }

    fn add(&mut self, text: &str) -> IdNumber {
        // The ids of four thousand million records would not fit into memory.
        let count = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        let number = IdNumber(NonZeroU32::MIN.saturating_add(count));
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
        number
    }
}

fn digest(text: &str) -> u32 {
    let digest = KeptTexts::Abridged.digest(text);
    (digest ^ digest >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_number_and_a_number_one_id() {
        let mut ids = Ids::default();
        let texts: Vec<String> = (0..100).map(|number| "x".repeat(number)).collect();
        let numbers: Vec<_> = texts.iter().map(|text| ids.number(text)).collect();
        for (text, number) in texts.iter().zip(&numbers) {
            assert_eq!((ids.number(text), ids.text(*number)), (*number, text.as_str()));
        }
        // Another id with the digest of a known one.
        ids.by_digest.insert(digest("new"), numbers[1]);
        let new = ids.number("new");
        assert_eq!((ids.number("new"), ids.text(new)), (new, "new"));
        assert!(!numbers.contains(&new));
    }

    #[test]
    fn a_list_keeps_its_ids_in_their_order() {
        let mut ids = Ids::default();
        let numbers = ["a", "b", "c"].map(|text| ids.number(text));
        let mut list = IdList::default();
        for count in 0..3 {
            assert_eq!(*list, numbers[..count]);
            list.push(numbers[count]);
        }
        assert_eq!((&*list, size_of::<IdList>()), (&numbers[..], 16));
    }
}
