//! Several request bodies, one per line.

use crate::Program;
use crate::bodies::{Bodies, HeldBody};
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    extract: Some("sed -n 1p FILE"),
    ..Program::of_bodies("lines of request bodies", "a list of request bodies, one per line", detect, &BODIES)
};

static BODIES: Bodies = Bodies::lines(|record| Some(HeldBody::whole(record)));

fn detect(sample: &Sample<'_>) -> bool {
    // Some items of a conversation have an `input`, too.
    let is_body =
        |record: &_| has(record, &["messages"]) || has(record, &["contents"]) || has(record, &["model", "input"]);
    // A damaged line may be anything.
    let bodies = sample.records().iter().filter(|record| is_body(record)).count();
    sample.is_lines() && is_body(sample.first_whole()) && 2 * bodies >= sample.records().len()
}
