//! Grok: the chat history and the updates of a session, one record per line.

mod message;
mod read;
mod write;

use crate::sample::{Sample, has, says};
use crate::session::{About, Format};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    places: &[SessionFolder::home(".grok", "sessions", &[".jsonl"])],
    ..Program::of_sessions("Grok", "a session log of Grok", detect, &FORMAT)
};

static FORMAT: Format = Format { write: Some(write::write), resume, ..Format::of_lines(read::read) };

fn resume(about: &About) -> Option<String> {
    about.id.as_ref().map(|id| format!("grok --resume {id}"))
}

fn detect(sample: &Sample<'_>) -> bool {
    let is_update = |record: &_| says(record, "method", &["session/update", "_x.ai/session/update"]);
    let is_turn = |record: &_| {
        let is_said =
            says(record, "type", &["system", "user", "assistant", "tool_result"]) && has(record, &["content"]);
        let is_other = says(record, "type", &["reasoning", "backend_tool_call"]);
        (is_said || is_other) && !has(record, &["role"]) && !has(record, &["uuid"])
    };
    let turns = sample.whole().iter().filter(|record| is_turn(record)).count();
    let is_history = sample.is_lines() || sample.is_named(&["chat_history.jsonl"]);
    // A damaged line may be any record.
    sample.any(is_update) || is_history && is_turn(sample.first_whole()) && 2 * turns > sample.whole().len()
}
