//! Alignment of two short lists of blocks.

/// The most steps of the comparison; for longer lists the second replaces the first.
const STEPS_MAX: usize = 1 << 20;

/// One step through two lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Both(usize, usize),
    Before(usize),
    After(usize),
}

/// Aligns two short lists so that the equal elements have the greatest total weight. `weight` is 0 for elements that
/// differ.
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

    #[test]
    fn the_heavier_match_wins() {
        let weight = |one: &u8, other: &u8| u32::from(one == other);
        let found = steps(b"axb", b"ab", weight);
        assert_eq!(found, [Step::Both(0, 0), Step::Before(1), Step::Both(2, 1)]);
    }
}
