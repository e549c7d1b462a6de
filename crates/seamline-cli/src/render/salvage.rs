//! The report of what was salvaged.

use std::fmt::Write as _;
use std::path::PathBuf;

use seamline::files::{Leftover, LeftoverKind, Salvaged};

use super::{file, style};
use crate::screen;

/// The most unreadable parts that are listed.
const LISTED_MAX: usize = 8;

/// The new files, and what could not be read.
pub(crate) struct Written<'a> {
    pub(crate) paths: &'a [PathBuf],
    pub(crate) unread: &'a [&'a Leftover],
}

/// The report about a file.
pub(crate) fn text(label: &str, salvaged: &Salvaged<'_>, written: &Written<'_>) -> String {
    let what = match salvaged.program {
        Some(program) => file::described(program, &salvaged.about),
        None if salvaged.body.is_some() => "a request body".to_owned(),
        None => "a file of an unknown format".to_owned(),
    };
    let conversation = match &salvaged.body {
        Some(_) => format!("{} of the conversation", screen::count(salvaged.messages, "message")),
        None => "no conversation was found".to_owned(),
    };
    let count = |kind: LeftoverKind| salvaged.leftovers.iter().filter(|part| part.kind == kind).count();
    let mut parts = vec![conversation];
    for (kind, what) in [(LeftoverKind::Value, "other record"), (LeftoverKind::Text, "text")] {
        parts.extend(Some(count(kind)).filter(|count| *count > 0).map(|count| screen::count(count, what)));
    }
    let findings = match salvaged.findings.len() {
        0 => String::new(),
        count => format!("; {} in the Markdown", screen::count(count, "finding")),
    };
    let left_out =
        salvaged.left_out_text().map(|what| line(&format!("  not in the request body: {what}"))).unwrap_or_default();
    let heading = format!("{}: {what}", style::STRONG.paint(&shown(label)));
    line(&heading) + &line(&format!("  {}{findings}", parts.join(", "))) + &left_out + &ending(written)
}

/// The report about a file that is too long to find its conversation.
pub(crate) fn parts(label: &str, written: &Written<'_>) -> String {
    let heading =
        format!("{}: too long to find its conversation; its values and texts:", style::STRONG.paint(&shown(label)));
    line(&heading) + &ending(written)
}

fn ending(written: &Written<'_>) -> String {
    let mut out = String::new();
    for path in written.paths {
        out += &line(&format!("  written to {}", screen::printable(&path.display().to_string())));
    }
    let bytes: u64 = written.unread.iter().map(|part| part.span.end - part.span.start).sum();
    if bytes > 0 {
        let mark = style::WARNING.paint("could not be read");
        out += &line(&format!("  {} {mark}:", screen::bytes(bytes)));
        for part in written.unread.iter().take(LISTED_MAX) {
            let _ = writeln!(out, "    line {}, bytes {} to {}", part.line, part.span.start, part.span.end);
        }
        if written.unread.len() > LISTED_MAX {
            let more = screen::grouped(written.unread.len() - LISTED_MAX);
            let _ = writeln!(out, "    and {more} more; the Markdown names them all");
        }
    }
    out
}

fn shown(label: &str) -> String {
    screen::printable(if label == "-" { "standard input" } else { label }).into_owned()
}

fn line(text: &str) -> String {
    screen::sentence(text, screen::width()) + "\n"
}
