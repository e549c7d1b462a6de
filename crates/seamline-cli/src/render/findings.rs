//! Findings for people.

use std::fmt::Write as _;

use seamline::{Finding, Safety};

use super::excerpt::Excerpts;
use super::lines::Lines;
use super::record::{Record, record_at};
use super::style::{self, Paint};
use super::{Examined, Places, conversation};
use crate::screen;

/// The most findings of one body, unless the user asks for all. More would hide the first.
pub(crate) const SHOWN_MAX: usize = 50;
/// The columns of the box around an excerpt.
const BOX_COLUMNS: usize = 4;
/// The indentation of the further lines of a note.
const HANG: &str = "  ";

/// How many findings of a body are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    First,
    All,
}

/// Draws the findings of one body, each with its excerpt of the conversation.
pub(crate) fn render(examined: &Examined<'_>, extent: Extent, width: usize) -> String {
    let count = match extent {
        Extent::First => SHOWN_MAX.min(examined.findings.len()),
        Extent::All => examined.findings.len(),
    };
    let shown = &examined.findings[..count];
    let excerpts = Excerpts::load(examined, shown);
    let lines = Lines::new(examined.body);
    let mut out = String::new();
    for finding in shown {
        let position = lines.position(finding.span.start);
        let place = match (examined.places, finding.line) {
            (Places::Body, _) => format!("{}:{}:{}", examined.label, position.line, position.column),
            (Places::File, Some(line)) => format!("{}:{line}", examined.label),
            (Places::Records(records), line) => {
                record_at(records, line).map_or_else(|| examined.label.to_owned(), Record::whole)
            }
            (Places::File, None) | (Places::Joined, _) => examined.label.to_owned(),
        };
        out += &one(finding, &place, &excerpts, width);
        out.push('\n');
    }
    let hidden = &examined.findings[count..];
    if !hidden.is_empty() {
        out += &rest(hidden, width);
    }
    for finding in shown.iter().filter(|finding| finding.more > 0) {
        let more = format!("… and {} more: {} {}", screen::grouped(finding.more), finding.code, finding.name);
        let _ = writeln!(out, "{}\n", screen::wrap(&more, width).join("\n"));
    }
    out
}

fn one(finding: &Finding, place: &str, excerpts: &Excerpts, width: usize) -> String {
    let paint = style::severity(finding.severity);
    let mut out = heading(finding, width);
    let bar = |corner: &str| style::LINE.paint(corner);
    let _ = writeln!(out, "  {}", bar_place(place, finding, width));
    let inner = width.saturating_sub(BOX_COLUMNS);
    let rows = conversation::draw(&excerpts.rows(finding), paint, inner);
    if !rows.is_empty() {
        let _ = writeln!(out, "  {}", bar("│"));
        for row in rows {
            let _ = writeln!(out, "  {} {row}", bar("│"));
        }
        let _ = writeln!(out, "  {}", bar("│"));
    }
    out += &notes(&notes_of(finding), width);
    out
}

/// A labelled note below an excerpt.
struct Note {
    label: &'static str,
    paint: Paint,
    text: String,
}

fn notes_of(finding: &Finding) -> Vec<Note> {
    let mut notes = Vec::new();
    notes.extend(finding.predicts.as_ref().map(|text| Note {
        label: "the provider would return:",
        paint: style::WARNING,
        text: text.clone(),
    }));
    notes.push(match &finding.fix {
        Some(fix) => {
            Note { label: "fix:", paint: style::safety(fix.safety), text: format!("{}{}", fix.title, cost(fix.safety)) }
        }
        None => Note { label: "fix:", paint: style::FAINT, text: "none known".to_owned() },
    });
    notes
}

fn heading(finding: &Finding, width: usize) -> String {
    let severity = format!("{}[{}]", finding.severity.as_str(), finding.code);
    let start = format!("{severity} {}:", finding.name);
    let painted =
        format!("{} {}:", style::severity(finding.severity).paint(&severity), style::STRONG.paint(finding.name));
    let text = format!("{start} {}", screen::printable(&finding.message));
    let mut out = String::new();
    for (index, line) in screen::wrap(&text, width.saturating_sub(HANG.len())).iter().enumerate() {
        let _ = match line.strip_prefix(&start) {
            Some(rest) if index == 0 => writeln!(out, "{painted}{rest}"),
            _ => writeln!(out, "{HANG}{line}"),
        };
    }
    out
}

/// The corner of the box with the place, on two lines if one is too short.
fn bar_place(place: &str, finding: &Finding, width: usize) -> String {
    let corner = style::LINE.paint("╭─");
    let place = screen::printable(place);
    let mut parts = Vec::new();
    parts.extend(finding.message_index.map(|index| format!("message {index}")));
    parts.extend(finding.block_index.map(|index| format!("block {index}")));
    if !finding.pointer.is_empty() {
        parts.push(finding.pointer.clone());
    }
    let inside = parts.join(" · ");
    if inside.is_empty() {
        return format!("{corner} {place}");
    }
    if BOX_COLUMNS + 1 + screen::columns(&place) + 3 + inside.len() <= width {
        return format!("{corner} {place} {}", style::FAINT.paint(&format!("· {inside}")));
    }
    format!("{corner} {place}\n  {}  {}", style::LINE.paint("│"), style::FAINT.paint(&inside))
}

/// The notes that close the box, each wrapped beside its label.
fn notes(notes: &[Note], width: usize) -> String {
    let mut out = String::new();
    for (position, note) in notes.iter().enumerate() {
        let is_last = position + 1 == notes.len();
        let text = format!("{} {}", note.label, screen::printable(&note.text));
        let room = width.saturating_sub(BOX_COLUMNS + HANG.len());
        for (index, line) in screen::wrap(&text, room).iter().enumerate() {
            let corner = match (index, is_last) {
                (0, true) => "╰",
                (0, false) => "├",
                (_, true) => " ",
                (_, false) => "│",
            };
            let line = match line.strip_prefix(note.label) {
                Some(rest) if index == 0 => format!("{}{rest}", note.paint.paint(note.label)),
                _ => format!("{HANG}{line}"),
            };
            let _ = writeln!(out, "  {} {line}", style::LINE.paint(corner));
        }
    }
    out
}

fn cost(safety: Safety) -> &'static str {
    match safety {
        Safety::Safe => " (safe)",
        Safety::Unsafe => " (unsafe)",
        Safety::Unknown => " (only with --unsafe)",
        Safety::DisplayOnly => " (shown only)",
    }
}

/// Counts the hidden findings by rule.
fn rest(hidden: &[Finding], width: usize) -> String {
    let mut by_rule: Vec<(&str, &str, usize)> = Vec::new();
    for finding in hidden {
        match by_rule.iter_mut().find(|(code, ..)| *code == finding.code) {
            Some((.., count)) => *count += 1 + finding.more,
            None => by_rule.push((finding.code, finding.name, 1 + finding.more)),
        }
    }
    let listed: Vec<_> =
        by_rule.iter().map(|(code, name, count)| format!("{} {code} {name}", screen::grouped(*count))).collect();
    let text = format!(
        "… and {} more: {}; `--all` shows them, `--format json` lists them",
        screen::grouped(hidden.iter().map(|finding| 1 + finding.more).sum()),
        listed.join(", ")
    );
    screen::wrap(&text, width).join("\n") + "\n\n"
}
