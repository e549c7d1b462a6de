//! goose: session logs and the database of sessions.

use crate::Program;
use crate::sample::{Sample, has, says};
use serde_json::Value;

pub(super) const PROGRAM: Program =
    Program { name: "goose", what: "a session of goose", extract: None, advice: Program::GIVE_BODY, detect };

fn detect(sample: &Sample<'_>) -> bool {
    let is_header = |record: &_| has(record, &["working_dir", "message_count"]);
    let is_tool = |block: &Value| says(block, "type", &["toolRequest", "toolResponse"]);
    let has_tool = |record: &Value| {
        let blocks = record.get("content").and_then(Value::as_array);
        has(record, &["role", "created"]) && blocks.is_some_and(|blocks| blocks.iter().any(is_tool))
    };
    sample.any(|record| is_header(record) || has_tool(record))
        || sample.has_schema(&["CREATE TABLE", "content_json", "working_dir"])
}
