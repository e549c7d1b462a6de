//! The report of a conversion, for people and programs.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use seamline::Finding;
use seamline::convert::{ConversionLoss, Converted, Rename, Side};
use seamline::repair::RepairAction;
use seamline::report::ConversionOutcome;
use serde::Serialize;

use super::text::counted;
use super::{Counts, json, repair, style, table};
use crate::screen;

/// The most rows under one heading; `--report` lists all.
const SHOWN_MAX: usize = 50;
const INDENT: &str = "  ";

/// The programs on both sides of a conversion, where the sides are sessions.
pub(crate) struct Way<'a> {
    pub(crate) from: Option<&'a str>,
    pub(crate) to: Option<&'a str>,
    /// The new session file, if there is one.
    pub(crate) file: Option<&'a NewFile>,
}

/// A new session file.
#[derive(Serialize)]
pub(crate) struct NewFile {
    pub(crate) agent: &'static str,
    pub(crate) id: String,
    /// Where the program looks for it.
    pub(crate) place: PathBuf,
    /// The command that continues it.
    pub(crate) resume: Option<String>,
    #[serde(rename = "installed")]
    pub(crate) is_installed: bool,
}

/// The report for programs.
pub(crate) fn json(label: &str, converted: &Converted, way: &Way<'_>) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        path: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        program: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<&'a NewFile>,
        #[serde(flatten)]
        outcome: ConversionOutcome<'a>,
    }
    json::text(&Document { path: label, program: way.from, session: way.file, outcome: converted.report().outcome })
}

/// The report for people, in lines of this width.
pub(crate) fn text(label: &str, converted: &Converted, (is_dry_run, width): (bool, usize), sides: &Way<'_>) -> String {
    let width = width.saturating_sub(2 * INDENT.len());
    let section = |out: &mut String, heading: &str, rows: &[[String; 3]], paints| {
        section(out, heading, &table::render(&rows[..rows.len().min(SHOWN_MAX)], paints, width), rows.len());
    };
    let is_wrong = Counts::of(&converted.remaining).is_wrong();
    let mark = if is_wrong { style::ERROR.paint("✗") } else { style::GOOD.paint("✓") };
    let label = screen::printable(if label == "-" { "standard input" } else { label });
    let named = |program: Option<&str>, other: &Side| program.map_or_else(|| side(other), str::to_owned);
    let way = format!("{} → {}", named(sides.from, &converted.from), named(sides.to, &converted.to));
    let messages = screen::count(converted.messages, "message");
    let mut out = format!("{mark} {}: {way}; {messages}\n", style::STRONG.paint(&label));
    section(&mut out, "fixed first", &repairs(&converted.repairs), [style::HINT, style::FAINT, style::PLAIN]);
    section(&mut out, heading(is_dry_run), &lost(&converted.lost), [style::WARNING, style::PLAIN, style::FAINT]);
    let renamed = [renames("call", &converted.ids), renames("tool", &converted.tools)].concat();
    section(&mut out, "renamed", &renamed, [style::FAINT, style::PLAIN, style::CODE]);
    let adjusted = repairs(&converted.adjustments);
    section(&mut out, "fixed for the target", &adjusted, [style::HINT, style::FAINT, style::PLAIN]);
    let _ = writeln!(out, "\n{INDENT}{}", style::FAINT.paint(&verdict(converted, sides)));
    if is_wrong {
        section(&mut out, "still wrong", &remaining(&converted.remaining), [style::ERROR, style::FAINT, style::PLAIN]);
        let _ = writeln!(out, "{INDENT}{}", counted(Counts::of(&converted.remaining)));
    }
    out
}

fn heading(is_dry_run: bool) -> &'static str {
    if is_dry_run { "would be changed or dropped" } else { "changed or dropped" }
}

fn side(side: &Side) -> String {
    match side.provider {
        Some(provider) => format!("{} for {provider}", side.dialect),
        None => side.dialect.to_owned(),
    }
}

/// The verdict on the new body, in one line.
fn verdict(converted: &Converted, sides: &Way<'_>) -> String {
    let new = if sides.to.is_some() { "session" } else { "body" };
    let whole = if converted.is_complete() { "nothing is left out, and " } else { "" };
    format!("{whole}the new {new} was checked")
}

