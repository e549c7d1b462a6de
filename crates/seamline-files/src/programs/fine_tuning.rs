//! Training sets for fine-tuning: one conversation per line, without a model.

use crate::Program;
use crate::bodies::{Bodies, HeldBody};
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    name: "fine-tuning",
    what: "a training set for fine-tuning",
    places: &[],
    extract: Some("sed -n 1p FILE"),
    advice: Program::GIVE_BODY,
    detect,
    session: None,
    bodies: Some(&BODIES),
};

static BODIES: Bodies = Bodies::lines(|record| Some(HeldBody::whole(record)));

fn detect(sample: &Sample<'_>) -> bool {
    let is_talk = |record: &_| has(record, &["messages"]) && !has(record, &["model"]);
    // A damaged line may be anything.
    let bodies = sample.records().iter().filter(|record| is_talk(record)).count();
    sample.is_lines() && is_talk(sample.root()) && 2 * bodies >= sample.records().len()
}
