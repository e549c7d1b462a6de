//! Kimi CLI: the records of a session, one per line.

mod fold;
mod read;
mod write;

use crate::sample::{Sample, has, says};
use crate::session::{About, FileLayout, Format};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    name: "Kimi CLI",
    what: "a session log of Kimi CLI",
    places: &[SessionFolder::home(".kimi", "sessions", &[".jsonl"])],
    extract: None,
    advice: Program::GIVE_BODY,
    detect,
    session: Some(&FORMAT),
    bodies: None,
};

static FORMAT: Format = Format { document: FileLayout::Lines, read: read::read, write: Some(write::write), resume };

fn resume(about: &About) -> Option<String> {
    about.id.as_ref().filter(|_| !about.is_subagent).map(|id| format!("kimi --session {id}"))
}

fn detect(sample: &Sample<'_>) -> bool {
    let is_header = |record: &_| says(record, "type", &["metadata"]) && has(record, &["protocol_version"]);
    let is_record = |record: &_| says(record, "type", &["context.append_message", "context.append_loop_event"]);
    sample.any(|record| is_header(record) || is_record(record))
}
