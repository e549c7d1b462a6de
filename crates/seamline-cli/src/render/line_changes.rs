//! How many lines of a file a repair changes.

use std::collections::HashSet;

use serde::Serialize;
use similar::{Algorithm, DiffOp};

/// The most lines that are compared one by one. In a longer text, a line counts as changed if the other text lacks it.
const COMPARED_MAX: usize = 100_000;

/// The number of lines that a repair changes, adds and removes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct LineChanges {
    pub(crate) changed: usize,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

impl LineChanges {
    /// Compares the lines of two files.
    pub(crate) fn of(before: &[u8], after: &[u8]) -> Self {
        let (before, after) = (lines(before), lines(after));
        let start = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
        let (before, after) = (&before[start..], &after[start..]);
        let end = before.iter().rev().zip(after.iter().rev()).take_while(|(one, other)| one == other).count();
        let (before, after) = (&before[..before.len() - end], &after[..after.len() - end]);
        let mut changes = Self::default();
        if before.len() + after.len() > COMPARED_MAX {
            let new_of = |lines: &[&[u8]], others: &[&[u8]]| {
                let others: HashSet<_> = others.iter().collect();
                lines.iter().filter(|line| !others.contains(line)).count()
            };
            changes.add(new_of(before, after), new_of(after, before));
            return changes;
        }
        for change in similar::capture_diff_slices(Algorithm::Myers, before, after) {
            if !matches!(change, DiffOp::Equal { .. }) {
                changes.add(change.old_range().len(), change.new_range().len());
            }
        }
        changes
    }

    /// Adds a run of old lines that new lines replace.
    fn add(&mut self, old: usize, new: usize) {
        self.changed += old.min(new);
        self.added += new.saturating_sub(old);
        self.removed += old.saturating_sub(new);
    }
}

/// The lines of a file, each without its end: a newline at the end of a file is not a change of its last line.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.split(|byte| *byte == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_by_what_happens_to_them() {
        let count = |before: &str, after: &str| {
            let changes = LineChanges::of(before.as_bytes(), after.as_bytes());
            (changes.changed, changes.added, changes.removed)
        };
        assert_eq!(count("a\nb\nc\n", "a\nb\nc\n"), (0, 0, 0));
        assert_eq!(count("a\nb\nc", "a\nb\nc\n"), (0, 0, 0));
        assert_eq!(count("a\nbc\nd\n", "a\nb\nc\nd\n"), (1, 1, 0));
        assert_eq!(count("a\nb\nc\nd\n", "a\nx\nd\n"), (1, 0, 1));
        assert_eq!(count("a\nb\n", "a\nx\nb\n"), (0, 1, 0));
    }
}
