//! Batches of requests and of responses: one per line for OpenAI, one list for Anthropic.

use crate::Program;
use crate::bodies::{Bodies, HeldBody};
use crate::json::{Object, elements, members};
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    extract: Some("sed -n 1p FILE | jq .body"),
    ..Program::of_bodies("batch", "a batch of requests", detect, &LINES)
};

/// A batch for Anthropic.
pub(super) const LIST: Program = Program {
    extract: Some("jq '.requests[0].params' FILE"),
    ..Program::of_bodies(
        "batch",
        "a batch of requests for Anthropic",
        |sample| sample.list("requests").iter().any(|entry| has(entry, &["custom_id", "params"])),
        &ELEMENTS,
    )
};

static LINES: Bodies = Bodies::lines(|record| {
    let [body] = members(record, &["body"]).ok()?;
    Some(HeldBody::member(record, body?, "/body"))
});

static ELEMENTS: Bodies = Bodies {
    document: Some(|text| elements(text).or_else(|| elements(Object::of(text)?.get("requests")?))),
    find: |record| {
        let [body] = members(record, &["params"]).ok()?;
        Some(HeldBody::member(record, body?, "/params"))
    },
    provider: Some("anthropic"),
    is_writable: true,
};

fn detect(sample: &Sample<'_>) -> bool {
    sample.any(|record| has(record, &["custom_id"]) && (has(record, &["body"]) || has(record, &["response"])))
}
