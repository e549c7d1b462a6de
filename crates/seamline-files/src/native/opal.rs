//! Opal: results are messages with the role `tool_result`, and calls have a `call_id`. Opal stores the newest message
//! first.

use super::message::{Call, Message, Role};
use super::shape::{Kept, New, Part, Shape};
use super::text::{arguments_value, call, call_changes, id_of, text_of, with_text};
use crate::json::{Object, quoted, relisted};

pub(super) const SHAPE: Shape =
    Shape { name: "opal", program: "Opal", newest_first: true, calls_in: CALLS, sign, show, rewrite, write };

const CALLS: &str = "tool_calls";

/// The names of an id. Programs that read Opal's events write them in camel case.
const IDS: &[&str] = &["call_id", "callId"];

fn sign(entry: &Object<'_>) -> Option<&'static str> {
    let is_call =
        |call: &str| Object::of(call).is_some_and(|call| call.first(IDS).is_some() && call.get("name").is_some());
    if entry.says("role", &["tool_result"]) {
        Some("the role `tool_result`")
    } else if entry.get("role").is_some() && entry.list(CALLS).into_iter().any(is_call) {
        Some("tool calls with `call_id`")
    } else {
        None
    }
}

fn show(entry: &Object<'_>) -> Vec<Part> {
    let text = text_of(entry.get("content"));
    let message = match entry.string("role").as_deref() {
        Some("system") => Message::said(Role::System, text),
        Some("user") => Message::said(Role::User, text),
        Some("assistant") => {
            let listed = entry.list(CALLS).into_iter().enumerate();
            let calls = listed.filter_map(|(index, raw)| Some(read_call(&Object::of(raw)?, index)));
            Message { calls: calls.collect(), ..Message::said(Role::Assistant, text) }
        }
        Some("tool_result") => {
            let call_id = Some(id_of(entry, IDS).unwrap_or_default());
            Message { call_id, ..Message::said(Role::Tool, text) }
        }
        _ => return Vec::new(),
    };
    vec![message.into()]
}

fn read_call(object: &Object<'_>, index: usize) -> Call {
    call(object, index, &["call_id", "callId", "id"], &["name"], &["arguments"])
}

fn rewrite(entry: &Object<'_>, kept: &[Kept<'_>]) -> String {
    let Some(part) = kept.first() else { return entry.with(&[]) };
    let (before, after) = (part.before, part.now());
    let mut changes = Vec::new();
    if before.role != after.role {
        changes.push(("role", Some(quoted(role(after.role)))));
    }
    if before.text != after.text {
        changes.push(("content", Some(with_text(entry.get("content"), &after.text))));
    }
    let id = entry.first(IDS).map_or(IDS[0], |(name, _)| name);
    if after.role != Role::Tool {
        changes.extend([(id, None), ("is_error", None)]);
    } else if before.call_id != after.call_id {
        changes.push((id, after.call_id.as_deref().map(quoted)));
    }
    if before.calls != after.calls {
        changes.push((CALLS, changed_calls(entry, before, after)));
    }
    entry.with(&changes)
}

/// The list of calls of a changed message; nothing where no call is left.
fn changed_calls(entry: &Object<'_>, before: &Message, after: &Message) -> Option<String> {
    let listed = entry.list(CALLS);
    let pieces: Vec<String> = after
        .calls
        .iter()
        .map(|new| {
            let index = new.index.filter(|index| *index < listed.len());
            let old = before.calls.iter().find(|old| old.index == index && index.is_some());
            match (old, index.and_then(|index| Object::of(listed[index]))) {
                (Some(old), Some(object)) => {
                    let id = object.first(&["call_id", "callId", "id"]).map_or(IDS[0], |(name, _)| name);
                    object.with(&call_changes(old, new, [id, "name", "arguments"]))
                }
                _ => new_call(new),
            }
        })
        .collect();
    let is_list = !pieces.is_empty();
    is_list.then(|| entry.get(CALLS).map_or_else(|| format!("[{}]", pieces.join(",")), |list| relisted(list, &pieces)))
}

fn new_call(call: &Call) -> String {
    let (id, name) = (call.id.as_deref().unwrap_or_default(), call.name.as_deref().unwrap_or_default());
    format!(r#"{{"call_id":{},"name":{},"arguments":{}}}"#, quoted(id), quoted(name), arguments_value(&call.arguments))
}

fn write(new: &New<'_>) -> String {
    let message = new.message;
    let (role, content) = (role(message.role), quoted(&message.text));
    if message.role == Role::Tool {
        let id = quoted(message.call_id.as_deref().unwrap_or_default());
        return format!(r#"{{"role":"{role}","call_id":{id},"content":{content},"is_error":true}}"#);
    }
    let calls: Vec<String> = message.calls.iter().map(new_call).collect();
    let calls = if calls.is_empty() { String::new() } else { format!(r#","{CALLS}":[{}]"#, calls.join(",")) };
    format!(r#"{{"role":"{role}","content":{content}{calls}}}"#)
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool_result",
    }
}
