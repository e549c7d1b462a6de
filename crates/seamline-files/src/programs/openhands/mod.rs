//! `OpenHands`: events, states, trajectories and results of evaluations.

mod read;

use crate::Program;
use crate::sample::{Sample, has};
use crate::session::{FileLayout, Format};
use serde_json::Value;

pub(super) const PROGRAM: Program = Program {
    name: "OpenHands",
    what: "a part of a session of OpenHands",
    places: &[],
    extract: None,
    advice: Program::GIVE_BODY,
    detect,
    session: Some(&FORMAT),
    bodies: None,
};

static FORMAT: Format = Format { document: FileLayout::Lines, read: read::read, write: None, resume: |_| None };

fn detect(sample: &Sample<'_>) -> bool {
    let root = sample.root();
    let kind = root.get("kind").and_then(Value::as_str).unwrap_or_default();
    let is_event = (kind.ends_with("Event") || kind.ends_with("Observation") || kind == "Condensation")
        && has(root, &["id", "timestamp", "source"]);
    let is_state = has(root, &["id", "agent", "workspace"]) || sample.is_named(&["base_state.json"]);
    let is_step = |step: &_| has(step, &["id", "source"]) && (has(step, &["action"]) || has(step, &["observation"]));
    let is_result = sample.any(|record| has(record, &["instance_id", "history"]));
    is_event || is_state || is_result || sample.list("trajectory").iter().any(is_step)
}
