//! `LangGraph` and `LangChain`: databases of checkpoints and saved messages.

use crate::Program;
use crate::sample::{Sample, has, says};

pub(super) const PROGRAM: Program = Program {
    name: "LangGraph or LangChain",
    what: "saved state of LangGraph or LangChain",
    places: &[],
    extract: None,
    advice: "give the request body that it sends; `messages` of the state has other members than a body",
    detect,
    session: None,
    bodies: None,
};

fn detect(sample: &Sample<'_>) -> bool {
    let is_message = |message: &_| {
        let is_saved = says(message, "type", &["human", "ai", "tool", "system", "function"]) && has(message, &["data"]);
        is_saved || has(message, &["lc", "type", "kwargs"])
    };
    is_message(sample.root())
        || sample.list("messages").iter().any(is_message)
        || sample.has_schema(&["CREATE TABLE", "checkpoint_ns", "thread_id"])
}
