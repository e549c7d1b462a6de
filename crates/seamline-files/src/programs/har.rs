//! HAR: requests that a browser recorded.

use crate::Program;
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    name: "HAR",
    what: "a HAR file of a browser",
    places: &[],
    extract: Some("jq -r '.log.entries[0].request.postData.text' FILE"),
    advice: Program::GIVE_BODY,
    detect,
    session: None,
    bodies: None,
};

fn detect(sample: &Sample<'_>) -> bool {
    sample.root().get("log").is_some_and(|log| has(log, &["entries"]))
}
