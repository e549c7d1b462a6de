//! Cline, Roo Code and Kilo Code: the history of a task, and the sessions of Cline's SDK.

use crate::Program;
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    name: "Cline, Roo Code or Kilo Code",
    what: "the task history of Cline, Roo Code or Kilo Code",
    extract: Some("jq '{messages: [(.messages? // .)[] | {role, content}]}' FILE"),
    advice: Program::GIVE_BODY,
    detect,
};

fn detect(sample: &Sample<'_>) -> bool {
    let root = sample.root();
    let messages = sample.list("messages");
    let is_timed = |message: &_| has(message, &["role", "content", "ts"]);
    let is_session = has(root, &["version", "sessionId", "messages"]) && has(root, &["updated_at"]);
    let is_task = root.is_array() && !messages.is_empty() && messages.iter().all(is_timed);
    sample.is_named(&["api_conversation_history.json"]) || is_session || is_task
}
