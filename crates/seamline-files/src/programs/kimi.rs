//! Kimi CLI: the records of a session, one per line.

use crate::Program;
use crate::sample::{Sample, has, says};

pub(super) const PROGRAM: Program =
    Program { name: "Kimi CLI", what: "a session log of Kimi CLI", extract: None, advice: Program::GIVE_BODY, detect };

fn detect(sample: &Sample<'_>) -> bool {
    let is_header = |record: &_| says(record, "type", &["metadata"]) && has(record, &["protocol_version"]);
    let is_record = |record: &_| says(record, "type", &["context.append_message", "context.append_loop_event"]);
    sample.any(|record| is_header(record) || is_record(record))
}
