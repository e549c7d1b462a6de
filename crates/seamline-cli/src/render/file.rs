//! Session files, for people.

mod records;

use std::path::{Path, PathBuf};

use seamline::Severity;
use seamline::files::{About, CheckedFile, Format, Program, RepairedFile};

use super::line_changes::LineChanges;
use super::repair::{Destination, faint};
use super::style;
use super::text::line;
use crate::failure::quoted;
use crate::files::places;
use crate::screen;
use crate::stored::RepairedStored;

/// The columns of a title.
const TITLE_COLUMNS: usize = 60;

/// Describes a session file: the text above its findings.
pub(crate) fn introduction(label: &str, checked: &CheckedFile) -> String {
    let counts = format!(
        "{}, {}, {}",
        screen::count(checked.records, "record"),
        screen::count(checked.messages, "message"),
        screen::count(checked.calls, "call")
    );
    let name = style::STRONG.paint(&screen::printable(if label == "-" { "standard input" } else { label }));
    line(&format!(
        "{name}: {} {}",
        described(checked.program, &checked.about),
        style::FAINT.paint(&format!("({counts})"))
    )) + "\n"
}

/// A session by its program, its id and its title.
pub(crate) fn described(program: &Program, about: &About) -> String {
    let mut text = program.what.to_owned();
    if let Some(id) = &about.id {
        text = format!("{text}, session {}", screen::printable(id));
    }
    if let Some(title) = &about.title {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        text = format!("{text}, “{}”", screen::cut(&screen::printable(&title), TITLE_COLUMNS));
    }
    text
}

/// The outcome of the repair of a session file.
pub(crate) struct FileOutcome<'a> {
    pub(crate) repaired: &'a RepairedFile<'a>,
    /// The conversation after the repair, as a request body.
    pub(crate) after: &'a [u8],
    /// The lines that the repair changes, in a file with one record per line.
    pub(crate) lines: Option<LineChanges>,
    /// The records, and those that the repair changes, of a session that is not one file.
    pub(crate) stored: Option<&'a RepairedStored>,
    /// The path of the bytes that belong to no record, if they were stored.
    pub(crate) quarantine: Option<PathBuf>,
    /// The command that continues the session.
    pub(crate) resume: Option<String>,
}

impl<'a> FileOutcome<'a> {
    /// The outcome for a file with this name.
    pub(crate) fn of(repaired: &'a RepairedFile<'a>, before: &[u8], name: &str) -> Self {
        let has_lines = repaired.program.has_lines();
        Self {
            repaired,
            after: repaired.after.as_bytes(),
            lines: (has_lines && repaired.is_changed()).then(|| LineChanges::of(before, &repaired.bytes)),
            stored: None,
            quarantine: None,
            resume: resume(repaired.program.session, &repaired.about, name),
        }
    }

    /// The outcome for a session in records, with the command that continues it.
    pub(crate) fn of_records(stored: &'a RepairedStored, resume: Option<String>) -> Self {
        let repaired = &stored.repaired;
        Self { repaired, after: repaired.after.as_bytes(), lines: None, stored: Some(stored), quarantine: None, resume }
    }

    /// Whether the repair changes what the program would send, and not only the lines of the file.
    pub(crate) fn changes_conversation(&self) -> bool {
        // A file with many bodies has no single conversation.
        self.repaired.before != self.repaired.after || self.repaired.program.bodies.is_some()
    }
}

/// The place of the path in the command of a program.
const FILE: &str = "{FILE}";

/// The command that continues a session in its program. Many programs look for sessions of the folder they are started in.
pub(crate) fn resume(format: Option<&Format>, about: &About, name: &str) -> Option<String> {
    let format = format?;
    let command = format.resume(about)?;
    // Standard input has no file.
    if name == "-" && command.contains(FILE) {
        return None;
    }
    let told = about.folder.clone().or_else(|| places::project_of(format, Path::new(name)));
    let Some(folder) = told.as_deref().filter(|folder| Path::new(folder).is_absolute()) else {
        return Some(command.replace(FILE, &quoted(name)));
    };
    let path = std::path::absolute(name).map_or_else(|_| name.to_owned(), |path| path.display().to_string());
    Some(format!("cd {} && {}", quoted(folder), command.replace(FILE, &quoted(&path))))
}

/// Describes the changes of a repair to the lines of the file, and the place of the bytes that belong to no record.
pub(super) fn account(file: &FileOutcome<'_>, is_dry_run: bool) -> String {
    let mut out = String::new();
    if let Some(lines) = &file.lines {
        let parts = [(lines.changed, "changed"), (lines.added, "added"), (lines.removed, "removed")];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<_> = parts.map(|(count, what)| format!("{} {what}", screen::count(*count, "line"))).collect();
        let loses = file.repaired.quarantined.iter().any(|part| !part.is_repeated);
        let same = if file.changes_conversation() || loses { "" } else { "; the conversation stays as it is" };
        if !parts.is_empty() {
            out += &faint(&format!("{}{same}", parts.join(", ")));
        }
    }
    if let Some(stored) = file.stored {
        out += &records::changes(&stored.changes, is_dry_run);
    }
    let bytes: usize = file.repaired.quarantined.iter().map(|part| part.bytes.len()).sum();
    if bytes > 0 {
        let size = screen::bytes(bytes as u64);
        let copies = file.repaired.quarantined.iter().all(|part| part.is_repeated);
        let what = if copies { "all of it is in the file again" } else { "no program can read it" };
        let place = match (&file.quarantine, is_dry_run) {
            (Some(path), _) => format!("is in {}", path.display()),
            (None, true) => "would be kept beside the old bytes".to_owned(),
            (None, false) => "is left out".to_owned(),
        };
        out += &faint(&format!("{size} of incomplete records ({what}) {place}"));
    }
    out
}

/// Names the next command for a session file.
pub(super) fn advice(file: &FileOutcome<'_>, destination: &Destination<'_>) -> String {
    let repaired = file.repaired;
    let is_healthy = repaired.remaining.iter().all(|finding| finding.severity < Severity::Error);
    match (&file.resume, repaired.refusal, destination) {
        (_, Some(_), Destination::InPlace(path) | Destination::File(path)) => {
            let path = quoted(&path.display().to_string());
            line(&format!("hint: `seamline salvage {path}` writes everything readable, and the conversation as a body"))
        }
        (Some(command), None, Destination::InPlace(_)) if repaired.is_changed() && is_healthy => {
            line(&format!("  continue with `{}`", screen::printable(command)))
        }
        (None, None, Destination::InPlace(_)) if repaired.is_changed() && is_healthy => {
            repaired.program.next_step().map(|step| line(&format!("  to continue, {step}"))).unwrap_or_default()
        }
        _ => String::new(),
    }
}
