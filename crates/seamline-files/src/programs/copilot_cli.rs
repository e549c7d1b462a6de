//! Copilot CLI: events of a session, one per line.

use crate::Program;
use crate::sample::{Sample, has};
use serde_json::Value;

pub(super) const PROGRAM: Program = Program {
    name: "Copilot CLI",
    what: "an event log of Copilot CLI",
    extract: None,
    advice: Program::GIVE_BODY,
    detect,
};

fn detect(sample: &Sample<'_>) -> bool {
    sample.any(|record| {
        let kind = record.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_event =
            ["session.", "assistant.", "user.", "tool.", "system."].iter().any(|start| kind.starts_with(start));
        is_event && has(record, &["data", "id", "timestamp"])
    })
}
