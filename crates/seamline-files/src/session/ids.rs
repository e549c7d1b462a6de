//! The ids in a file, each stored once. A record names its own id and that of its parent, and a call that of its result, so
//! that ids are a good part of what a reading of a long file keeps.

use std::collections::HashMap;

use super::KeptTexts;

/// The number of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct IdNumber(u32);

impl IdNumber {
    /// Its index among the ids of the file.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The ids in a file.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    /// The texts of all ids, one behind the other.
    texts: String,
    /// The end of each text.
    ends: Vec<usize>,
    by_digest: HashMap<u64, IdNumber>,
    /// The ids whose digest another one has.
    others: HashMap<String, IdNumber>,
}

impl Ids {
    /// The number of an id.
    pub(crate) fn number(&mut self, text: &str) -> IdNumber {
        let digest = KeptTexts::Abridged.digest(text);
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
        let at = id.0 as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[start..self.ends[at]]
    }

    fn add(&mut self, text: &str) -> IdNumber {
        // The ids of four thousand million records would not fit into memory.
        let number = IdNumber(u32::try_from(self.ends.len()).unwrap_or(u32::MAX));
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
        number
    }
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
        ids.by_digest.insert(KeptTexts::Abridged.digest("new"), numbers[1]);
        let new = ids.number("new");
        assert_eq!((ids.number("new"), ids.text(new)), (new, "new"));
        assert!(!numbers.contains(&new));
    }
}
