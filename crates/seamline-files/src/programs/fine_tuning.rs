//! Training sets for fine-tuning: one conversation per line, without a model.

use crate::Program;
use crate::bodies::{Bodies, HeldBody};
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    extract: Some("sed -n 1p FILE"),
    ..Program::of_bodies("fine-tuning", "a training set for fine-tuning", detect, &BODIES)
};

static BODIES: Bodies = Bodies::lines(|record| Some(HeldBody::whole(record)));

fn detect(sample: &Sample<'_>) -> bool {
    let is_talk = |record: &_| has(record, &["messages"]) && !has(record, &["model"]);
    // A damaged line may be anything.
    let bodies = sample.records().iter().filter(|record| is_talk(record)).count();
    sample.is_lines() && is_talk(sample.first_whole()) && 2 * bodies >= sample.records().len()
}
