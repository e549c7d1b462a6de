//! Hermes: a session with the messages that it sends.

use crate::list::Shape;
use crate::sample::{Sample, has};
use crate::session::{About, Format, Listed, chat_message, envelope_text};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    places: &[SessionFolder::variable(("HERMES_HOME", ".hermes"), "sessions", &[".json"])],
    extract: Some("jq '{model, messages}' FILE"),
    ..Program::of_sessions("Hermes", "a session of Hermes", detect, &FORMAT)
};

static FORMAT: Format = Format::of_list(|input| LISTED.read(input));

static LISTED: Listed = Listed {
    shape: Shape::of_messages(&["messages"]),
    dialect: "openai_chat",
    provider: Some("openai-compatible"),
    show: |record, content| chat_message(record, &["role", "content", "tool_calls", "tool_call_id"], content),
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
