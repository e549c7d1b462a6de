//! Factory Droid: session logs, one record per line.

use crate::Program;
use crate::sample::{Sample, has, says};

pub(super) const PROGRAM: Program = Program {
    name: "Factory Droid",
    what: "a session log of Factory Droid",
    extract: Some(r#"jq -s '{messages: [.[] | select(.type == "message") | .message]}' FILE"#),
    advice: Program::GIVE_BODY,
    detect,
};

fn detect(sample: &Sample<'_>) -> bool {
    sample.any(|record| says(record, "type", &["session_start"]) && has(record, &["id"]))
}
