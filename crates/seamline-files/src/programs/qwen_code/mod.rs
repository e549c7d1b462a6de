//! Qwen Code: session logs whose records look like those of Claude Code and whose messages look like Gemini's.

pub(super) mod export;
mod read;
mod write;

use crate::sample::{Sample, has};

static FORMAT: Format = Format { write: Some(write::write), resume, ..Format::of_lines(read::read) };
use crate::session::{About, Format};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    places: &[
        SessionFolder::variable(("QWEN_HOME", ".qwen"), "projects", &[".jsonl"]),
        SessionFolder::variable(("QWEN_RUNTIME_DIR", ".qwen"), "projects", &[".jsonl"]),
    ],
    extract: Some("jq -s '{contents: [.[] | .message | select(.parts) | {role, parts}]}' FILE"),
    ..Program::of_sessions("Qwen Code", "a session log of Qwen Code", detect, &FORMAT)
};

fn resume(about: &About) -> Option<String> {
    about.id.as_ref().filter(|_| !about.is_subagent).map(|id| format!("qwen --resume {id}"))
}

fn detect(sample: &Sample<'_>) -> bool {
    sample.any(|record| {
        let has_parts = record.get("message").is_some_and(|message| has(message, &["parts"]));
        has(record, &["uuid", "parentUuid"]) && (has_parts || has(record, &["systemPayload"]))
    })
}
