//! Lists in columns.

use super::style::Paint;
use crate::screen;

/// The gap between two columns.
const SPACE: usize = 2;
/// The least width of the last column; a narrower one moves below the others.
const LAST_MIN: usize = 36;
/// The least width of a column.
const COLUMN_MIN: usize = 16;

/// Renders one line per row. Every column but the last is as wide as its widest cell; the last one is wrapped. If too
/// little room is left for it, it moves below the column before it.
pub(crate) fn render<const N: usize>(rows: &[[String; N]], paints: [Paint; N], width: usize) -> String {
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| screen::columns(&row[column]));
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N - 1).map(widest).collect();
    let start: usize = widths.iter().map(|width| width + SPACE).sum();
    let is_narrow = N > 2 && start.saturating_add(LAST_MIN.min(widest(N - 1))) > width;
    let mut out = String::new();
    for row in rows {
        if is_narrow {
            stacked(&mut out, row, paints, (&widths[..N - 2], width));
            continue;
        }
        beside(&mut out, row, paints, &widths);
        write_wrapped(&mut out, &row[N - 1], paints[N - 1], (start, width));
    }
    out
}

/// The first cells of a row, padded to the width of their columns.
fn beside<const N: usize>(out: &mut String, row: &[String; N], paints: [Paint; N], widths: &[usize]) {
    for (column, width) in widths.iter().enumerate() {
        let padding = width - screen::columns(&row[column]) + SPACE;
        *out += &paints[column].paint(&row[column]);
        *out += &" ".repeat(padding);
    }
}

/// Renders a row whose last cell is below the cell before it.
fn stacked<const N: usize>(
    out: &mut String,
    row: &[String; N],
    paints: [Paint; N],
    (widths, width): (&[usize], usize),
) {
    beside(out, row, paints, widths);
    let start: usize = widths.iter().map(|width| width + SPACE).sum();
    write_wrapped(out, &row[N - 2], paints[N - 2], (start, width));
    if !row[N - 1].is_empty() {
        *out += &" ".repeat(start + SPACE);
        write_wrapped(out, &row[N - 1], paints[N - 1], (start + SPACE, width));
    }
}

/// Renders a cell that starts in this column, on as many lines as it needs.
fn write_wrapped(out: &mut String, cell: &str, paint: Paint, (start, width): (usize, usize)) {
    for (index, line) in screen::wrap(cell, width.saturating_sub(start).max(COLUMN_MIN)).iter().enumerate() {
        if index > 0 {
            *out += &" ".repeat(start);
        }
        *out += &paint.paint(line);
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::style::PLAIN;

    fn rows() -> [[String; 3]; 2] {
        let row = |cells: [&str; 3]| cells.map(str::to_owned);
        [row(["dropped", "member of a message at /messages/0", "it is not carried over"]), row(["kept", "model", ""])]
    }

    #[test]
    fn columns_are_side_by_side_if_they_fit() {
        let text = render(&rows(), [PLAIN; 3], 80);
        let expected = "dropped  member of a message at /messages/0  it is not carried over\n\
                        kept     model                               \n";
        assert_eq!(text, expected);
    }

    #[test]
    fn no_line_is_longer_than_the_screen_and_no_word_is_cut() {
        let expected = "dropped  member of a message at\n         /messages/0\n           it is not carried over\n\
                        kept     model\n";
        assert_eq!(render(&rows(), [PLAIN; 3], 40), expected);
    }
}
