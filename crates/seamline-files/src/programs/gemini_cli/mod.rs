//! Gemini CLI: sessions as one record per line or as one JSON value, and saved chats.

mod checkpoint;
pub(super) mod export;
mod fold;
mod read;
mod render;
mod sent;
mod turn;
mod write;

use serde_json::Value;

use crate::sample::{Sample, has, says};
use crate::session::{About, Format};
use crate::{Program, SessionFolder};

const NAME: &str = "Gemini CLI";

/// The variable replaces the home folder.
const PLACES: &[SessionFolder] =
    &[SessionFolder::variable(("GEMINI_CLI_HOME", ""), ".gemini/tmp", &[".json", ".jsonl"])];

/// Sessions since version 0.40: one record per line.
pub(super) const LOG: Program =
    Program { places: PLACES, ..Program::of_sessions(NAME, "a session log of Gemini CLI", is_log, &LOG_FORMAT) };

static LOG_FORMAT: Format =
    Format { write: Some(write::write_log), resume, folder_file: PROJECT, ..Format::of_lines(read::read_log) };

/// Older sessions: one JSON value.
pub(super) const DOCUMENT: Program =
    Program { places: PLACES, ..Program::of_sessions(NAME, "a session of Gemini CLI", is_document, &DOCUMENT_FORMAT) };

static DOCUMENT_FORMAT: Format =
    Format { write: Some(write::write_document), resume, folder_file: PROJECT, ..Format::of_list(read::read_document) };

/// Chats that the user saved with `/chat save`.
pub(super) const CHECKPOINT: Program = Program {
    places: PLACES,
    ..Program::of_sessions(NAME, "a saved chat of Gemini CLI", is_checkpoint, &CHECKPOINT_FORMAT)
};

static CHECKPOINT_FORMAT: Format = Format { write: Some(checkpoint::write), ..Format::of_list(checkpoint::read) };

/// The file in the folder of a project that names the project's root.
const PROJECT: Option<&str> = Some(".project_root");

fn resume(about: &About) -> Option<String> {
    about.id.as_ref().filter(|_| !about.is_subagent).map(|id| format!("gemini --resume {id}"))
}

fn is_log(sample: &Sample<'_>) -> bool {
    let is_change = |record: &_| has(record, &["$rewindTo"]) || has(record, &["$set"]);
    !is_document(sample) && sample.any(|record| is_header(record) || is_change(record) || is_turn(record))
}

fn is_document(sample: &Sample<'_>) -> bool {
    let root = sample.root();
    let has_messages = root.get("messages").is_some_and(Value::is_array);
    !sample.is_lines() && has_messages && (is_header(root) || sample.list("messages").iter().any(is_turn))
}

fn is_header(record: &Value) -> bool {
    has(record, &["sessionId", "projectHash"])
}

fn is_turn(message: &Value) -> bool {
    says(message, "type", &["gemini"]) && has(message, &["id", "content"])
}

fn is_checkpoint(sample: &Sample<'_>) -> bool {
    let is_content = |value: &Value| says(value, "role", &["user", "model"]) && has(value, &["parts"]);
    let list = sample.list("history");
    let is_saved = sample.root().is_object() || sample.starts_with("checkpoint-") && sample.ends_with(".json");
    !sample.is_lines() && is_saved && list.first().is_some_and(is_content)
}
