//! Copilot CLI: events of a session, one per line.

mod event;
mod order;
mod read;
mod write;

use crate::sample::{Sample, has};
use crate::session::{About, Format};
use crate::{Program, SessionFolder};
use serde_json::Value;

pub(super) const PROGRAM: Program = Program {
    places: &[SessionFolder::home(".copilot", "session-state", &[".jsonl"])],
    ..Program::of_sessions("Copilot CLI", "an event log of Copilot CLI", detect, &FORMAT)
};

static FORMAT: Format = Format { write: Some(write::write), resume, ..Format::of_lines(read::read) };

fn resume(about: &About) -> Option<String> {
    about.id.as_ref().map(|id| format!("copilot --resume {id}"))
}

fn detect(sample: &Sample<'_>) -> bool {
    sample.any(|record| {
        let kind = record.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_event =
            ["session.", "assistant.", "user.", "tool.", "system."].iter().any(|start| kind.starts_with(start));
        is_event && has(record, &["data", "id", "timestamp"])
    })
}
