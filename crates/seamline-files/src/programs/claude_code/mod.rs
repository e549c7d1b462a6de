//! Claude Code: session logs, one record per line.

mod active;
pub(super) mod export;
mod read;
mod write;

use crate::sample::{Sample, has, says};
use crate::session::{About, Format};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    places: &[
        SessionFolder::variable(("CLAUDE_CONFIG_DIR", ".claude"), "projects", &[".jsonl"]),
        SessionFolder::variable(SessionFolder::CONFIG, "claude/projects", &[".jsonl"]),
    ],
    extract: Some("jq -s '{messages: [.[] | .message | select(.role) | {role, content}]}' FILE"),
    ..Program::of_sessions("Claude Code", "a session log of Claude Code", detect, &FORMAT)
};

static FORMAT: Format = Format { write: Some(write::write), resume, ..Format::of_lines(read::read) };

fn resume(about: &About) -> Option<String> {
    about.id.as_ref().filter(|_| !about.is_subagent).map(|id| format!("claude --resume {id}"))
}

fn detect(sample: &Sample<'_>) -> bool {
    const TYPES: [&str; 8] = [
        "file-history-snapshot",
        "queue-operation",
        "permission-mode",
        "last-prompt",
        "ai-title",
        "custom-title",
        "content-replacement",
        "progress",
    ];
    // Other programs connect rows by the same members, so the type has to be one of Claude Code.
    const ENTRIES: [&str; 5] = ["user", "assistant", "system", "progress", "attachment"];
    sample.any(|record| {
        let is_entry = has(record, &["uuid", "parentUuid", "sessionId"]) && says(record, "type", &ENTRIES);
        let is_note = says(record, "type", &TYPES) && (has(record, &["sessionId"]) || has(record, &["messageId"]));
        let is_summary = says(record, "type", &["summary"]) && has(record, &["leafUuid"]);
        is_entry || is_note || is_summary
    })
}
