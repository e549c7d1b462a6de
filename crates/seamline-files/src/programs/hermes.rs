//! Hermes: a session with the messages that it sends.

use crate::json::{members, string};
use crate::list::Shape;
use crate::sample::{Sample, has};
use crate::session::{About, FileLayout, Format, KeptTexts, Listed, envelope_text, message_with};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    name: "Hermes",
    what: "a session of Hermes",
    places: &[SessionFolder::variable(("HERMES_HOME", ".hermes"), "sessions", &[".json"])],
    extract: Some("jq '{model, messages}' FILE"),
    advice: Program::GIVE_BODY,
    detect,
    session: Some(&FORMAT),
    bodies: None,
};

static FORMAT: Format =
    Format { document: FileLayout::List, read: |input| LISTED.read(input), write: None, resume: |_| None };

static LISTED: Listed = Listed {
    shape: Shape {
        members: &["messages"],
        is_record: |text| members(text, &["role"]).is_ok_and(|[role]| role.is_some()),
    },
    dialect: "openai_chat",
    provider: Some("openai-compatible"),
    show,
    about: |list| About {
        id: envelope_text(list, "session_id"),
        folder: envelope_text(list, "cwd"),
        model: envelope_text(list, "model"),
        updated: envelope_text(list, "last_updated"),
        ..About::default()
    },
    ends_with_calls: false,
};

fn detect(sample: &Sample<'_>) -> bool {
    has(sample.root(), &["session_id", "session_start", "messages"])
}

const ROLES: [&str; 4] = ["system", "user", "assistant", "tool"];

fn show(record: &str, content: KeptTexts) -> Option<String> {
    let [role] = members(record, &["role"]).ok()?;
    let is_sent = ROLES.contains(&string(role?)?.as_str());
    is_sent.then(|| message_with(record, &["role", "content", "tool_calls", "tool_call_id"], content))?
}
