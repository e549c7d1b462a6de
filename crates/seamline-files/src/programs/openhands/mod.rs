//! `OpenHands`: events, states, trajectories and results of evaluations.

mod read;

use crate::sample::{Sample, has};
use crate::session::{About, Format};
use crate::{Program, SessionFolder};
use serde_json::Value;

pub(crate) const PROGRAM: Program = Program {
    places: &[SessionFolder::home(".openhands", "conversations", &[])],
    ..Program::of_sessions("OpenHands", "a part of a session of OpenHands", detect, &FORMAT)
};

pub(crate) static FORMAT: Format = Format { resume, ..Format::of_lines(read::read) };

fn resume(about: &About) -> Option<String> {
    about.id.as_ref().map(|id| format!("openhands --resume {id}"))
}

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
