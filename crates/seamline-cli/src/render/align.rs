//! Which messages and blocks of two bodies are the same.

use std::ops::Range;

/// How far ahead the place is looked for where two bodies are the same again. A repair
/// touches few messages at a time.
const AHEAD_MAX: usize = 32;
/// Steps of the table that compares two lists; beyond, one is taken to replace the other.
const STEPS_MAX: usize = 1 << 20;

/// A stretch of two lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stretch {
    /// The same in both.
    Same { before: usize, after: usize, count: usize },
    /// The one on the left stands where the one on the right stood.
    Changed { before: Range<usize>, after: Range<usize> },
}

/// Two long lists, compared in linear time: where they differ, the nearest place is
/// searched where they are the same again.
pub(crate) fn stretches<T: PartialEq>(before: &[T], after: &[T]) -> Vec<Stretch> {
    let mut out = Vec::new();
    let (mut left, mut right) = (0, 0);
    while left < before.len() || right < after.len() {
        let count = before[left..].iter().zip(&after[right..]).take_while(|(one, other)| one == other).count();
        if count > 0 {
            out.push(Stretch::Same { before: left, after: right, count });
            (left, right) = (left + count, right + count);
            continue;
        }
        let (gone, come) = nearest(&before[left..], &after[right..]);
        match out.last_mut() {
            Some(Stretch::Changed { before, after }) => {
                (before.end, after.end) = (left + gone, right + come);
            }
            _ => out.push(Stretch::Changed { before: left..left + gone, after: right..right + come }),
        }
        (left, right) = (left + gone, right + come);
    }
    out
}

/// How many to pass over on both sides until the lists are the same again.
fn nearest<T: PartialEq>(before: &[T], after: &[T]) -> (usize, usize) {
    for distance in 1..=2 * AHEAD_MAX {
        for gone in distance.saturating_sub(AHEAD_MAX)..=distance.min(AHEAD_MAX) {
            let come = distance - gone;
            if let (Some(one), Some(other)) = (before.get(gone), after.get(come))
                && one == other
            {
                return (gone, come);
            }
        }
    }
    (before.len().min(AHEAD_MAX), after.len().min(AHEAD_MAX))
}

/// One step through two lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Both(usize, usize),
    Before(usize),
    After(usize),
}

/// Two short lists, compared so that what is the same weighs most. `weight` is 0 for what
/// differs.
pub(crate) fn steps<T>(before: &[T], after: &[T], weight: impl Fn(&T, &T) -> u32) -> Vec<Step> {
    let (rows, columns) = (before.len(), after.len());
    if rows.saturating_mul(columns) > STEPS_MAX {
        let gone = (0..rows).map(Step::Before);
        return gone.chain((0..columns).map(Step::After)).collect();
    }
    let at = |row: usize, column: usize| row * (columns + 1) + column;
    let mut best = vec![0_u32; (rows + 1) * (columns + 1)];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let skip = best[at(row + 1, column)].max(best[at(row, column + 1)]);
            let same = match weight(&before[row], &after[column]) {
                0 => 0,
                weight => weight + best[at(row + 1, column + 1)],
            };
            best[at(row, column)] = skip.max(same);
        }
    }
    let mut out = Vec::new();
    let (mut row, mut column) = (0, 0);
    while row < rows || column < columns {
        let here = best[at(row, column)];
        let same = row < rows && column < columns && weight(&before[row], &after[column]) > 0;
        if same && here == weight(&before[row], &after[column]) + best[at(row + 1, column + 1)] {
            out.push(Step::Both(row, column));
            (row, column) = (row + 1, column + 1);
        } else if row < rows && here == best[at(row + 1, column)] {
            out.push(Step::Before(row));
            row += 1;
        } else {
            out.push(Step::After(column));
            column += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rebuilt(before: &[u8], after: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for stretch in stretches(before, after) {
            match stretch {
                Stretch::Same { before: left, count, .. } => out.extend(&before[left..left + count]),
                Stretch::Changed { after: right, .. } => out.extend(&after[right]),
            }
        }
        out
    }

    #[test]
    fn one_list_is_rebuilt_from_the_other() {
        let long: Vec<u8> = (0..=255).collect();
        let cases: [(&[u8], &[u8]); 6] = [
            (b"abcdef", b"abcdef"),
            (b"abcdef", b"xabdefy"),
            (b"", b"abc"),
            (b"abc", b""),
            (&long, b"zzz"),
            (b"abab", b"baba"),
        ];
        for (before, after) in cases {
            assert_eq!(rebuilt(before, after), after);
        }
    }

    #[test]
    fn the_heavier_match_wins() {
        let weight = |one: &u8, other: &u8| u32::from(one == other);
        let found = steps(b"axb", b"ab", weight);
        assert_eq!(found, [Step::Both(0, 0), Step::Before(1), Step::Both(2, 1)]);
    }
}
