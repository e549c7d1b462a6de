//! mini-swe-agent: trajectories.

use crate::json::{members, string};
use crate::list::Shape;
use crate::sample::{Sample, has};
use crate::session::{
    About, FileLayout, Format, KeptTexts, Listed, Writer, envelope_text, message_with, new_record, record_with,
};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    name: "mini-swe-agent",
    what: "a trajectory of mini-swe-agent",
    places: &[
        SessionFolder::variable(SessionFolder::CONFIG, "mini-swe-agent", &[".traj.json"]),
        SessionFolder::home(SessionFolder::SUPPORT, "mini-swe-agent", &[".traj.json"]),
    ],
    extract: Some("jq '{messages}' FILE"),
    advice: Program::GIVE_BODY,
    detect,
    session: Some(&FORMAT),
    bodies: None,
};

static FORMAT: Format = Format {
    document: FileLayout::List,
    read: |input| LISTED.read(input),
    write: Some(|repair| repair.write(&WRITER)),
    resume: |_| None,
};

static LISTED: Listed = Listed {
    shape: Shape {
        members: &["messages"],
        is_record: |text| members(text, &["role"]).is_ok_and(|[role]| role.is_some()),
    },
    dialect: "openai_chat",
    provider: None,
    show,
    about: |list| About { id: envelope_text(list, "instance_id"), ..About::default() },
    // The last call submits the work.
    ends_with_calls: true,
};

const WRITER: Writer = Writer {
    links: None,
    blocks: "content",
    rewrite: |record, message| record_with(record, message, &MEMBERS),
    write: |new| new_record(new, "timestamp"),
};

fn detect(sample: &Sample<'_>) -> bool {
    let root = sample.root();
    let has_stats = root.get("info").is_some_and(|info| has(info, &["model_stats"]));
    has(root, &["trajectory_format"]) || sample.ends_with(".traj.json") || has_stats && has(root, &["messages"])
}

/// The members that a provider reads.
const MEMBERS: [&str; 4] = ["role", "content", "tool_calls", "tool_call_id"];
const ROLES: [&str; 4] = ["system", "user", "assistant", "tool"];

fn show(record: &str, content: KeptTexts) -> Option<String> {
    let [role] = members(record, &["role"]).ok()?;
    ROLES.contains(&string(role?)?.as_str()).then(|| message_with(record, &MEMBERS, content))?
}
