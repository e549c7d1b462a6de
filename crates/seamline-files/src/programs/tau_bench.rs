//! tau-bench: the recorded conversations of a run, a list with one `traj` each.

use crate::Program;
use crate::bodies::{Bodies, HeldBody};
use crate::json::{Object, elements};
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    extract: Some("jq '{messages: .[0].traj}' FILE"),
    advice: "Seamline does not write results of tau-bench: they show what happened in a run; repair the body that is sent again",
    ..Program::of_bodies("tau-bench", "recorded conversations of tau-bench", detect, &BODIES)
};

static BODIES: Bodies = Bodies { document: Some(elements), find, provider: None, is_writable: false };

fn find(record: &str) -> Option<HeldBody<'_>> {
    let messages = Object::of(record)?.get("traj")?;
    elements(messages).map(|_| HeldBody::member(record, messages, "/traj"))
}

fn detect(sample: &Sample<'_>) -> bool {
    sample.root().is_array() && sample.list("").first().is_some_and(|first| has(first, &["task_id", "traj"]))
}
