//! `LangGraph` and `LangChain`: databases of checkpoints, and lists of saved messages.
//!
//! A checkpoint is the whole state of a thread after one step. Checkpoints are never changed: a repair is a new one, which
//! only the graph itself can make. So these sessions are read and not written.

mod message;
mod read;

use serde_json::Value;

use crate::Program;
use crate::sample::{Sample, has, says};
use crate::session::Format;

/// The databases of checkpoints.
pub(crate) const PROGRAM: Program = Program {
    advice: "Seamline does not write checkpoints; add the missing messages with `graph.update_state(config, {\"messages\": […]})`",
    ..Program::of_sessions(
        "LangGraph or LangChain",
        "a database of LangGraph checkpoints",
        |sample| sample.has_schema(&["CREATE TABLE", "checkpoint_ns", "thread_id"]),
        &ROWS,
    )
};

/// Lists of messages, as `messages_to_dict` and `dumps` write them.
pub(super) const MESSAGES: Program = Program {
    advice: "Seamline does not write messages of LangChain; `seamline convert` makes a request body of them, which can be repaired",
    ..Program::of_sessions("LangGraph or LangChain", "saved messages of LangChain", is_messages, &LIST)
};

pub(crate) static ROWS: Format = Format::of_lines(read::rows);

static LIST: Format = Format::of_list(read::list);

fn is_messages(sample: &Sample<'_>) -> bool {
    let is_message = |message: &_| {
        let is_saved = says(message, "type", &["human", "ai", "tool", "system", "function", "chat"]);
        is_saved && has(message, &["data"]) || has(message, &["lc", "type", "kwargs"])
    };
    let messages = sample.list("messages");
    is_message(sample.root()) || messages.iter().any(is_message) || is_flat(messages)
}

/// Whether these are messages as their own members, with a type and no role. `model_dump` writes them so.
fn is_flat(messages: &[Value]) -> bool {
    let is_message = |message: &Value| {
        says(message, "type", &read::FLAT_TYPES) && has(message, &["content"]) && message.get("role").is_none()
    };
    !messages.is_empty() && messages.iter().all(is_message)
}
