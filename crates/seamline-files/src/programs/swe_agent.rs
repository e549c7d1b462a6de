//! SWE-agent: trajectories.

use crate::Program;
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    name: "SWE-agent",
    what: "a trajectory of SWE-agent",
    extract: Some("jq '{messages: [.history[] | {role, content}]}' FILE"),
    advice: Program::GIVE_BODY,
    detect,
};

fn detect(sample: &Sample<'_>) -> bool {
    let is_step = |step: &_| has(step, &["action", "observation"]);
    sample.ends_with(".traj") || sample.root().is_object() && sample.list("trajectory").iter().any(is_step)
}
