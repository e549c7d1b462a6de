//! Codex: rollouts of sessions, one record per line, and the older form of them.

pub(super) mod export;
mod head;
mod item;
mod ordinals;
mod read;
mod replay;
mod write;

use crate::sample::{Sample, has, says};
use crate::session::{About, Format};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    places: &[
        SessionFolder::variable(HOME, "sessions", ENDINGS),
        SessionFolder::variable(HOME, "archived_sessions", ENDINGS),
    ],
    extract: Some(r#"jq -s '{input: [.[] | select(.type == "response_item") | .payload]}' FILE"#),
    ..Program::of_sessions("Codex", "a rollout of Codex", detect, &FORMAT)
};

static FORMAT: Format = Format { write: Some(write::write), resume, ..Format::of_lines(read::read) };

/// The folder of Codex.
const HOME: (&str, &str) = ("CODEX_HOME", ".codex");

const ENDINGS: &[&str] = &[".jsonl", ".jsonl.zst", ".json"];

fn resume(about: &About) -> Option<String> {
    about.id.as_ref().filter(|_| !about.is_subagent).map(|id| format!("codex resume {id}"))
}

fn detect(sample: &Sample<'_>) -> bool {
    const TYPES: [&str; 6] = ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"];
    let is_record = |record: &_| says(record, "type", &TYPES) && has(record, &["payload"]);
    // Until August 2025 the first line had no type.
    let is_begun = has(sample.root(), &["id", "timestamp", "instructions"]) && !has(sample.root(), &["model"]);
    let is_old = is_begun || sample.is_lines() && sample.any(|record| says(record, "record_type", &["state"]));
    // The name has to tell where the content cannot be unpacked.
    let is_packed = sample.is_packed() && sample.ends_with(".jsonl.zst");
    sample.any(is_record) || is_old || is_packed
}
