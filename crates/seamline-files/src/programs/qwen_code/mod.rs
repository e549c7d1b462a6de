//! Qwen Code: session logs whose records look like those of Claude Code and whose messages look like Gemini's.

pub(super) mod export;
mod read;
mod write;

use crate::sample::{Sample, has};
use crate::session::{About, FileLayout, Format};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    name: "Qwen Code",
    what: "a session log of Qwen Code",
    places: &[SessionFolder::home(".qwen", "projects", &[".jsonl"])],
    extract: Some("jq -s '{contents: [.[] | .message | select(.parts) | {role, parts}]}' FILE"),
    advice: Program::GIVE_BODY,
    detect,
    session: Some(&Format { document: FileLayout::Lines, read: read::read, write: Some(write::write), resume }),
    bodies: None,
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
