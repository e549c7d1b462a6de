//! Copilot CLI: events of a session, one per line.

mod event;
mod order;
mod read;
mod write;

use crate::sample::{Sample, has};
use crate::session::{About, FileLayout, Format};
use crate::{Program, SessionFolder};
use serde_json::Value;

pub(super) const PROGRAM: Program = Program {
    name: "Copilot CLI",
    what: "an event log of Copilot CLI",
    places: &[SessionFolder::home(".copilot", "session-state", &[".jsonl"])],
    extract: None,
    advice: Program::GIVE_BODY,
    detect,
    session: Some(&FORMAT),
    bodies: None,
};

static FORMAT: Format = Format { document: FileLayout::Lines, read: read::read, write: Some(write::write), resume };

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
