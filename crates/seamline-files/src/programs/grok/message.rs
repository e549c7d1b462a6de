//! Records of Grok that hold messages.

use crate::json::{Object, quoted, relisted};
use crate::native::message::{Call, Message, Role, align};
use crate::native::text::{call, text_block, text_of, with_text};

/// The message of a record; nothing for a record that holds none.
pub(super) fn message(record: &Object<'_>) -> Option<Message> {
    let text = || text_of(record.get("content"));
    let message = match record.string("type")?.as_str() {
        "system" => Message::said(Role::System, text()),
        "user" => Message::said(Role::User, text()),
        "assistant" => {
            let calls = record.list("tool_calls").into_iter().enumerate();
            let read = |(index, raw)| Some(call(&Object::of(raw)?, index, &["id"], &["name"], &["arguments"]));
            Message { calls: calls.filter_map(read).collect(), ..Message::said(Role::Assistant, text()) }
        }
        "tool_result" => {
            let call_id = Some(record.string("tool_call_id").unwrap_or_default());
            Message { call_id, ..Message::said(Role::Tool, text()) }
        }
        _ => return None,
    };
    let is_blank = message.role != Role::Tool && message.calls.is_empty() && message.text.trim().is_empty();
    (!is_blank).then_some(message)
}

/// Writes a record with another message of the carrier.
pub(super) fn with_message(record: &str, carried: &str) -> Option<String> {
    let record = Object::of(record)?;
    let before = message(&record)?;
    let mut after = Message::of_carrier(carried)?;
    align(&before.calls, &mut after.calls);
    let mut changes = Vec::new();
    if before.role != after.role {
        changes.push(("type", Some(quoted(name(after.role)))));
    }
    if before.call_id != after.call_id {
        changes.push(("tool_call_id", after.call_id.as_deref().map(quoted)));
    }
    if before.role != after.role && after.role == Role::User {
        changes.push(("content", Some(format!("[{}]", text_block(&after.text)))));
    } else if before.text != after.text {
        changes.push(("content", Some(with_text(record.get("content"), &after.text))));
    }
    if before.calls != after.calls {
        let old = record.list("tool_calls");
        let written: Vec<String> = after.calls.iter().map(|call| changed_call(&old, &before, call)).collect();
        changes.push(("tool_calls", Some(relisted(record.get("tool_calls").unwrap_or("[]"), &written))));
    }
    Some(record.with(&changes))
}

/// A call with other values. A call that was there keeps its other members.
fn changed_call(old: &[&str], before: &Message, new: &Call) -> String {
    let was = before.calls.iter().find(|call| call.index == new.index && new.index.is_some());
    let object = was.and_then(|was| Some((was, Object::of(old.get(was.index?)?)?)));
    let Some((was, object)) = object else { return new_call(new) };
    let mut changes = Vec::new();
    if was.id != new.id {
        changes.push(("id", new.id.as_deref().map(quoted)));
    }
    if was.name != new.name {
        changes.push(("name", new.name.as_deref().map(quoted)));
    }
    if was.arguments != new.arguments {
        changes.push(("arguments", Some(quoted(&new.arguments))));
    }
    object.with(&changes)
}

fn new_call(call: &Call) -> String {
    let text = |value: &Option<String>| quoted(value.as_deref().unwrap_or_default());
    format!(r#"{{"id":{},"name":{},"arguments":{}}}"#, text(&call.id), text(&call.name), quoted(&call.arguments))
}

/// A record for a new message.
pub(super) fn new_record(carried: &str) -> Option<String> {
    let message = Message::of_carrier(carried)?;
    let (name, text) = (name(message.role), quoted(&message.text));
    Some(match message.role {
        Role::System => format!(r#"{{"type":"{name}","content":{text}}}"#),
        Role::User => format!(r#"{{"type":"{name}","content":[{}]}}"#, text_block(&message.text)),
        Role::Assistant => {
            let calls: Vec<String> = message.calls.iter().map(new_call).collect();
            format!(r#"{{"type":"{name}","content":{text},"tool_calls":[{}]}}"#, calls.join(","))
        }
        Role::Tool => {
            let id = quoted(message.call_id.as_deref().unwrap_or_default());
            format!(r#"{{"type":"{name}","tool_call_id":{id},"content":{text}}}"#)
        }
    })
}

fn name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool_result",
    }
}
