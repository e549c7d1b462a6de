//! The records that a repair changes.

use std::fmt::Write as _;

use super::super::repair::faint;
use super::super::style;
use crate::screen;
use crate::stored::RecordChange;

/// The most records that are shown.
const SHOWN_MAX: usize = 20;
/// The columns of the text before the first difference.
const CONTEXT: usize = 24;

/// Counts the changed records; a dry run also shows them, around the first difference.
pub(super) fn changes(all: &[RecordChange], is_dry_run: bool) -> String {
    let count = |fits: fn(&RecordChange) -> bool| all.iter().filter(|change| fits(change)).count();
    let parts = [
        (count(|change| change.before.is_some() && change.after.is_some()), "changed"),
        (count(|change| change.before.is_none()), "added"),
        (count(|change| change.after.is_none()), "removed"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<_> = parts.map(|(count, what)| format!("{} {what}", screen::count(*count, "record"))).collect();
    if parts.is_empty() {
        return String::new();
    }
    let mut out = faint(&parts.join(", "));
    if is_dry_run {
        all.iter().take(SHOWN_MAX).for_each(|change| out += &one(change));
        if all.len() > SHOWN_MAX {
            out += &faint(&format!("  … and {} more", screen::grouped(all.len() - SHOWN_MAX)));
        }
    }
    out
}

fn one(change: &RecordChange) -> String {
    let place = change.place.as_deref().unwrap_or("a new record");
    let mut out = format!("    {}\n", style::STRONG.paint(&screen::printable(place)));
    let sides = [&change.before, &change.after].map(|side| side.as_deref().unwrap_or_default());
    let same = sides[0].chars().zip(sides[1].chars()).take_while(|(one, other)| one == other).count();
    let room = screen::width().saturating_sub("    - ".len());
    for (mark, paint, side) in [("-", style::ERROR, &change.before), ("+", style::GOOD, &change.after)] {
        if let Some(text) = side {
            let start = same.saturating_sub(CONTEXT);
            let rest: String = text.chars().skip(start).take(room).collect();
            let shown = if start > 0 { format!("…{rest}") } else { rest };
            let is_cut = text.chars().count() > start + room;
            let shown = screen::printable(&shown).into_owned() + if is_cut { "…" } else { "" };
            let _ = writeln!(out, "    {}", paint.paint(&format!("{mark} {}", screen::cut(&shown, room))));
        }
    }
    out
}
