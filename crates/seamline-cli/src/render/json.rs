//! The reports of a check and a repair, for programs.

use std::fmt::Write as _;

use seamline::Finding;
use seamline::check::Checked;
use seamline::files::CheckedFile;
use seamline::repair::Loss;
use seamline::repair::{Dropped, RepairAction, Repaired};
use seamline::report::RepairOutcome;
use serde::Serialize;

use super::file::FileOutcome;
use super::line_changes::LineChanges;
use crate::failure::Failure;
use crate::screen;

/// The text before and after the documents.
pub(crate) const OPENING: &str = "{\"version\":1,\"documents\":[";
pub(crate) const CLOSING: &str = "]}\n";

/// A body that was checked.
pub(crate) fn checked(label: &str, checked: &Checked) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        path: &'a str,
        #[serde(flatten)]
        checked: &'a Checked,
    }
    let path = label;
    text(&Document { path, checked })
}

/// A session file that was checked.
pub(crate) fn checked_file(label: &str, checked: &CheckedFile) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        path: &'a str,
        session: Option<&'a str>,
        #[serde(flatten)]
        checked: &'a CheckedFile,
    }
    text(&Document { path: label, session: checked.about.id.as_deref(), checked })
}

/// A body that was repaired.
pub(crate) fn repaired(label: &str, repaired: &Repaired<'_>) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        path: &'a str,
        #[serde(flatten)]
        outcome: RepairOutcome<'a>,
    }
    text(&Document { path: label, outcome: repaired.report().outcome })
}

/// A session file that was repaired.
pub(crate) fn repaired_file(label: &str, file: &FileOutcome<'_>) -> String {
    #[derive(Serialize)]
    struct Part {
        line: usize,
        bytes: usize,
        is_repeated: bool,
    }
    #[derive(Serialize)]
    struct ChangedRecord<'a> {
        place: Option<&'a str>,
        change: &'static str,
    }
    #[derive(Serialize)]
    struct Quarantine {
        path: Option<String>,
        parts: Vec<Part>,
    }
    #[derive(Serialize)]
    struct Document<'a> {
        path: &'a str,
        program: &'static str,
        session: Option<&'a str>,
        changed: bool,
        lossless: bool,
        refusal: Option<&'static str>,
        lines: Option<&'a LineChanges>,
        #[serde(skip_serializing_if = "Option::is_none")]
        records: Option<Vec<ChangedRecord<'a>>>,
        actions: &'a [RepairAction],
        dropped: &'a [Dropped],
        quarantine: Option<Quarantine>,
        remaining: &'a [Finding],
        resume: Option<&'a str>,
    }
    let repaired = file.repaired;
    let parts: Vec<_> = repaired
        .quarantined
        .iter()
        .map(|part| Part { line: part.line, bytes: part.bytes.len(), is_repeated: part.is_repeated })
        .collect();
    let is_lossless =
        parts.iter().all(|part| part.is_repeated) && repaired.dropped.iter().all(|dropped| dropped.loss != Loss::Said);
    let path = file.quarantine.as_ref().map(|path| path.display().to_string());
    text(&Document {
        path: label,
        program: repaired.program.name,
        session: repaired.about.id.as_deref(),
        changed: repaired.is_changed(),
        lossless: is_lossless,
        refusal: repaired.refusal,
        lines: file.lines.as_ref(),
        records: file.stored.map(|stored| {
            let changes = stored.changes.iter();
            changes.map(|one| ChangedRecord { place: one.place.as_deref(), change: one.kind() }).collect()
        }),
        actions: &repaired.actions,
        dropped: &repaired.dropped,
        quarantine: (!parts.is_empty()).then_some(Quarantine { path, parts }),
        remaining: &repaired.remaining,
        resume: file.resume.as_deref(),
    })
}

/// A body that could not be read or written.
pub(crate) fn failed(label: &str, failure: &Failure) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        path: &'a str,
        error: &'a Failure,
    }
    text(&Document { path: label, error: failure })
}

/// A list under its name, as the listing commands print it.
pub(crate) fn listing(name: &str, list: &impl Serialize) -> String {
    format!("{{\"version\":1,{}:{}}}\n", text(&name), text(list))
}

/// An object on a line of its own.
pub(crate) fn line(value: &impl Serialize) -> String {
    text(value) + "\n"
}

/// Our own structures always become JSON: their keys are strings, and serialization cannot fail. Characters that a terminal
/// obeys are escaped.
pub(crate) fn text(value: &impl Serialize) -> String {
    escaped(serde_json::to_string(value).unwrap_or_default())
}

/// Escapes the characters that a terminal obeys and JSON need not escape. They can only be in strings.
fn escaped(json: String) -> String {
    let is_unsafe = |char: char| !char.is_ascii_graphic() && char > ' ' && screen::is_obeyed(char);
    if !json.contains(is_unsafe) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for char in json.chars() {
        if is_unsafe(char) {
            // All of them are in the first plane, so one escape is enough.
            let _ = write!(out, "\\u{:04x}", u32::from(char));
        } else {
            out.push(char);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_a_terminal_obeys_are_escaped() {
        let said = "a\u{9b}31m\u{7f}\u{202e}\u{2066}\u{85}\n\u{e9}\u{1f600}";
        let written = text(&said);
        assert_eq!(written, "\"a\\u009b31m\\u007f\\u202e\\u2066\\u0085\\n\u{e9}\u{1f600}\"");
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), said);
    }
}
