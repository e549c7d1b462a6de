//! `pi` and `OpenClaw`: session logs that begin with a record of type `session`.

use crate::Program;
use crate::sample::{Sample, has, says};

pub(super) const PROGRAM: Program = Program {
    name: "pi or OpenClaw",
    what: "a session log of pi or OpenClaw",
    extract: Some(r#"jq -s '{messages: [.[] | select(.type == "message") | .message]}' FILE"#),
    advice: Program::GIVE_BODY,
    detect,
};

fn detect(sample: &Sample<'_>) -> bool {
    says(sample.root(), "type", &["session"]) && has(sample.root(), &["id", "timestamp", "cwd"])
}
