//! `pydantic-ai`: lists of requests and responses, each with parts.

use serde_json::Value;

use crate::Program;
use crate::json::{Object, members};
use crate::list::{self, Shape};
use crate::native::message::{Message, Role};
use crate::native::text::{call, text_of};
use crate::sample::{Sample, has, says};
use crate::session::{About, CarriedMessage, FileInput, FileReading, Format, Reading};

pub(super) const PROGRAM: Program = Program {
    advice: "Seamline does not write histories of pydantic-ai; `pydantic_ai.messages.repair_messages()` repairs them",
    ..Program::of_sessions("pydantic-ai", "a message history of pydantic-ai", detect, &FORMAT)
};

static FORMAT: Format = Format::of_list(read);

const SHAPE: Shape = Shape {
    members: &["messages"],
    is_record: |text| members(text, &["kind", "parts"]).is_ok_and(|[kind, parts]| kind.is_some() && parts.is_some()),
};

fn detect(sample: &Sample<'_>) -> bool {
    let is_part = |part: &Value| has(part, &["part_kind"]);
    sample.list("messages").iter().any(|message| {
        let parts = message.get("parts").and_then(Value::as_array);
        says(message, "kind", &["request", "response"]) && parts.is_some_and(|parts| parts.iter().any(is_part))
    })
}

fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut about = About::default();
    let mut messages = Vec::new();
    let mut count = 0;
    let list = list::read(input.bytes, &SHAPE, &mut |text| {
        members(text, &[])?;
        if let Some(record) = Object::of(text) {
            about.model = record.string("model_name").or(about.model.take());
            for (part, message) in shown(&record).into_iter().enumerate() {
                let text = content.keep(&message.carried()).into_owned();
                messages.push(CarriedMessage { part, ..CarriedMessage::of(count, text) });
            }
        }
        count += 1;
        Ok(())
    })?;
    // The history does not tell which provider gets it. What all providers demand is left.
    let (dialect, provider) = ("openai_chat", Some("openai-compatible"));
    let session = Reading { dialect, provider, messages, about, ..Reading::default() }.of_all(count);
    Ok(FileReading { records: list.records, damaged: list.damaged, session })
}

/// The messages of a request or a response.
fn shown(record: &Object<'_>) -> Vec<Message> {
    let parts: Vec<Object<'_>> = record.list("parts").into_iter().filter_map(Object::of).collect();
    if record.says("kind", &["request"]) {
        return parts.iter().filter_map(requested).collect();
    }
    let calls = parts.iter().enumerate().filter(|(_, part)| part.says("part_kind", &["tool-call"]));
    let calls = calls.map(|(at, part)| call(part, at, &["tool_call_id"], &["tool_name"], &["args"])).collect();
    let texts = parts.iter().filter(|part| part.says("part_kind", &["text"])).map(|part| text_of(part.get("content")));
    let text = texts.collect::<Vec<_>>().join("\n");
    let message = Message { calls, ..Message::said(Role::Assistant, text) };
    Some(message).filter(|message| !message.text.is_empty() || !message.calls.is_empty()).into_iter().collect()
}

fn requested(part: &Object<'_>) -> Option<Message> {
    let kind = part.string("part_kind")?;
    // A retry without a tool asks the model to answer once more.
    let is_retry = kind == "retry-prompt";
    let is_result = kind == "tool-return" || is_retry && part.string("tool_name").is_some();
    let role = match kind.as_str() {
        _ if is_result => Role::Tool,
        "system-prompt" => Role::System,
        "user-prompt" | "retry-prompt" => Role::User,
        _ => return None,
    };
    let call_id = part.string("tool_call_id").filter(|_| is_result);
    Some(Message { call_id, ..Message::said(role, text_of(part.get("content"))) })
}
