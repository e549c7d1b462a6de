//! Rows of rounds that repeat each other.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

/// The most rounds that may alternate and still count as a loop.
const PERIOD_MAX: u32 = 3;

/// The last rounds of a row, and for each period how many rounds in a row equalled the round one period before.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    rounds: VecDeque<Round>,
    same: [u32; PERIOD_MAX as usize],
}

/// One round: its fingerprint and its tools.
#[derive(Debug, Clone)]
struct Round {
    hash: blake3::Hash,
    tools: BTreeSet<String>,
}

/// How often rounds repeated in a row, and their tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repeats {
    pub(super) count: u32,
    pub(super) tools: BTreeSet<String>,
}

impl Row {
    /// Counts a round. Returns how often it repeated in a row, alone or in a period of at most `period_max` rounds.
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

    /// Forgets the row: a different round came between.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns how often the last `period` rounds repeated.
    fn repeats(&self, period: u32) -> Repeats {
        let last = self.rounds.iter().rev().take(period as usize);
        let same = self.same[period as usize - 1];
        Repeats { count: 1 + same / period, tools: last.flat_map(|round| round.tools.iter().cloned()).collect() }
    }
}

/// Returns the arguments in a canonical form, without spaces and with sorted members. Arguments that are not JSON stay
/// as they are.
pub(super) fn canonical(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Null) => "{}".to_owned(),
        Ok(value) => value.to_string(),
        Err(_) if arguments.trim().is_empty() => "{}".to_owned(),
        Err(_) => arguments.to_owned(),
    }
}

/// Hashes a list of texts; different lists have different hashes.
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
    fn rounds_count_alone_and_in_periods() {
        assert_eq!(counts("aaaa", 3), [1, 2, 3, 4]);
        assert_eq!(counts("ababab", 3), [1, 1, 1, 2, 2, 3]);
        assert_eq!(counts("abcabcabc", 3), [1, 1, 1, 1, 1, 2, 2, 2, 3]);
        assert_eq!(counts("aabaabaab", 3), [1, 2, 1, 1, 2, 2, 2, 2, 3]);
        assert_eq!(counts("aabb", 3), [1, 2, 1, 2]);
        assert_eq!(counts("aba", 3), [1, 1, 1]);
    }

    #[test]
    fn the_period_is_bounded_by_the_limit_and_by_three() {
        assert_eq!(counts("abcabc", 2), [1; 6]);
        assert_eq!(counts("abab", 1), [1; 4]);
        assert_eq!(counts("aaa", 0), [1, 2, 3]);
        assert_eq!(counts("abcdabcdabcd", u32::MAX), [1; 12]);
    }

    #[test]
    fn a_long_row_is_counted_and_does_not_grow() {
        let mut row = Row::default();
        let round = fingerprint(["a"].into_iter());
        let last = (0..1000).map(|_| row.count(round, std::iter::empty(), 3).count).last();
        assert_eq!((last, row.rounds.len()), (Some(1000), 3));
    }

    #[test]
    fn fingerprints_depend_on_where_each_text_ends() {
        assert_ne!(fingerprint(["ab", "c"].into_iter()), fingerprint(["a", "bc"].into_iter()));
    }
}
