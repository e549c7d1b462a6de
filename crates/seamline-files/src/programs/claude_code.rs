//! Claude Code: session logs, one record per line.

use crate::Program;
use crate::sample::{Sample, has, says};

pub(super) const PROGRAM: Program = Program {
    name: "Claude Code",
    what: "a session log of Claude Code",
    extract: Some("jq -s '{messages: [.[] | .message | select(.role) | {role, content}]}' FILE"),
    advice: Program::GIVE_BODY,
    detect,
};

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
    sample.any(|record| {
        let is_entry = has(record, &["uuid", "parentUuid"]) && has(record, &["sessionId"]);
        let is_note = says(record, "type", &TYPES) && (has(record, &["sessionId"]) || has(record, &["messageId"]));
        let is_summary = says(record, "type", &["summary"]) && has(record, &["leafUuid"]);
        is_entry || is_note || is_summary
    })
}
