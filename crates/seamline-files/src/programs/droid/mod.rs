//! Factory Droid: session logs, one record per line.

mod read;
mod write;

use serde_json::Value;

use crate::sample::{Sample, has, says};
use crate::session::{About, Format};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    places: &[SessionFolder::home(".factory", "sessions", &[".jsonl"])],
    extract: Some(r#"jq -s '{messages: [.[] | select(.type == "message") | .message]}' FILE"#),
    ..Program::of_sessions("Factory Droid", "a session log of Factory Droid", detect, &FORMAT)
};

static FORMAT: Format = Format { write: Some(write::write), resume, ..Format::of_lines(read::read) };

fn resume(about: &About) -> Option<String> {
    about.id.as_ref().map(|id| format!("droid --resume {id}"))
}

fn detect(sample: &Sample<'_>) -> bool {
    // The header may be damaged or lost.
    let is_entry = |record: &Value| {
        says(record, "type", &["message"])
            && has(record, &["id", "timestamp"])
            && has(&record["message"], &["role", "content"])
            && !has(&record["message"], &["timestamp"])
    };
    sample.any(|record| says(record, "type", &["session_start"]) && has(record, &["id"]))
        || sample.is_lines() && sample.any(is_entry)
}
