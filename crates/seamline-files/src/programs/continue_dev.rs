//! Continue: a session with its history.

use crate::json::{Object, members, quoted, string};
use crate::list::Shape;
use crate::native::message::{Message, Role};
use crate::native::text::text_of;
use crate::sample::{Sample, has};
use crate::session::{About, Format, KeptTexts, Listed, envelope_text};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    places: &[SessionFolder::variable(("CONTINUE_GLOBAL_DIR", ".continue"), "sessions", &[".json"])],
    extract: Some("jq '{messages: [.history[].message]}' FILE"),
    ..Program::of_sessions("Continue", "a session of Continue", detect, &FORMAT)
};

static FORMAT: Format = Format::of_list(|input| LISTED.read(input));

static LISTED: Listed = Listed {
    shape: Shape {
        members: &["history"],
        is_record: |text| members(text, &["message"]).is_ok_and(|[message]| message.is_some()),
    },
    dialect: "openai_chat",
    provider: Some("openai-compatible"),
    show,
    about: |list| About {
        id: envelope_text(list, "sessionId"),
        title: envelope_text(list, "title"),
        folder: envelope_text(list, "workspaceDirectory"),
        ..About::default()
    },
    ends_with_calls: false,
};

fn detect(sample: &Sample<'_>) -> bool {
    let root = sample.root();
    has(root, &["sessionId", "history"]) && (has(root, &["workspaceDirectory"]) || has(root, &["title"]))
}

fn show(record: &str, content: KeptTexts) -> Option<String> {
    let [message] = members(record, &["message"]).ok()?;
    let message = Object::of(message?)?;
    let role = match message.string("role")?.as_str() {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        // Thoughts are shown and not sent.
        _ => return None,
    };
    let calls = message.list("toolCalls");
    let call_id = message.get("toolCallId").and_then(string).filter(|_| role == Role::Tool);
    let said = Message { call_id, ..Message::said(role, text_of(message.get("content"))) };
    if role == Role::Assistant && !calls.is_empty() {
        let text = if said.text.is_empty() { "null".to_owned() } else { quoted(&said.text) };
        let carried = format!(r#"{{"role":"assistant","content":{text},"tool_calls":[{}]}}"#, calls.join(","));
        return Some(content.keep(&carried).into_owned());
    }
    Some(content.keep(&said.carried()).into_owned())
}
