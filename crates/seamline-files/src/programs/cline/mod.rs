//! Cline, Roo Code and Kilo Code: the history of a task, and the sessions of Cline's SDK.

mod read;

use crate::sample::{Sample, has};
use crate::session::{Format, Writer, new_record, record_with};
use crate::{Program, SessionFolder};

/// How a task is continued.
pub(crate) const NEXT_STEP: &str = "reload the editor, open History in the extension, and resume the task";

pub(crate) const PROGRAM: Program = Program {
    places: &[
        SessionFolder::variable(SessionFolder::CONFIG, TASKS, FILES),
        SessionFolder::home(SessionFolder::SUPPORT, TASKS, FILES),
        SessionFolder::variable(SessionFolder::ROAMING, TASKS, FILES),
        SessionFolder::home(".vscode-server/data", "User/globalStorage/*/tasks", FILES),
    ],
    extract: Some("jq '{messages: [(.messages? // .)[] | {role, content}]}' FILE"),
    ..Program::of_sessions(
        "Cline, Roo Code or Kilo Code",
        "the task history of Cline, Roo Code or Kilo Code",
        detect,
        &FORMAT,
    )
};

static FORMAT: Format = Format { write: Some(|repair| repair.write(&WRITER)), ..Format::of_list(read::read) };

const WRITER: Writer = Writer {
    links: None,
    blocks: "content",
    rewrite: |record, message| record_with(record, message, &["role", "content"]),
    write: |new| new_record(new, "ts"),
};

/// The tasks of an extension of VS Code or of an editor that is made from it.
const TASKS: &str = "*/User/globalStorage/*/tasks";
const FILES: &[&str] = &["api_conversation_history.json"];

fn detect(sample: &Sample<'_>) -> bool {
    let root = sample.root();
    let messages = sample.list("messages");
    let is_timed = |message: &_| has(message, &["role", "content", "ts"]);
    let is_session = has(root, &["version", "sessionId", "messages"]) && has(root, &["updated_at"]);
    // The last message may be cut.
    let whole = messages.len().saturating_sub(1).max(1).min(messages.len());
    let is_task = root.is_array() && !messages.is_empty() && messages[..whole].iter().all(is_timed);
    sample.is_named(&["api_conversation_history.json"]) || is_session || is_task
}
