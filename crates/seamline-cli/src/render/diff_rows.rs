//! The lines of a diff.

use std::fmt::Write as _;

use seamline::outline::OutlineBlock;

use super::conversation::own_id;
use super::style::{self, Paint};
use crate::screen;

const ROLE_COLUMNS: usize = 9;
/// The most lines of a block that was added or removed.
const LINES_MAX: usize = 3;
const TEXT_COLUMNS_MIN: usize = 16;

/// The change of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Same,
    /// Only the old body has it.
    Before,
    /// Only the new body has it.
    After,
}

/// One block of a diff.
pub(crate) struct Row<'o> {
    pub(crate) sign: Sign,
    pub(crate) place: RowHead,
    /// The block; `None` for an empty message.
    pub(crate) block: Option<&'o OutlineBlock>,
    /// The member that came or went, with its value.
    pub(crate) field: Option<String>,
    /// The message that it moved to or from.
    pub(crate) moved: Option<usize>,
}

/// The message that a row starts; empty for further blocks of a message.
#[derive(Default)]
pub(crate) struct RowHead {
    pub(crate) before: Option<usize>,
    pub(crate) after: Option<usize>,
    pub(crate) role: Option<&'static str>,
}

/// Draws the rows, at most `width` columns wide.
pub(crate) fn draw(rows: &[Row<'_>], width: usize) -> String {
    let digits = |index: Option<usize>| index.map_or(1, |index| index.to_string().len());
    let number = rows.iter().map(|row| digits(row.place.before).max(digits(row.place.after))).max().unwrap_or(1);
    let kind = rows.iter().map(|row| kind_of(row).len()).max().unwrap_or(0);
    // Two blanks, the sign, both numbers, the role, the kind, and the gaps between them.
    let start = 4 + (2 * number + 1) + 2 + (ROLE_COLUMNS + 2) + kind + 1;
    let text = width.saturating_sub(start).max(TEXT_COLUMNS_MIN);
    let mut out = String::new();
    for row in rows {
        out += &one(row, [number, kind, text], start);
    }
    out
}

fn one(row: &Row<'_>, [number, kind, text]: [usize; 3], start: usize) -> String {
    let (sign, paint) = match (row.sign, row.moved) {
        (Sign::Same, _) => (" ", style::FAINT),
        (Sign::Before, None) => ("-", style::REMOVED),
        (Sign::After, None) => ("+", style::ADDED),
        (Sign::Before, Some(_)) => ("-", style::CHANGED),
        (Sign::After, Some(_)) => ("+", style::CHANGED),
    };
    let shown = |index: Option<usize>| index.map_or(String::new(), |index| index.to_string());
    let numbers = format!("{:>number$} {:>number$}", shown(row.place.before), shown(row.place.after));
    let head = format!("{:<ROLE_COLUMNS$}  {:<kind$}", row.place.role.unwrap_or(""), kind_of(row));
    let mut lines = said(row, text).into_iter();
    let mut out = format!(
        "  {} {} {} {}\n",
        paint.paint(sign),
        style::FAINT.paint(&numbers),
        paint.paint(&format!(" {head}")),
        lines.next().map(|line| painted(&line, row, paint)).unwrap_or_default()
    );
    for line in lines {
        let _ = writeln!(out, "  {}{}{}", paint.paint(sign), " ".repeat(start - 3), painted(&line, row, paint));
    }
    out
}

fn kind_of(row: &Row<'_>) -> &'static str {
    if row.field.is_some() { "field" } else { row.block.map_or("", |block| block.kind.as_str()) }
}

fn painted(line: &str, row: &Row<'_>, paint: Paint) -> String {
    let note = note(row);
    match line.strip_suffix(&note) {
        Some(rest) if !note.is_empty() => paint.paint(rest) + &style::FAINT.paint(&note),
        _ => paint.paint(line),
    }
}

/// The message that a block moved to or from.
fn note(row: &Row<'_>) -> String {
    match (row.sign, row.moved) {
        (Sign::Before, Some(index)) => format!(" → {index}"),
        (Sign::After, Some(index)) => format!(" ← {index}"),
        _ => String::new(),
    }
}

/// The text of a block; on several lines if the block was added or removed.
fn said(row: &Row<'_>, columns: usize) -> Vec<String> {
    let names = row.block.map(|block| [block.name.as_deref(), own_id(block), Some(block.preview.as_str())]);
    let names = names.into_iter().flatten().flatten().filter(|name| !name.is_empty());
    let text = match (&row.field, names.collect::<Vec<_>>().join(" ")) {
        (Some(field), _) => field.clone(),
        (None, text) if text.is_empty() => "empty".to_owned(),
        (None, text) => text,
    };
    let text = screen::printable(&text);
    if row.sign == Sign::Same || row.moved.is_some() {
        let note = note(row);
        let room = columns.saturating_sub(screen::columns(&note));
        return vec![screen::cut(&text, room).into_owned() + &note];
    }
    let mut lines = screen::wrap(&text, columns);
    if lines.len() > LINES_MAX {
        lines.truncate(LINES_MAX);
        if let Some(last) = lines.last_mut() {
            // One column for the sign that more text follows.
            let room = columns.saturating_sub(1);
            *last = screen::cut(last, room).trim_end_matches('…').to_owned() + "…";
        }
    }
    lines
}
