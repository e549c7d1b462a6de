//! Grok: the chat history and the updates of a session, one record per line.

use crate::Program;
use crate::sample::{Sample, has, says};

pub(super) const PROGRAM: Program =
    Program { name: "Grok", what: "a session log of Grok", extract: None, advice: Program::GIVE_BODY, detect };

fn detect(sample: &Sample<'_>) -> bool {
    let is_update = |record: &_| says(record, "method", &["session/update", "_x.ai/session/update"]);
    let is_turn = |record: &_| {
        says(record, "type", &["system", "user", "assistant", "tool_result"])
            && has(record, &["content"])
            && !has(record, &["role"])
            && !has(record, &["uuid"])
    };
    sample.any(is_update) || sample.is_lines() && sample.records().iter().all(is_turn)
}
