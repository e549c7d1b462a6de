//! Several request bodies, one per line.

use crate::Program;
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    name: "a log of requests",
    what: "a list of request bodies",
    extract: Some("sed -n 1p FILE"),
    advice: Program::GIVE_BODY,
    detect,
};

fn detect(sample: &Sample<'_>) -> bool {
    let is_body = |record: &_| ["messages", "contents", "input"].iter().any(|list| has(record, &[list]));
    sample.is_lines() && sample.records().iter().all(is_body)
}
