//! Writes a conversation as a new rollout of Codex.
//!
//! The first record describes the session. Each item of the conversation is a record of type `response_item`. Words of the
//! user and of the model also are events, which Codex shows and lists sessions by.

use super::head::{New, record};
use super::item::{Item, Part};
use super::write::full;
use crate::json::{Object, elements, members, quoted, string};
use crate::session::{Export, Exporter, NewSession};

pub(in crate::programs) const EXPORTER: Exporter =
    Exporter { name: "codex", program: &super::PROGRAM, side: "openai/openai_responses", write };

/// The length of a date and time in the name of a rollout.
const TIME_CHARS: usize = 19;

fn write(export: &Export<'_>) -> Option<NewSession> {
    let mut rollout = Rollout { export, text: String::new(), count: 0 };
    let started = quoted(&export.time(0));
    let meta = New { id: export.id(), time: &started, folder: Some(export.folder()), mode: "legacy" };
    rollout.add("session_meta", &meta.write());
    if let Some(title) = &export.about.title {
        let id = quoted(export.id());
        let named = format!(r#"{{"type":"thread_name_updated","thread_id":{id},"thread_name":{}}}"#, quoted(title));
        rollout.add("event_msg", &named);
    }
    if let Some(model) = &export.about.model {
        rollout.add("turn_context", &context(export.folder(), model));
    }
    for message in export.messages {
        rollout.add_item(&item(message)?);
    }
    let time = &export.time(0)[..TIME_CHARS];
    let (date, clock) = (time[..10].replace('-', "/"), time.replace(':', "-"));
    Some(NewSession {
        text: rollout.text,
        path: format!("{date}/rollout-{clock}-{}.jsonl", export.id()),
        project: None,
    })
}

/// The settings of the turns. Codex takes those of the next turn from its configuration.
fn context(folder: &str, model: &str) -> String {
    format!(
        r#"{{"cwd":{},"approval_policy":"on-request","sandbox_policy":{{"type":"read-only"}},"model":{},"summary":"auto"}}"#,
        quoted(folder),
        quoted(model)
    )
}

/// An item in the form that Codex reads. It does not send messages of the system, so they become those of a developer.
fn item(message: &str) -> Option<String> {
    let item = full(message)?;
    let object = Object::of(&item)?;
    let is_system = object.says("type", &["message"]) && object.says("role", &["system"]);
    Some(if is_system { object.with(&[("role", Some(quoted("developer")))]) } else { item })
}

/// A rollout while it is written.
struct Rollout<'r> {
    export: &'r Export<'r>,
    text: String,
    /// The number of records so far.
    count: usize,
}

impl Rollout<'_> {
    fn add(&mut self, kind: &str, payload: &str) {
        self.text += &record(&quoted(&self.export.time(self.count)), None, kind, payload);
        self.text.push('\n');
        self.count += 1;
    }

    fn add_item(&mut self, item: &str) {
        self.add("response_item", item);
        if let Some((kind, text)) = said(item) {
            self.add("event_msg", &format!(r#"{{"type":"{kind}","message":{}}}"#, quoted(&text)));
        }
    }
}

/// The event of a message with words of the user or of the model, and its text.
fn said(item: &str) -> Option<(&'static str, String)> {
    let [kind, role, content] = members(item, &["type", "role", "content"]).ok()?;
    string(kind?).filter(|kind| kind == "message")?;
    let event = match string(role?)?.as_str() {
        "user" if Item::of(item)?.part == Part::User => "user_message",
        "assistant" => "agent_message",
        _ => return None,
    };
    let text = |block: &str| members(block, &["text"]).ok().and_then(|[text]| text).and_then(string);
    let texts: Vec<String> = elements(content?)?.into_iter().filter_map(text).collect();
    (!texts.is_empty()).then(|| (event, texts.join("\n")))
}
