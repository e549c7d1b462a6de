//! The messages of goose: lists of blocks, in which calls and results are blocks, too.

use crate::json::{Object, elements, quoted, relisted, string};
use crate::native::Shape;
use crate::native::message::{Call, Message, Role};
use crate::native::shape::{Kept, New, Part};
use crate::native::text::{arguments_value, block_text, text_block};

pub(super) static SHAPE: Shape =
    Shape { name: "goose", program: "goose", newest_first: false, calls_in: CONTENT, sign, show, rewrite, write };

const CONTENT: &str = "content";
const CALLS: &[&str] = &["toolRequest", "frontendToolRequest"];
const RESULT: &str = "toolResponse";
/// The name in the carrier of a call that goose could not read.
const UNREAD: &str = "unreadable_call";
/// The text that goose sends in place of a result without content.
const EMPTY: &str = "(empty result)";
/// The members that say whether the model sees a message; older versions write the second one.
const VISIBLE: &[&str] = &["agentVisible", "agent_visible"];

/// Logs are recognised by all their records, so that one entry needs no sign.
fn sign(_: &Object<'_>) -> Option<&'static str> {
    None
}

fn show(entry: &Object<'_>) -> Vec<Part> {
    let blocks = entry.list(CONTENT);
    if !is_visible(entry) {
        return Vec::new();
    }
    match entry.string("role").as_deref() {
        Some("assistant") => said(Role::Assistant, &blocks).into_iter().collect(),
        Some("user") => {
            let results = blocks.iter().enumerate().filter_map(|(index, block)| result(index, block));
            results.chain(said(Role::User, &blocks)).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether the model sees a message. A compaction hides the messages that it replaces.
pub(super) fn is_visible(entry: &Object<'_>) -> bool {
    let metadata = entry.get("metadata").and_then(Object::of);
    metadata.and_then(|metadata| metadata.first(VISIBLE)).is_none_or(|(_, value)| value != "false")
}

/// The text and the calls of a message; nothing if it has neither.
fn said(role: Role, blocks: &[&str]) -> Option<Part> {
    let is_call = role == Role::Assistant;
    let calls: Vec<Call> =
        blocks.iter().enumerate().filter(|_| is_call).filter_map(|(index, block)| call(index, block)).collect();
    let texts: Vec<String> = blocks.iter().filter_map(|block| shown_text(block, role)).collect();
    let text = texts.join("\n");
    let is_blank = text.trim().is_empty() && calls.is_empty();
    (!is_blank).then(|| Message { calls, ..Message::said(role, text) }.into())
}

/// The text of a block that goose sends as text or beside it.
fn shown_text(block: &str, role: Role) -> Option<String> {
    let is_image = || Object::of(block).is_some_and(|block| block.says("type", &["image"]));
    let text = block_text(block).filter(|text| !text.is_empty());
    text.or_else(|| (role == Role::User && is_image()).then(|| "[image]".to_owned()))
}

fn call(index: usize, block: &str) -> Option<Call> {
    let block = Object::of(block).filter(|block| block.says("type", CALLS))?;
    let value = block.get("toolCall").and_then(Object::of).and_then(|call| call.get("value")).and_then(Object::of);
    let name = value.as_ref().map_or_else(|| Some(UNREAD.to_owned()), |value| value.string("name"));
    let arguments = match value.as_ref().and_then(|value| value.get("arguments")) {
        None | Some("null") => "{}".to_owned(),
        Some(raw) => string(raw).unwrap_or_else(|| raw.to_owned()),
    };
    Some(Call { id: block.string("id"), name, arguments, index: Some(index) })
}

fn result(index: usize, block: &str) -> Option<Part> {
    let block = Object::of(block).filter(|block| block.says("type", &[RESULT]))?;
    let outcome = block.get("toolResult").and_then(Object::of);
    let text = outcome.map(|outcome| result_text(&outcome)).unwrap_or_default();
    let call_id = Some(block.string("id").unwrap_or_default());
    let text = if text.is_empty() { EMPTY.to_owned() } else { text };
    Some(Part { message: Message { call_id, ..Message::said(Role::Tool, text) }, block: Some(index) })
}

fn result_text(outcome: &Object<'_>) -> String {
    let Some(value) = outcome.get("value") else { return outcome.string("error").unwrap_or_default() };
    let texts: Vec<String> = contents(value).into_iter().filter(is_for_model).map(item_text).collect();
    texts.join("\n")
}

/// The items of a result: a list of its own in older logs.
fn contents(value: &str) -> Vec<&str> {
    elements(value).or_else(|| Some(Object::of(value)?.list(CONTENT))).unwrap_or_default()
}

fn item_text(item: &str) -> String {
    block_text(item).unwrap_or_else(|| {
        let resource = Object::of(item).and_then(|item| item.get("resource")).and_then(Object::of);
        resource.and_then(|resource| resource.string("text")).unwrap_or_else(|| "[content that is not text]".to_owned())
    })
}

/// Whether an item of a result is for the model. Tools may give the user another text.
fn is_for_model(item: &&str) -> bool {
    let annotations = Object::of(item).and_then(|item| item.get("annotations")).and_then(Object::of);
    let audience = annotations.and_then(|annotations| annotations.get("audience")).and_then(elements);
    audience.is_none_or(|audience| audience.iter().any(|role| string(role).as_deref() == Some("assistant")))
}

fn rewrite(entry: &Object<'_>, kept: &[Kept<'_>]) -> String {
    let blocks = entry.list(CONTENT);
    let owns_rest = kept.first().is_some_and(|part| part.owns_rest);
    let mut pieces = Vec::new();
    for part in kept {
        match part.block.and_then(|index| blocks.get(index)) {
            Some(block) => pieces.push(changed_result(block, part)),
            None => pieces.extend(changed_blocks(&blocks, part.before, part.now())),
        }
    }
    // Blocks that the carrier does not show stay with the first part that is left.
    if owns_rest && kept.iter().all(|part| part.block.is_some()) {
        pieces.extend(blocks.iter().filter(|block| is_hidden(block)).map(|block| (*block).to_owned()));
    }
    let list = entry.get(CONTENT).unwrap_or("[]");
    let written = if elements(list).is_some() { relisted(list, &pieces) } else { format!("[{}]", pieces.join(",")) };
    let role = kept.first().map_or(Role::User, |part| part.now().role);
    if !owns_rest {
        return format!(r#"{{"role":"{}"{},"{CONTENT}":{written}}}"#, name(role), time_of(entry));
    }
    let mut changes = vec![(CONTENT, Some(written))];
    if kept.iter().any(|part| name(part.now().role) != name(part.before.role)) {
        changes.push(("role", Some(quoted(name(role)))));
    }
    entry.with(&changes)
}

/// Whether the carrier shows nothing of a block.
fn is_hidden(block: &str) -> bool {
    let types = [CALLS, &[RESULT]].concat();
    block_text(block).is_none() && !Object::of(block).is_some_and(|block| block.says("type", &types))
}

fn changed_result(block: &str, part: &Kept<'_>) -> String {
    let (before, after) = (part.before, part.now());
    let Some(object) = Object::of(block).filter(|_| part.after.is_some()) else { return block.to_owned() };
    if after.role != Role::Tool {
        return text_block(&after.text);
    }
    let mut changes = Vec::new();
    if before.call_id != after.call_id {
        changes.push(("id", after.call_id.as_deref().map(quoted)));
    }
    if before.text != after.text {
        changes.push(("toolResult", Some(outcome(&after.text))));
    }
    object.with(&changes)
}

/// The blocks of a changed message other than results. Blocks that the carrier does not show stay where they are.
fn changed_blocks(blocks: &[&str], before: &Message, after: &Message) -> Vec<String> {
    let added = after.text.strip_prefix(before.text.as_str()).filter(|added| !added.is_empty());
    let replaces = before.text != after.text && (before.text.is_empty() || added.is_none());
    let mut out = Vec::new();
    if replaces && !after.text.is_empty() {
        out.push(text_block(&after.text));
    }
    for (index, block) in blocks.iter().enumerate() {
        if block_text(block).is_some() {
            out.extend((!replaces).then(|| (*block).to_owned()));
        } else if let Some(old) = before.calls.iter().find(|call| call.index == Some(index)) {
            let new = after.calls.iter().find(|call| call.index == Some(index));
            out.extend(new.map(|new| changed_call(block, old, new)));
        } else if is_hidden(block) {
            out.push((*block).to_owned());
        }
    }
    if let Some(added) = added.filter(|_| !replaces) {
        out.push(text_block(added.trim_start_matches('\n')));
    }
    out.extend(after.calls.iter().filter(|call| call.index.is_none()).map(new_call));
    out
}

fn changed_call(block: &str, old: &Call, new: &Call) -> String {
    let Some(object) = Object::of(block).filter(|_| !new.says_the_same(old)) else { return block.to_owned() };
    let mut changes = Vec::new();
    if old.id != new.id {
        changes.push(("id", new.id.as_deref().map(quoted)));
    }
    if (&old.name, &old.arguments) != (&new.name, &new.arguments) {
        changes.push(("toolCall", Some(request(new))));
    }
    object.with(&changes)
}

fn request(call: &Call) -> String {
    let name = quoted(call.name.as_deref().unwrap_or_default());
    format!(r#"{{"status":"success","value":{{"name":{name},"arguments":{}}}}}"#, arguments_value(&call.arguments))
}

fn new_call(call: &Call) -> String {
    let id = quoted(call.id.as_deref().unwrap_or_default());
    format!(r#"{{"type":"{}","id":{id},"toolCall":{}}}"#, CALLS[0], request(call))
}

/// The outcome of a tool that a repair made up. An error of goose itself would get words before it.
fn outcome(text: &str) -> String {
    format!(r#"{{"status":"success","value":{{"content":[{}],"isError":true}}}}"#, text_block(text))
}

fn write(new: &New<'_>) -> String {
    let message = new.message;
    let content = if message.role == Role::Tool {
        let id = quoted(message.call_id.as_deref().unwrap_or_default());
        format!(r#"{{"type":"{RESULT}","id":{id},"toolResult":{}}}"#, outcome(&message.text))
    } else {
        let text = Some(text_block(&message.text)).filter(|_| !message.text.is_empty() || message.calls.is_empty());
        text.into_iter().chain(message.calls.iter().map(new_call)).collect::<Vec<_>>().join(",")
    };
    let time = new.beside.map(time_of).unwrap_or_default();
    let metadata = new.beside.and_then(|beside| beside.get("metadata"));
    let metadata = metadata.map(|metadata| format!(r#","metadata":{metadata}"#)).unwrap_or_default();
    format!(r#"{{"role":"{}"{time},"{CONTENT}":[{content}]{metadata}}}"#, name(message.role))
}

/// The time of an entry for another one. goose orders messages by it.
fn time_of(entry: &Object<'_>) -> String {
    entry.get("created").map(|time| format!(r#","created":{time}"#)).unwrap_or_default()
}

fn name(role: Role) -> &'static str {
    match role {
        Role::Assistant => "assistant",
        Role::System | Role::User | Role::Tool => "user",
    }
}