/// Where a new session is or has to go, and how to continue it.
pub(crate) fn advice(file: &NewFile, width: usize) -> String {
    let place = screen::printable(&file.place.display().to_string()).into_owned();
    let mut lines = if file.is_installed {
        vec![format!("written to {place}")]
    } else {
        vec![format!("{} looks for it in {place}", file.agent), "`--install` writes it there".to_owned()]
    };
    lines.extend(file.resume.as_ref().map(|command| format!("continue with `{}`", screen::printable(command))));
    let line = |line: &String| screen::sentence(&format!("{INDENT}{line}"), width) + "\n";
    lines.iter().map(line).collect()
}

fn section(out: &mut String, heading: &str, table: &str, count: usize) {
    if count == 0 {
        return;
    }
    let _ = writeln!(out, "\n{INDENT}{}", style::STRONG.paint(heading));
    for line in table.lines() {
        let _ = writeln!(out, "{INDENT}{INDENT}{line}");
    }
    if count > SHOWN_MAX {
        let more = screen::grouped(count - SHOWN_MAX);
        let _ = writeln!(out, "{INDENT}{INDENT}… and {more} more; `--report FILE` lists every one");
    }
}

/// How many places of one loss are listed. `--report` lists all.
const PLACES_MAX: usize = 3;

/// The losses, in their order. Those that differ in their places only share a row.
fn lost(lost: &[ConversionLoss]) -> Vec<[String; 3]> {
    let mut groups: Vec<(&ConversionLoss, Vec<&str>)> = Vec::new();
    let mut known: HashMap<(&str, &str, &str), usize> = HashMap::new();
    for one in lost {
        let place = Some(one.pointer.as_str()).filter(|pointer| !pointer.is_empty());
        let group = *known.entry((one.fate.as_str(), &one.what, &one.note)).or_insert(groups.len());
        match groups.get_mut(group) {
            Some((_, places)) => places.extend(place),
            None => groups.push((one, place.into_iter().collect())),
        }
    }
    let row = |(lost, places): &(&ConversionLoss, Vec<&str>)| {
        let what = match places.as_slice() {
            [] => lost.what.clone(),
            [one] => format!("{} at {one}", lost.what),
            several => {
                let count = screen::grouped(several.len());
                let shown = several.iter().take(PLACES_MAX).copied().collect::<Vec<_>>().join(", ");
                let more = if several.len() > PLACES_MAX { ", …" } else { "" };
                format!("{}, {count} times: at {shown}{more}", lost.what)
            }
        };
        let printable = |text: &str| screen::printable(text).into_owned();
        [lost.fate.as_str().replace('_', " "), printable(&what), printable(&lost.note)]
    };
    groups.iter().map(row).collect()
}

fn renames(what: &str, renames: &[Rename]) -> Vec<[String; 3]> {
    let printable = |text: &str| screen::printable(text).into_owned();
    renames.iter().map(|pair| [what.to_owned(), printable(&pair.from), format!("→ {}", printable(&pair.to))]).collect()
}

fn repairs(actions: &[RepairAction]) -> Vec<[String; 3]> {
    actions.iter().map(repair::row).collect()
}

fn remaining(findings: &[Finding]) -> Vec<[String; 3]> {
    let row = |finding: &Finding| {
        let message = screen::printable(&finding.message).into_owned();
        [finding.code.to_owned(), finding.pointer.clone(), message]
    };
    findings.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_the_screen() {
        let body = r#"{"model":"gpt-4o","seed":7,"messages":[{"role":"user","name":"ada","content":"a"},
            {"role":"assistant","content":null,"tool_calls":[{"id":"functions.read_all_of_it:0","type":"function",
                "function":{"name":"read","arguments":"now"}}]}]}"#;
        for to in ["anthropic", "gemini", "bedrock", "mistral"] {
            let options = seamline::convert::ConvertOptions { to: to.to_owned(), ..Default::default() };
            let converted = seamline::convert(body.as_bytes(), &options).unwrap();
            for width in [60, 80, 100] {
                let text = text("body.json", &converted, (true, width), &Way { from: None, to: None, file: None });
                let text = anstream::adapter::strip_str(&text).to_string();
                // The first line contains the name of the body, which may be long.
                for line in text.lines().skip(1) {
                    assert!(screen::columns(line) <= width, "{to}, {width}: {line}");
                }
            }
        }
    }
}
