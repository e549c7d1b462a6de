//! llxprt: every entry has a `speaker` and `blocks`. Results are blocks, and one entry may hold several.

use super::message::{Message, Role};
use super::shape::{Kept, New, Part, Shape};
use super::text::{CallBlocks, id_of, text_block};
use crate::json::{Object, elements, quoted, relisted, string};

pub(super) const SHAPE: Shape =
    Shape { name: "llxprt", program: "llxprt", newest_first: false, calls_in: BLOCKS, sign, show, rewrite, write };

const BLOCKS: &str = "blocks";
const RESULT: &str = "tool_response";
const CALLS: CallBlocks = CallBlocks { types: &["tool_call"], arguments: "parameters" };

fn sign(entry: &Object<'_>) -> Option<&'static str> {
    let has_blocks = entry.get(BLOCKS).is_some_and(|blocks| blocks.starts_with('['));
    (entry.says("speaker", &["human", "ai", "tool"]) && has_blocks).then_some("a `speaker` with `blocks`")
}

fn show(entry: &Object<'_>) -> Vec<Part> {
    let role = match entry.string("speaker").as_deref() {
        Some("human") => Role::User,
        Some("ai") => Role::Assistant,
        Some("tool") => Role::Tool,
        _ => return Vec::new(),
    };
    let blocks = entry.list(BLOCKS);
    let mut parts = Vec::new();
    if role != Role::Tool {
        let spoken: Vec<&str> = blocks.iter().copied().filter(|block| result(block).is_none()).collect();
        let (text, _) = CALLS.read(&spoken);
        let calls = if role == Role::Assistant { CALLS.read(&blocks).1 } else { Vec::new() };
        parts.push(Message { calls, ..Message::said(role, text) }.into());
    }
    let results = blocks.iter().enumerate().filter_map(|(index, block)| Some((index, result(block)?)));
    parts.extend(results.map(|(index, message)| Part { message, block: Some(index) }));
    parts
}

/// The message in a block that is a result.
fn result(block: &str) -> Option<Message> {
    let block = Object::of(block).filter(|block| block.says("type", &[RESULT]))?;
    let said = [block.get("result"), block.get("error")].into_iter().flatten().filter(|raw| *raw != "null");
    let said: Vec<String> = said.map(|raw| string(raw).unwrap_or_else(|| raw.to_owned())).collect();
    let call_id = Some(id_of(&block, &["callId"]).unwrap_or_default());
    Some(Message { call_id, ..Message::said(Role::Tool, said.join("\n")) })
}

fn rewrite(entry: &Object<'_>, kept: &[Kept<'_>]) -> String {
    let blocks = entry.list(BLOCKS);
    let owns_rest = kept.first().is_some_and(|part| part.owns_rest);
    let speaker = kept.first().map_or(Role::Tool, |part| part.now().role);
    let mut pieces = Vec::new();
    for part in kept {
        let after = part.now();
        match part.block.and_then(|index| blocks.get(index)) {
            Some(block) if after.role == Role::Tool => pieces.push(changed_result(block, part)),
            None if !part.has_other_role() => {
                let changed = CALLS.changed(&blocks, part.before, after);
                pieces.extend(changed.into_iter().filter(|block| result(block).is_none()));
            }
            None => {
                pieces.push(text_block(&after.text));
                pieces.extend(rest(&blocks).filter(|block| !CALLS.is_shown(block)));
            }
            Some(_) => pieces.push(text_block(&after.text)),
        }
    }
    // Text and media beside results are in no message of the carrier.
    if owns_rest && entry.says("speaker", &["tool"]) {
        pieces.extend(rest(&blocks));
    }
    let list = entry.get(BLOCKS).unwrap_or("[]");
    let written = if elements(list).is_some() { relisted(list, &pieces) } else { format!("[{}]", pieces.join(",")) };
    if !owns_rest {
        return format!(r#"{{"speaker":"{}","{BLOCKS}":{written}}}"#, name(speaker));
    }
    let mut changes = vec![(BLOCKS, Some(written))];
    if kept.iter().any(Kept::has_other_role) {
        changes.push(("speaker", Some(quoted(name(speaker)))));
    }
    entry.with(&changes)
}

/// The blocks other than results.
fn rest<'b>(blocks: &'b [&str]) -> impl Iterator<Item = String> + 'b {
    blocks.iter().filter(|block| result(block).is_none()).map(|block| (*block).to_owned())
}

fn changed_result(block: &str, part: &Kept<'_>) -> String {
    let Some(object) = Object::of(block).filter(|_| part.after.is_some()) else { return block.to_owned() };
    let (before, after) = (part.before, part.now());
    let mut changes = Vec::new();
    if before.call_id != after.call_id {
        changes.push(("callId", after.call_id.as_deref().map(quoted)));
    }
    if before.text != after.text {
        changes.push(("result", Some(quoted(&after.text))));
    }
    object.with(&changes)
}

fn write(new: &New<'_>) -> String {
    let message = new.message;
    let blocks = if message.role == Role::Tool {
        let id = quoted(message.call_id.as_deref().unwrap_or_default());
        let (tool, error) = (quoted(new.tool.unwrap_or_default()), quoted(&message.text));
        format!(r#"{{"type":"{RESULT}","callId":{id},"toolName":{tool},"result":null,"error":{error}}}"#)
    } else {
        let text = Some(text_block(&message.text)).filter(|_| !message.text.is_empty() || message.calls.is_empty());
        let blocks = text.into_iter().chain(message.calls.iter().map(|call| CALLS.new_call(call)));
        blocks.collect::<Vec<_>>().join(",")
    };
    format!(r#"{{"speaker":"{}","{BLOCKS}":[{blocks}]}}"#, name(message.role))
}

fn name(role: Role) -> &'static str {
    match role {
        // The program keeps its system text outside the history.
        Role::System | Role::User => "human",
        Role::Assistant => "ai",
        Role::Tool => "tool",
    }
}
