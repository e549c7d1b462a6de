//! Changes with their neighbouring messages.

use std::hash::Hash;
use std::ops::Range;

use similar::{Algorithm, DiffOp};

/// Messages shown before and after a change.
const AROUND: usize = 1;

/// A change with its neighbouring messages, as ranges of both bodies.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub(crate) before: Range<usize>,
    pub(crate) after: Range<usize>,
}

/// Compares two lists of messages and returns their differences in order. Differences that touch are one hunk.
pub(crate) fn hunks<T: Eq + Hash>(before: &[T], after: &[T]) -> Vec<Hunk> {
    // This algorithm bounds its search, so it stays fast if half of a long list changed.
    let changes = similar::capture_diff_slices(Algorithm::Myers, before, after);
    let mut hunks: Vec<Hunk> = Vec::new();
    for group in similar::group_diff_ops(changes, AROUND) {
        let Some(hunk) = hunk(&group) else { continue };
        match hunks.last_mut() {
            // The line "1 unchanged message" takes as much space as the message itself.
            Some(last) if last.before.end + 1 >= hunk.before.start => {
                last.before.end = hunk.before.end;
                last.after.end = hunk.after.end;
            }
            _ => hunks.push(hunk),
        }
    }
    hunks
}

/// The first hunks, with at most `messages_max` messages of both bodies, and how many messages of changes are left out.
pub(crate) fn first_hunks(hunks: Vec<Hunk>, messages_max: usize) -> (Vec<Hunk>, usize) {
    let mut room = messages_max;
    let mut hidden = 0;
    let mut first = Vec::new();
    for hunk in hunks {
        let (before, after) = (hunk.before.len(), hunk.after.len());
        if before + after <= room {
            room -= before + after;
            first.push(hunk);
            continue;
        }
        let (shown_before, shown_after) = (before.min(room / 2), after.min(room / 2));
        hidden += (before - shown_before).max(after - shown_after);
        room = 0;
        if shown_before + shown_after > 0 {
            let end = |range: &Range<usize>, count| range.start..range.start + count;
            first.push(Hunk { before: end(&hunk.before, shown_before), after: end(&hunk.after, shown_after) });
        }
    }
    (first, hidden)
}

/// The ranges of a group of differences; `None` for an empty group.
fn hunk(group: &[DiffOp]) -> Option<Hunk> {
    let has_change = group.iter().any(|change| !matches!(change, DiffOp::Equal { .. }));
    let (first, last) = (group.first()?, group.last().filter(|_| has_change)?);
    Some(Hunk {
        before: first.old_range().start..last.old_range().end,
        after: first.new_range().start..last.new_range().end,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges<T: Eq + Hash>(before: &[T], after: &[T]) -> Vec<(Range<usize>, Range<usize>)> {
        hunks(before, after).into_iter().map(|hunk| (hunk.before, hunk.after)).collect()
    }

    #[test]
    fn a_change_has_its_neighbours_around_it() {
        assert_eq!(ranges(b"abcdef", b"abcdef"), []);
        assert_eq!(ranges(b"abcdef", b"abcXef"), [(2..5, 2..5)]);
        assert_eq!(ranges(b"abcdef", b"abcef"), [(2..5, 2..4)]);
        assert_eq!(ranges(b"abcdef", b"Xabcdef"), [(0..1, 0..2)]);
        assert_eq!(ranges(b"", b"abc"), [(0..0, 0..3)]);
        assert_eq!(ranges(b"abc", b""), [(0..3, 0..0)]);
    }

    #[test]
    fn changes_with_at_most_one_hidden_message_between_them_are_one() {
        assert_eq!(ranges(b"a123bcdefgh", b"A123Bcdefgh"), [(0..6, 0..6)]);
        assert_eq!(ranges(b"a1234bcdefgh", b"A1234Bcdefgh"), [(0..2, 0..2), (4..7, 4..7)]);
    }

    #[test]
    fn the_first_hunks_have_a_bound_and_the_others_are_counted() {
        let all = || {
            vec![
                Hunk { before: 0..3, after: 0..3 },
                Hunk { before: 10..20, after: 10..22 },
                Hunk { before: 30..31, after: 32..32 },
            ]
        };
        assert_eq!(first_hunks(all(), 100), (all(), 0));
        let cut = Hunk { before: 10..12, after: 10..12 };
        assert_eq!(first_hunks(all(), 10), (vec![Hunk { before: 0..3, after: 0..3 }, cut], 11));
    }

    #[test]
    fn messages_between_hunks_are_equal_in_both_bodies() {
        let before: Vec<u32> = (0..200_000).collect();
        let every_second = |number: u32| if number % 2 == 1 { number + 1_000_000 } else { number };
        let after: Vec<u32> = before.iter().map(|number| every_second(*number)).collect();
        assert_eq!(ranges(&before, &after), [(0..200_000, 0..200_000)]);
        let shorter: Vec<u32> = before.iter().copied().filter(|number| number % 50 != 0).collect();
        let (mut left, mut right) = (0, 0);
        for (gone, come) in ranges(&before, &shorter) {
            assert_eq!(before[left..gone.start], shorter[right..come.start]);
            (left, right) = (gone.end, come.end);
        }
        assert_eq!(before[left..], shorter[right..]);
    }
}
