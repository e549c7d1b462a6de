//! Kimi CLI: the records of a session, one per line.

mod fold;
mod read;
mod write;

use crate::sample::{Sample, has, says};
use crate::session::{About, Format};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    places: &[SessionFolder::home(".kimi", "sessions", &[".jsonl"])],
    ..Program::of_sessions("Kimi CLI", "a session log of Kimi CLI", detect, &FORMAT)
};

static FORMAT: Format = Format { write: Some(write::write), resume, ..Format::of_lines(read::read) };

fn resume(about: &About) -> Option<String> {
    about.id.as_ref().filter(|_| !about.is_subagent).map(|id| format!("kimi --session {id}"))
}

fn detect(sample: &Sample<'_>) -> bool {
    let is_header = |record: &_| says(record, "type", &["metadata"]) && has(record, &["protocol_version"]);
    let is_record = |record: &_| says(record, "type", &["context.append_message", "context.append_loop_event"]);
    sample.any(|record| is_header(record) || is_record(record))
}
