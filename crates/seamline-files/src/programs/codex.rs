//! Codex: rollouts of sessions, one record per line, and the older form of them.

use crate::Program;
use crate::sample::{Sample, has, says};

pub(super) const PROGRAM: Program = Program {
    name: "Codex",
    what: "a rollout of Codex",
    extract: Some(r#"jq -s '{input: [.[] | select(.type == "response_item") | .payload]}' FILE"#),
    advice: Program::GIVE_BODY,
    detect,
};

fn detect(sample: &Sample<'_>) -> bool {
    const TYPES: [&str; 6] = ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"];
    let is_record = |record: &_| says(record, "type", &TYPES) && has(record, &["payload"]);
    // Until August 2025 the first line had no type.
    let is_old = has(sample.root(), &["id", "timestamp", "instructions"])
        || sample.any(|record| says(record, "record_type", &["state"]));
    let is_packed = sample.is_compressed() && sample.ends_with(".jsonl.zst");
    sample.any(is_record) || is_old && sample.is_lines() || is_packed
}
