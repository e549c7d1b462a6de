//! Lists in columns.

use super::style::Paint;
use crate::screen;

/// Between two columns.
const SPACE: usize = 2;

/// One line per row; every column but the last as wide as its widest cell, the last one
/// wrapped.
pub(crate) fn render<const N: usize>(rows: &[[String; N]], paints: [Paint; N], width: usize) -> String {
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| screen::columns(&row[column]));
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N - 1).map(widest).collect();
    let start: usize = widths.iter().map(|width| width + SPACE).sum();
    let mut out = String::new();
    for row in rows {
        for (column, width) in widths.iter().enumerate() {
            let padding = width - screen::columns(&row[column]) + SPACE;
            out += &paints[column].paint(&row[column]);
            out += &" ".repeat(padding);
        }
        let last = screen::wrap(&row[N - 1], width.saturating_sub(start).max(20));
        for (index, line) in last.iter().enumerate() {
            if index > 0 {
                out += &" ".repeat(start);
            }
            out += &paints[N - 1].paint(line);
            out.push('\n');
        }
    }
    out
}
