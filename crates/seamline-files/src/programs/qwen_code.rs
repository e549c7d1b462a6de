//! Qwen Code: session logs whose records look like those of Claude Code and whose messages look like Gemini's.

use crate::Program;
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    name: "Qwen Code",
    what: "a session log of Qwen Code",
    extract: Some("jq -s '{contents: [.[] | .message | select(.parts) | {role, parts}]}' FILE"),
    advice: Program::GIVE_BODY,
    detect,
};

fn detect(sample: &Sample<'_>) -> bool {
    sample.any(|record| {
        let has_parts = record.get("message").is_some_and(|message| has(message, &["parts"]));
        has(record, &["uuid", "parentUuid"]) && (has_parts || has(record, &["systemPayload"]))
    })
}
