//! Rounds in a row that repeat each other.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

/// How many rounds may take turns at most and still be a loop. More of them are no loop but work
/// that goes wrong.
const PERIOD_MAX: u32 = 3;

/// The last rounds of a row, no more than may take turns, and for each number of rounds that may
/// how many came in a row that were the same as the one so many before.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    rounds: VecDeque<Round>,
    same: [u32; PERIOD_MAX as usize],
}

/// One round: what it was, and the tools it was about.
#[derive(Debug, Clone)]
struct Round {
    hash: blake3::Hash,
    tools: BTreeSet<String>,
}

/// How often rounds were seen in a row, and the tools they are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repeats {
    pub(super) count: u32,
    pub(super) tools: BTreeSet<String>,
}

impl Row {
    /// Counts a round. How often it was seen in a row: by itself, or in turn with others, of which
    /// there are so many at most.
    pub(super) fn count<'t>(
        &mut self,
        hash: blake3::Hash,
        tools: impl Iterator<Item = &'t str>,
        period_max: u32,
    ) -> Repeats {
        for (same, period) in self.same.iter_mut().zip(1..) {
            let is_same = self.rounds.iter().nth_back(period - 1).is_some_and(|before| before.hash == hash);
            *same = if is_same { same.saturating_add(1) } else { 0 };
        }
        if self.rounds.len() == PERIOD_MAX as usize {
            self.rounds.pop_front();
        }
        self.rounds.push_back(Round { hash, tools: tools.map(str::to_owned).collect() });
        let mut best = self.repeats(1);
        for period in 2..=period_max.min(PERIOD_MAX) {
            let repeats = self.repeats(period);
            if repeats.count > best.count {
                best = repeats;
            }
        }
        best
    }

    /// Something else happened.
    pub(super) fn end(&mut self) {
        *self = Self::default();
    }

    /// How often the last so many rounds were seen one after the other.
    fn repeats(&self, period: u32) -> Repeats {
        let last = self.rounds.iter().rev().take(period as usize);
        let same = self.same[period as usize - 1];
        Repeats { count: 1 + same / period, tools: last.flat_map(|round| round.tools.iter().cloned()).collect() }
    }
}

/// Arguments as anybody would write them who means the same: spaces and the order of members make
/// no difference. What cannot be read is told apart by every character.
pub(super) fn plain(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Null) => "{}".to_owned(),
        Ok(value) => value.to_string(),
        Err(_) if arguments.trim().is_empty() => "{}".to_owned(),
        Err(_) => arguments.to_owned(),
    }
}

/// Texts as one hash that no other texts have.
pub(super) fn fingerprint<'p>(parts: impl Iterator<Item = &'p str>) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rounds: &str, period_max: u32) -> Vec<u32> {
        let mut row = Row::default();
        let mut count = |round: char| {
            let name = round.to_string();
            row.count(fingerprint([name.as_str()].into_iter()), [name.as_str()].into_iter(), period_max).count
        };
        rounds.chars().map(&mut count).collect()
    }

    #[test]
    fn rounds_count_by_themselves_and_in_turns() {
        assert_eq!(counts("aaaa", 3), [1, 2, 3, 4]);
        assert_eq!(counts("ababab", 3), [1, 1, 1, 2, 2, 3]);
        assert_eq!(counts("abcabcabc", 3), [1, 1, 1, 1, 1, 2, 2, 2, 3]);
        assert_eq!(counts("aabaabaab", 3), [1, 2, 1, 1, 2, 2, 2, 2, 3]);
        assert_eq!(counts("aabb", 3), [1, 2, 1, 2]);
        assert_eq!(counts("aba", 3), [1, 1, 1]);
    }

    #[test]
    fn how_many_take_turns_is_bounded_by_the_policy_and_by_three() {
        assert_eq!(counts("abcabc", 2), [1; 6]);
        assert_eq!(counts("abab", 1), [1; 4]);
        assert_eq!(counts("aaa", 0), [1, 2, 3]);
        assert_eq!(counts("abcdabcdabcd", u32::MAX), [1; 12]);
    }

    #[test]
    fn a_row_is_counted_for_ever_and_does_not_grow() {
        let mut row = Row::default();
        let round = fingerprint(["a"].into_iter());
        let last = (0..1000).map(|_| row.count(round, std::iter::empty(), 3).count).last();
        assert_eq!((last, row.rounds.len()), (Some(1000), 3));
    }

    #[test]
    fn where_a_text_ends_makes_a_difference() {
        assert_ne!(fingerprint(["ab", "c"].into_iter()), fingerprint(["a", "bc"].into_iter()));
    }
}
