//! The table of programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::style;
use super::Numbers;
use crate::screen;

/// The most columns of the name of a program.
const NAME_COLUMNS_MAX: usize = 20;
/// The headings of the numbers; the last one only after repairs.
const HEADINGS: [&str; 4] = ["sessions", "healthy", "broken", "repaired"];
/// The least columns of the last column.
const LAST_MIN: usize = 20;

/// One line per program: how many sessions it has, how many are healthy and broken, and what is wrong with them.
pub(super) fn render(programs: &BTreeMap<&'static str, Numbers>, is_fix: bool, width: usize) -> String {
    let headings = if is_fix { &HEADINGS[..] } else { &HEADINGS[..3] };
    let names: Vec<_> = programs.keys().map(|name| screen::cut(name, NAME_COLUMNS_MAX)).collect();
    let name_columns = names.iter().map(|name| screen::columns(name)).max().unwrap_or(0).max("program".len());
    let start = name_columns + headings.iter().map(|heading| heading.len() + 2).sum::<usize>() + 2;
    let mut out = String::new();
    let heading = format!("{:name_columns$}  {}  what is wrong", "program", headings.join("  "));
    let _ = writeln!(out, "{}", style::FAINT.paint(&heading));
    for (name, numbers) in names.iter().zip(programs.values()) {
        let gap = " ".repeat(name_columns - screen::columns(name));
        let cells = [numbers.sessions, numbers.healthy, numbers.broken, numbers.fixed];
        let mut row = format!("{}{gap}", style::STRONG.paint(name));
        for ((index, count), heading) in cells.iter().enumerate().zip(headings) {
            let cell = format!("{:>1$}", screen::grouped(*count), heading.len());
            let paint = match (index, *count) {
                (_, 0) => style::FAINT,
                (2, _) => style::ERROR,
                (3, _) => style::GOOD,
                _ => style::PLAIN,
            };
            let _ = write!(row, "  {}", paint.paint(&cell));
        }
        let room = width.saturating_sub(start).max(LAST_MIN);
        for (index, text) in screen::wrap(&about(numbers), room).iter().enumerate() {
            let before = if index == 0 { std::mem::take(&mut row) } else { " ".repeat(start - 2) };
            let _ = writeln!(out, "{}", format!("{before}  {text}").trim_end());
        }
    }
    out
}

/// The damage of the sessions of a program, and the possible repairs.
fn about(numbers: &Numbers) -> String {
    let mut kinds: Vec<_> = numbers.kinds.iter().collect();
    kinds.sort_by(|(_, one), (_, other)| other.cmp(one));
    let kinds: Vec<_> = kinds.iter().map(|(kind, count)| format!("{} {kind}", screen::grouped(**count))).collect();
    let mut parts = Vec::new();
    if !kinds.is_empty() {
        parts.push(kinds.join(", "));
    }
    match (numbers.broken, numbers.fixable) {
        (0, _) => {}
        (broken, _) if numbers.fixed == broken => parts.push("repaired".to_owned()),
        _ if numbers.fixed > 0 => parts.push(format!("{} repaired", screen::grouped(numbers.fixed))),
        (_, 0) => parts.push("cannot be repaired".to_owned()),
        (broken, fixable) if broken == fixable => parts.push("can be repaired".to_owned()),
        (_, fixable) => parts.push(format!("{} can be repaired", screen::grouped(fixable))),
    }
    if numbers.unread > 0 {
        parts.push(format!("{} that Seamline does not read", screen::count(numbers.unread, "file")));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_aligned_and_the_last_column_is_wrapped() {
        let kinds = BTreeMap::from([("glued-records", 2), ("unanswered-call", 12)]);
        let broken = Numbers { sessions: 1128, healthy: 1115, broken: 13, fixable: 13, kinds, ..Numbers::default() };
        let programs =
            BTreeMap::from([("Claude Code", broken), ("goose", Numbers { unread: 3, ..Numbers::default() })]);
        let text = anstream::adapter::strip_str(&render(&programs, false, 70)).to_string();
        let expected = "\
program      sessions  healthy  broken  what is wrong
Claude Code     1,128    1,115      13  12 unanswered-call, 2
                                        glued-records; can be repaired
goose               0        0       0  3 files that Seamline does not
                                        read
";
        assert_eq!(text, expected);
    }
}
