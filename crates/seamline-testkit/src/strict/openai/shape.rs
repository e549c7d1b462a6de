//! Demands on each message by itself.

use serde_json::Value;

use super::calls;
use crate::strict::{
    Violation, ViolationKind,
    ident::{is_short, is_word},
    unknown, wire,
};

/// OAC-9: `^[a-zA-Z0-9_-]{1,64}$`.
const NAME_CHARS_MAX: usize = 64;
/// OAC-5: a length and no alphabet.
const ID_CHARS_MAX: usize = 40;

/// Adds the violations of each message by itself.
pub(super) fn check(messages: &[Value], violations: &mut Vec<Violation>) {
    for (index, message) in messages.iter().enumerate() {
        let kinds = message_kinds(message);
        violations.extend(kinds.into_iter().map(|kind| Violation { message: index, kind }));
    }
}

fn message_kinds(message: &Value) -> Vec<ViolationKind> {
    if !message.is_object() {
        return vec![ViolationKind::Malformed];
    }
    match wire::role(message) {
        "assistant" => assistant_kinds(message),
        "tool" => [result_kinds(message), foreign_call_kinds(message)].concat(),
        "system" | "developer" | "user" => [content_kinds(message), foreign_call_kinds(message)].concat(),
        // A legacy role whose messages pair with no call.
        "function" => Vec::new(),
        _ => vec![ViolationKind::UnknownRole],
    }
}

/// OAC-1, OAC-7, OAC-8.
fn assistant_kinds(message: &Value) -> Vec<ViolationKind> {
    let mut kinds = match wire::present(message, "tool_calls") {
        None => Vec::new(),
        Some(Value::Array(calls)) if calls.is_empty() => vec![ViolationKind::EmptyCallList],
        Some(Value::Array(calls)) => calls.iter().flat_map(call_kinds).collect(),
        Some(_) => vec![ViolationKind::BadCallList],
    };
    let says_otherwise = ["function_call", "refusal", "audio"].iter().any(|key| wire::present(message, key).is_some());
    let may_lack_content = says_otherwise || unknown::may_say(message) || !calls(message).is_empty();
    if wire::present(message, "content").is_some() || !may_lack_content {
        kinds.extend(content_kinds(message));
    }
    kinds
}

fn call_kinds(call: &Value) -> Vec<ViolationKind> {
    let (body, input) = match wire::kind(call) {
        "custom" => ("custom", "input"),
        // A type that the provider may have added.
        kind if !matches!(kind, "" | "function") && call.get(kind).is_some() => return Vec::new(),
        _ => ("function", "arguments"),
    };
    let body = call.get(body).unwrap_or(&Value::Null);
    let demands = [
        (is_short(call.get("id"), ID_CHARS_MAX), ViolationKind::BadCallId),
        (is_word(body.get("name"), NAME_CHARS_MAX), ViolationKind::BadToolName),
        (wire::string(body, input).is_some(), ViolationKind::BadInput),
    ];
    demands.into_iter().filter(|(met, _)| !met).map(|(_, kind)| kind).collect()
}

fn result_kinds(message: &Value) -> Vec<ViolationKind> {
    let mut kinds = Vec::new();
    if !is_short(message.get("tool_call_id"), ID_CHARS_MAX) {
        kinds.push(ViolationKind::BadResultId);
    }
    let is_text = |part: &Value| wire::kind(part) == "text" && wire::string(part, "text").is_some();
    let is_legal = match message.get("content") {
        Some(Value::String(_)) => true,
        Some(Value::Array(parts)) => parts.iter().all(is_text),
        _ => false,
    };
    if !is_legal {
        kinds.push(ViolationKind::BadResultContent);
    }
    kinds
}

fn content_kinds(message: &Value) -> Vec<ViolationKind> {
    match message.get("content") {
        Some(Value::String(_) | Value::Array(_)) => Vec::new(),
        _ => vec![ViolationKind::BadContent],
    }
}

fn foreign_call_kinds(message: &Value) -> Vec<ViolationKind> {
    match wire::present(message, "tool_calls") {
        None => Vec::new(),
        Some(Value::Array(calls)) if calls.is_empty() => Vec::new(),
        Some(_) => vec![ViolationKind::CallInWrongRole],
    }
}
