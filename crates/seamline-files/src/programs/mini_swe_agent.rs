//! mini-swe-agent: trajectories.

use crate::Program;
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    name: "mini-swe-agent",
    what: "a trajectory of mini-swe-agent",
    extract: Some("jq '{messages}' FILE"),
    advice: Program::GIVE_BODY,
    detect,
};

fn detect(sample: &Sample<'_>) -> bool {
    let root = sample.root();
    let has_stats = root.get("info").is_some_and(|info| has(info, &["model_stats"]));
    has(root, &["trajectory_format"]) || sample.ends_with(".traj.json") || has_stats && has(root, &["messages"])
}
