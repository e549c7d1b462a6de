//! The lines of `seamline watch`.

use seamline::Finding;
use seamline::files::{Change, CheckedFile};
use serde::Serialize;

use super::record::{Record, record_at};
use super::{json, style};
use crate::failure::Failure;
use crate::{screen, time};

/// Something that happened to a live session.
pub(crate) enum Event<'a> {
    Watching(&'a CheckedFile),
    Broken(&'a Finding),
    Healed(&'a Finding),
    Gone,
    Unreadable(&'a Failure),
}

impl<'a> Event<'a> {
    pub(crate) fn of(change: &'a Change) -> Self {
        match change {
            Change::Broken(finding) => Self::Broken(finding),
            Change::Healed(finding) => Self::Healed(finding),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Watching(_) => "watching",
            Self::Broken(_) => "broken",
            Self::Healed(_) => "healed",
            Self::Gone => "gone",
            Self::Unreadable(_) => "unreadable",
        }
    }
}

/// The line for people. `records` are those of a session that is not one file.
pub(crate) fn text(label: &str, event: &Event<'_>, records: &[Record]) -> String {
    let told = match event {
        Event::Watching(checked) => {
            let count = screen::count(checked.messages, "message");
            format!("watching {} ({}, {count})", screen::printable(label), checked.program.name)
        }
        Event::Broken(finding) => format!("{} {}", style::ERROR.paint("✗"), described(finding, records)),
        Event::Healed(finding) => format!("{} healed: {}", style::GOOD.paint("✓"), described(finding, records)),
        Event::Gone => format!("{} the file is gone; waiting for it", style::WARNING.paint("!")),
        Event::Unreadable(failure) => {
            format!("{} {}; waiting for a change", style::WARNING.paint("!"), screen::printable(&failure.message))
        }
    };
    format!("{} {told}\n", style::FAINT.paint(&clock()))
}

fn described(finding: &Finding, records: &[Record]) -> String {
    let place = match record_at(records, finding.line) {
        Some(record) => format!("{}: ", screen::printable(record.short())),
        None => finding.line.map(|line| format!("line {line}: ")).unwrap_or_default(),
    };
    format!("{place}{} {}: {}", finding.code, finding.name, screen::printable(&finding.message))
}

/// Renders an event as one line of JSON.
pub(crate) fn json(label: &str, event: &Event<'_>) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        version: u8,
        time: String,
        path: &'a str,
        event: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        program: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        finding: Option<&'a Finding>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
    }
    let mut line = Line {
        version: 1,
        time: time::of_ms(time::now()),
        path: label,
        event: event.name(),
        program: None,
        session: None,
        finding: None,
        message: None,
    };
    match event {
        Event::Watching(checked) => {
            (line.program, line.session) = (Some(checked.program.name), checked.about.id.as_deref());
        }
        Event::Broken(finding) | Event::Healed(finding) => line.finding = Some(finding),
        Event::Unreadable(failure) => line.message = Some(&failure.message),
        Event::Gone => {}
    }
    json::line(&line)
}

/// The time of day, in UTC as all printed times.
fn clock() -> String {
    let now = time::of_ms(time::now());
    now.split_once('T').map_or_else(|| now.clone(), |(_, clock)| clock.to_owned())
}
