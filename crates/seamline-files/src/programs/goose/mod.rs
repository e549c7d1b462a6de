//! goose: session logs, and the rows of its database.
//!
//! A log has one record per line: first a description of the session, then the messages. The rows of the database are read
//! as the same records.

mod message;
mod read;
mod write;

use crate::json::Object;
use crate::native::with_media;
use crate::sample::{Sample, has, says};
use crate::session::{About, Format};
use crate::{Program, SessionFolder};
use serde_json::Value;

pub(crate) const PROGRAM: Program = Program {
    places: &[
        SessionFolder::variable(SessionFolder::DATA, "goose/sessions", ENDINGS),
        SessionFolder::variable(SessionFolder::ROAMING, "Block/goose/data/sessions", ENDINGS),
    ],
    ..Program::of_sessions("goose", "a session of goose", detect, &FORMAT)
};

pub(crate) static FORMAT: Format =
    Format { write: Some(write::write), resume, media: Some(media), ..Format::of_lines(read::read) };

fn media(record: &str, message: &str) -> Option<String> {
    with_media(message, Object::of(record)?.get("content"))
}

fn resume(about: &About) -> Option<String> {
    about.id.as_ref().filter(|_| !about.is_subagent).map(|id| format!("goose session --resume --session-id {id}"))
}

/// Session logs, and the database that replaced them.
const ENDINGS: &[&str] = &[".jsonl", "sessions.db"];

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
