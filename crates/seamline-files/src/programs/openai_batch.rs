//! Batches of requests and of responses: one per line for OpenAI, one list for Anthropic.

use crate::Program;
use crate::bodies::{Bodies, HeldBody};
use crate::json::members;
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    name: "batch",
    what: "a batch of requests",
    places: &[],
    extract: Some("sed -n 1p FILE | jq .body"),
    advice: Program::GIVE_BODY,
    detect,
    session: None,
    bodies: Some(&BODIES),
};

static BODIES: Bodies = Bodies {
    find: |record| {
        let [body] = members(record, &["body"]).ok()?;
        Some(HeldBody::member(record, body?, "/body"))
    },
};

fn detect(sample: &Sample<'_>) -> bool {
    let is_line = |record: &_| has(record, &["custom_id"]) && (has(record, &["body"]) || has(record, &["response"]));
    let is_entry = |entry: &_| has(entry, &["custom_id", "params"]);
    sample.any(is_line) || sample.list("requests").iter().any(is_entry)
}
