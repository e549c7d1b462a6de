//! Demands on each message by itself.

use serde_json::Value;

use crate::strict::{Violation, ViolationKind, ident::is_word, wire};

/// ANT-21: `^[a-zA-Z0-9_-]{1,128}$`.
const NAME_CHARS_MAX: usize = 128;
/// ANT-20 gives an alphabet and no length.
const ID_CHARS_MAX: usize = usize::MAX;

/// Adds the violations of each message by itself.
pub(super) fn check(messages: &[Value], violations: &mut Vec<Violation>) {
    for (index, message) in messages.iter().enumerate() {
        let is_last = index + 1 == messages.len();
        let kinds = message_kinds(message, is_last);
        violations.extend(kinds.into_iter().map(|kind| Violation { message: index, kind }));
    }
}

fn message_kinds(message: &Value, is_last: bool) -> Vec<ViolationKind> {
    if !message.is_object() {
        return vec![ViolationKind::Malformed];
    }
    let role = wire::role(message);
    if !matches!(role, "user" | "assistant" | "system") {
        return vec![ViolationKind::UnknownRole];
    }
    // ANT-18: only the final assistant message may be empty.
    let may_be_empty = is_last && role == "assistant";
    match message.get("content") {
        Some(Value::String(text)) if text.trim().is_empty() && !may_be_empty => {
            vec![ViolationKind::EmptyContent]
        }
        Some(Value::String(_)) => Vec::new(),
        Some(Value::Array(blocks)) if blocks.is_empty() && !may_be_empty => {
            vec![ViolationKind::EmptyContent]
        }
        Some(Value::Array(blocks)) => blocks.iter().flat_map(|block| block_kinds(role, block)).collect(),
        // ANT-1: a system message may be a setting.
        None if role == "system" && message.get("output_config").is_some() => Vec::new(),
        _ => vec![ViolationKind::BadContent],
    }
}

fn block_kinds(role: &str, block: &Value) -> Vec<ViolationKind> {
    match wire::kind(block) {
        "" => vec![ViolationKind::Malformed],
        "text" => text_kinds(block),
        "tool_use" => call_kinds(role, block),
        "tool_result" => result_kinds(role, block),
        "server_tool_use" | "mcp_tool_use" if role != "assistant" => {
            vec![ViolationKind::CallInWrongRole]
        }
        _ => Vec::new(),
    }
}

/// ANT-16: text is neither empty nor whitespace.
fn text_kinds(block: &Value) -> Vec<ViolationKind> {
    match wire::string(block, "text") {
        None => vec![ViolationKind::Malformed],
        Some(text) if text.trim().is_empty() => vec![ViolationKind::EmptyText],
        Some(_) => Vec::new(),
    }
}

/// ANT-3, ANT-10, ANT-20, ANT-21.
fn call_kinds(role: &str, block: &Value) -> Vec<ViolationKind> {
    let demands = [
        (role == "assistant", ViolationKind::CallInWrongRole),
        (is_word(block.get("id"), ID_CHARS_MAX), ViolationKind::BadCallId),
        (is_word(block.get("name"), NAME_CHARS_MAX), ViolationKind::BadToolName),
        (block.get("input").is_some_and(Value::is_object), ViolationKind::BadInput),
    ];
    demands.into_iter().filter(|(met, _)| !met).map(|(_, kind)| kind).collect()
}

/// ANT-2, ANT-10, ANT-16, ANT-20.
fn result_kinds(role: &str, block: &Value) -> Vec<ViolationKind> {
    let mut kinds = Vec::new();
    if role != "user" {
        kinds.push(ViolationKind::ResultInWrongRole);
    }
    if !is_word(block.get("tool_use_id"), ID_CHARS_MAX) {
        kinds.push(ViolationKind::BadResultId);
    }
    match block.get("content") {
        None | Some(Value::String(_)) => {}
        Some(Value::Array(items)) => {
            let texts = items.iter().filter(|item| wire::kind(item) == "text");
            kinds.extend(texts.flat_map(text_kinds));
        }
        Some(_) => kinds.push(ViolationKind::BadResultContent),
    }
    kinds
}
