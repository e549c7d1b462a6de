//! Gemini CLI: sessions as one JSON value or one record per line.

use crate::Program;
use crate::sample::{Sample, has, says};

pub(super) const PROGRAM: Program = Program {
    name: "Gemini CLI",
    what: "a session of Gemini CLI",
    extract: None,
    advice: "save the conversation with `/chat save NAME` in Gemini CLI; `seamline check` reads the file `checkpoint-NAME.json`",
    detect,
};

fn detect(sample: &Sample<'_>) -> bool {
    let is_header = |record: &_| has(record, &["sessionId", "projectHash"]);
    let is_change = |record: &_| has(record, &["$rewindTo"]) || has(record, &["$set"]);
    let is_turn = |message: &_| says(message, "type", &["gemini"]) && has(message, &["id", "content"]);
    sample.any(|record| is_header(record) || is_change(record) || is_turn(record))
        || sample.list("messages").iter().any(is_turn)
}
