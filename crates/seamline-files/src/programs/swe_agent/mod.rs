//! SWE-agent: trajectories.

use crate::Program;
use crate::json::{Object, elements, members};
use crate::list::Shape;
use crate::sample::{Sample, has};
use crate::session::{About, Format, KeptTexts, Listed, NewMessage, Writer, chat_message, record_with};

pub(super) const PROGRAM: Program = Program {
    extract: Some("jq '{messages: [.history[] | {role, content}]}' FILE"),
    ..Program::of_sessions("SWE-agent", "a trajectory of SWE-agent", detect, &FORMAT)
};

static FORMAT: Format =
    Format { write: Some(|repair| repair.write(&WRITER)), ..Format::of_list(|input| LISTED.read(input)) };

static LISTED: Listed = Listed {
    shape: Shape::of_messages(&["history"]),
    dialect: "openai_chat",
    provider: None,
    show,
    about: |_| About::default(),
    ends_with_calls: true,
};

const WRITER: Writer = Writer { links: None, blocks: "content", rewrite, write: new_message };

fn detect(sample: &Sample<'_>) -> bool {
    let is_step = |step: &_| has(step, &["action", "observation"]);
    sample.ends_with(".traj") || sample.root().is_object() && sample.list("trajectory").iter().any(is_step)
}

/// The members that a provider reads.
const MEMBERS: [&str; 3] = ["role", "content", "tool_calls"];

fn show(record: &str, content: KeptTexts) -> Option<String> {
    let [ids] = members(record, &["tool_call_ids"]).ok()?;
    let message = chat_message(record, &MEMBERS, content)?;
    // One record answers all calls of a turn; the program makes only one call in each.
    match ids.and_then(elements).and_then(|ids| ids.first().map(|id| (*id).to_owned())) {
        Some(id) => Some(Object::of(&message)?.with(&[("tool_call_id", Some(id))])),
        None => Some(message),
    }
}

fn rewrite(record: &str, message: &str) -> Option<String> {
    let record = record_with(record, message, &MEMBERS)?;
    let [id] = members(message, &["tool_call_id"]).ok()?;
    let object = Object::of(&record)?;
    match (object.list("tool_call_ids").first(), id) {
        (old, Some(id)) if old != Some(&id) => Some(object.with(&[("tool_call_ids", Some(format!("[{id}]")))])),
        (Some(_), None) => Some(object.with(&[("tool_call_ids", None)])),
        _ => Some(record),
    }
}

fn new_message(new: &NewMessage<'_>) -> Option<String> {
    let [id] = members(new.message, &["tool_call_id"]).ok()?;
    let ids = id.map(|id| format!("[{id}]"));
    let record = Object::of(new.message)?.with(&[("tool_call_id", None), ("tool_call_ids", ids)]);
    let agent = members(new.after, &["agent"]).ok().and_then(|[agent]| agent).map(str::to_owned);
    Some(Object::of(&record)?.with(&[("agent", agent)]))
}
