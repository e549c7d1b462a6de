//! `OpenClaw` and `pi`: results are messages with the role `toolResult`, and calls are blocks of type `toolCall`.

use super::message::{Message, Role};
use super::shape::{Kept, New, Part, Shape};
use super::text::{CallBlocks, id_of, text_block, text_of, with_text};
use crate::json::{Object, elements, quoted, relisted};
use seamline_model::Fence;

pub(crate) const SHAPE: Shape = Shape {
    name: "openclaw",
    program: "OpenClaw or pi",
    newest_first: false,
    calls_in: CONTENT,
    sign,
    show,
    rewrite,
    write,
};

const CONTENT: &str = "content";
const IDS: &[&str] = &["toolCallId", "toolUseId"];
const CALLS: CallBlocks = CallBlocks { types: &["toolCall", "toolUse", "functionCall"], arguments: "arguments" };

/// Roles that the program sends as a message of the user, with the member that holds the text.
const AS_USER: &[(&str, &str)] = &[
    ("bashExecution", "output"),
    ("custom", CONTENT),
    ("hookMessage", CONTENT),
    ("branchSummary", "summary"),
    ("compactionSummary", "summary"),
];

fn sign(entry: &Object<'_>) -> Option<&'static str> {
    let is_call = |block: &str| Object::of(block).is_some_and(|block| block.says("type", &["toolCall"]));
    if entry.says("role", &["toolResult"]) {
        Some("the role `toolResult`")
    } else if entry.says("role", &["assistant"]) && entry.list(CONTENT).into_iter().any(is_call) {
        Some("blocks of type `toolCall`")
    } else {
        None
    }
}

fn show(entry: &Object<'_>) -> Vec<Part> {
    let content = entry.get(CONTENT);
    let role = entry.string("role").unwrap_or_default();
    let message = match role.as_str() {
        "system" => Message::said(Role::System, text_of(content)),
        "user" => Message::said(Role::User, text_of(content)),
        // The program leaves out what failed or was aborted when it sends a history.
        "assistant" if entry.says("stopReason", &["aborted", "error"]) => return Vec::new(),
        "assistant" => match content.and_then(elements) {
            Some(blocks) => {
                let (text, calls) = CALLS.read(&blocks);
                Message { calls, ..Message::said(Role::Assistant, text) }
            }
            None => Message::said(Role::Assistant, text_of(content)),
        },
        "toolResult" => {
            let call_id = Some(id_of(entry, IDS).unwrap_or_default());
            Message { call_id, ..Message::said(Role::Tool, text_of(content)) }
        }
        _ if entry.get("excludeFromContext") == Some("true") => return Vec::new(),
        other => match AS_USER.iter().find(|(role, _)| *role == other) {
            Some((_, member)) => Message::said(Role::User, text_of(entry.get(member))),
            None => return Vec::new(),
        },
    };
    vec![message.into()]
}

fn rewrite(entry: &Object<'_>, kept: &[Kept<'_>]) -> String {
    let Some(part) = kept.first() else { return entry.with(&[]) };
    let (before, after) = (part.before, part.now());
    let content = entry.get(CONTENT);
    let mut changes = Vec::new();
    if before.role != after.role {
        changes.push(("role", Some(quoted(role(after.role)))));
    }
    let id = entry.first(IDS).map_or(IDS[0], |(name, _)| name);
    if after.role != Role::Tool {
        changes.extend([(id, None), ("toolName", None), ("isError", None)]);
    } else if before.call_id != after.call_id {
        changes.push((id, after.call_id.as_deref().map(quoted)));
    }
    if (&before.text, &before.calls) != (&after.text, &after.calls) {
        let blocks = content.and_then(|content| Some((content, elements(content)?)));
        let is_spoken = before.role == Role::Assistant && after.role == Role::Assistant;
        let written = match blocks {
            Some((content, blocks)) if is_spoken => relisted(content, &CALLS.changed(&blocks, before, after)),
            _ if !after.calls.is_empty() => format!("[{}]", new_blocks(after).join(",")),
            _ => with_text(content, &after.text),
        };
        changes.push((CONTENT, Some(written)));
    }
    entry.with(&changes)
}

/// Writes an entry whose calls are text, so that no program can send them. Returns nothing if it has no calls.
pub(crate) fn without_calls(entry: &Object<'_>) -> Option<String> {
    let content = entry.get(CONTENT)?;
    let blocks = elements(content)?;
    if CALLS.read(&blocks).1.is_empty() {
        return None;
    }
    let is_call = |block: &str| Object::of(block).is_some_and(|block| block.says("type", CALLS.types));
    let as_text =
        |block: &str| text_block(&Fence::around("tool call of an aborted turn, kept as text", block).text(block));
    let written: Vec<String> =
        blocks.iter().map(|block| if is_call(block) { as_text(block) } else { (*block).to_owned() }).collect();
    Some(entry.with(&[(CONTENT, Some(relisted(content, &written)))]))
}

fn new_blocks(message: &Message) -> Vec<String> {
    let text = Some(text_block(&message.text)).filter(|_| !message.text.is_empty() || message.calls.is_empty());
    text.into_iter().chain(message.calls.iter().map(|call| CALLS.new_call(call))).collect()
}

fn write(new: &New<'_>) -> String {
    let message = new.message;
    let (role, content) = (role(message.role), new_blocks(message).join(","));
    // The program expects a time in each message; that of the entry before keeps them in order.
    let time = new.beside.and_then(|beside| beside.get("timestamp"));
    let time = time.map(|time| format!(r#","timestamp":{time}"#)).unwrap_or_default();
    if message.role == Role::Tool {
        let id = quoted(message.call_id.as_deref().unwrap_or_default());
        let tool = quoted(new.tool.unwrap_or_default());
        return format!(
            r#"{{"role":"{role}","toolCallId":{id},"toolName":{tool},"content":[{content}],"isError":true{time}}}"#
        );
    }
    format!(r#"{{"role":"{role}","content":[{content}]{time}}}"#)
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "toolResult",
    }
}
