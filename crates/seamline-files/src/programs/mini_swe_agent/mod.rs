//! mini-swe-agent: trajectories.

use crate::list::Shape;
use crate::sample::{Sample, has};
use crate::session::{About, Format, Listed, Writer, chat_message, envelope_text, new_record, record_with};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    places: &[
        SessionFolder::variable(SessionFolder::CONFIG, "mini-swe-agent", &[".traj.json"]),
        SessionFolder::home(SessionFolder::SUPPORT, "mini-swe-agent", &[".traj.json"]),
    ],
    extract: Some("jq '{messages}' FILE"),
    ..Program::of_sessions("mini-swe-agent", "a trajectory of mini-swe-agent", detect, &FORMAT)
};

static FORMAT: Format =
    Format { write: Some(|repair| repair.write(&WRITER)), ..Format::of_list(|input| LISTED.read(input)) };

static LISTED: Listed = Listed {
    shape: Shape::of_messages(&["messages"]),
    dialect: "openai_chat",
    provider: None,
    show: |record, content| chat_message(record, &MEMBERS, content),
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
