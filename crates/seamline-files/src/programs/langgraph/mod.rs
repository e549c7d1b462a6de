//! `LangGraph` and `LangChain`: databases of checkpoints, and lists of saved messages.
//!
//! A checkpoint is the whole state of a thread after one step. Checkpoints are never changed: a repair is a new one, which
//! only the graph itself can make. So these sessions are read and not written.

mod message;
mod read;

use crate::Program;
use crate::sample::{Sample, has, says};
use crate::session::{FileLayout, Format};

/// The databases of checkpoints.
pub(crate) const PROGRAM: Program = Program {
    name: "LangGraph or LangChain",
    what: "a database of LangGraph checkpoints",
    places: &[],
    extract: None,
    advice: "Seamline does not write checkpoints; add the missing messages with `graph.update_state(config, {\"messages\": […]})`",
    detect: |sample| sample.has_schema(&["CREATE TABLE", "checkpoint_ns", "thread_id"]),
    session: Some(&ROWS),
    bodies: None,
};

/// Lists of messages, as `messages_to_dict` and `dumps` write them.
pub(super) const MESSAGES: Program = Program {
    name: "LangGraph or LangChain",
    what: "saved messages of LangChain",
    places: &[],
    extract: None,
    advice: "Seamline does not write messages of LangChain; `seamline convert` makes a request body of them, which can be repaired",
    detect: is_messages,
    session: Some(&LIST),
    bodies: None,
};

pub(crate) static ROWS: Format =
    Format { document: FileLayout::Lines, read: read::rows, write: None, resume: |_| None };

static LIST: Format = Format { document: FileLayout::List, read: read::list, write: None, resume: |_| None };

fn is_messages(sample: &Sample<'_>) -> bool {
    let is_message = |message: &_| {
        let is_saved = says(message, "type", &["human", "ai", "tool", "system", "function", "chat"]);
        is_saved && has(message, &["data"]) || has(message, &["lc", "type", "kwargs"])
    };
    is_message(sample.root()) || sample.list("messages").iter().any(is_message)
}
