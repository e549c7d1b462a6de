//! Events that hold messages: what the user and the assistant say, and the results of tools.

use crate::json::{Object, quoted, relisted, string};
use crate::native::message::{Call, Message, Role, align};
use crate::native::text::{arguments_value, call, call_changes};

const USER: &str = "user.message";
const NOTICE: &str = "system.notification";
const ASSISTANT: &str = "assistant.message";
pub(super) const RESULT: &str = "tool.execution_complete";

/// The members of a tool request: its id, its name and its arguments.
const REQUEST: [&str; 3] = ["toolCallId", "name", "arguments"];

/// The message in the data of an event; nothing for an event that the program does not send.
pub(super) fn message(kind: &str, data: &Object<'_>) -> Option<Message> {
    let content = || data.string("content").unwrap_or_default();
    match kind {
        USER | NOTICE => Some(Message::said(Role::User, content())).filter(|message| !is_blank(message)),
        ASSISTANT => {
            let requests = data.list("toolRequests");
            let calls = requests.iter().enumerate().filter_map(|(index, request)| request_of(index, request)).collect();
            Some(Message { calls, ..Message::said(Role::Assistant, content()) }).filter(|message| !is_blank(message))
        }
        // The user ran these tools, and no call asked for them.
        RESULT if data.get("isUserRequested") == Some("true") => None,
        RESULT => {
            let call_id = Some(data.string("toolCallId").unwrap_or_default());
            Some(Message { call_id, ..Message::said(Role::Tool, output(data)) })
        }
        _ => None,
    }
}

fn is_blank(message: &Message) -> bool {
    message.calls.is_empty() && message.text.trim().is_empty()
}

fn request_of(index: usize, request: &str) -> Option<Call> {
    let [id, name, arguments] = REQUEST;
    Some(call(&Object::of(request)?, index, &[id], &[name], &[arguments]))
}

/// The text of a result: its content, or the message of its error.
fn output(data: &Object<'_>) -> String {
    let member = |name: &str, member: &str| data.get(name).and_then(Object::of)?.string(member);
    member("result", "content").or_else(|| member("error", "message")).unwrap_or_default()
}

/// Writes an event with another message of the carrier; nothing if the event cannot hold it.
pub(super) fn with_message(record: &str, carried: &str) -> Option<String> {
    let record = Object::of(record)?;
    let kind = record.string("type")?;
    let data = Object::of(record.get("data")?)?;
    let before = message(&kind, &data)?;
    let mut after = Message::of_carrier(carried)?;
    align(&before.calls, &mut after.calls);
    let (kind, data) = match (before.role, after.role) {
        (Role::Assistant, Role::Assistant) => (ASSISTANT, with_requests(&data, &before, &after)),
        (Role::Tool, Role::Tool) => (RESULT, with_output(&data, &before, &after)),
        (Role::User, Role::User) if kind == USER => (USER, with_text(&data, &after.text)),
        (Role::Tool, Role::User) => (USER, with_text(&data, &after.text)),
        _ => return None,
    };
    Some(record.with(&[("type", Some(quoted(kind))), ("data", Some(data))]))
}

/// The data of a message of the user.
fn with_text(data: &Object<'_>, text: &str) -> String {
    let mut changes = vec![("content", Some(quoted(text)))];
    if data.get("transformedContent").is_some() {
        changes.push(("transformedContent", Some(quoted(text))));
    }
    if data.get("attachments").is_none() {
        changes.push(("attachments", Some("[]".to_owned())));
    }
    data.with(&changes)
}

fn with_requests(data: &Object<'_>, before: &Message, after: &Message) -> String {
    let mut changes = Vec::new();
    if before.text != after.text {
        changes.push(("content", Some(quoted(&after.text))));
    }
    if before.calls != after.calls {
        let list = data.get("toolRequests").unwrap_or("[]");
        let old = data.list("toolRequests");
        let written: Vec<String> = after.calls.iter().map(|call| request(&old, before, call)).collect();
        changes.push(("toolRequests", Some(relisted(list, &written))));
    }
    data.with(&changes)
}

/// A tool request with the values of a call. A request that was there keeps its other members.
fn request(old: &[&str], before: &Message, new: &Call) -> String {
    let place = before.calls.iter().find(|call| call.index == new.index && new.index.is_some());
    let object = place.and_then(|call| Some((call, Object::of(old.get(call.index?)?)?)));
    match object {
        Some((call, object)) => object.with(&call_changes(call, new, REQUEST)),
        None => format!(
            r#"{{"toolCallId":{},"name":{},"arguments":{},"type":"function"}}"#,
            quoted(new.id.as_deref().unwrap_or_default()),
            quoted(new.name.as_deref().unwrap_or_default()),
            arguments_value(&new.arguments)
        ),
    }
}

fn with_output(data: &Object<'_>, before: &Message, after: &Message) -> String {
    let mut changes = Vec::new();
    if before.call_id != after.call_id {
        changes.push(("toolCallId", after.call_id.as_deref().map(quoted)));
    }
    if before.text != after.text {
        let result = data.get("result").and_then(Object::of);
        let content = [("content", Some(quoted(&after.text)))];
        let result =
            result.map_or_else(|| format!(r#"{{"content":{}}}"#, quoted(&after.text)), |result| result.with(&content));
        changes.push(("result", Some(result)));
    }
    data.with(&changes)
}

/// The members that a new event takes over from the data of the event before it.
const SHARED: [&str; 2] = ["interactionId", "turnId"];

/// The type and the data of a new event; nothing if no event can hold the message.
pub(super) fn new_data(carried: &str, beside: Option<&Object<'_>>) -> Option<(&'static str, String)> {
    let message = Message::of_carrier(carried)?;
    let text = quoted(&message.text);
    let shared =
        |name: &&str| Some(format!(",\"{name}\":{}", beside?.get(name).filter(|value| string(value).is_some())?));
    let shared: String = SHARED.iter().filter_map(shared).collect();
    match message.role {
        Role::Tool => {
            let id = quoted(message.call_id.as_deref().unwrap_or_default());
            let result = format!(r#""result":{{"content":{text}}},"error":{{"message":{text}}}"#);
            Some((RESULT, format!(r#"{{"toolCallId":{id},"success":false,{result}{shared}}}"#)))
        }
        Role::User => Some((USER, format!(r#"{{"content":{text},"attachments":[]{shared}}}"#))),
        Role::System | Role::Assistant => None,
    }
}
