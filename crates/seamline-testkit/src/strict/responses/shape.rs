//! Demands on each item by itself.

use serde_json::Value;

use crate::strict::{
    Violation, ViolationKind,
    ident::{is_short, is_word},
    wire,
};

/// OAC-9, which the SDK states for both dialects.
const NAME_CHARS_MAX: usize = 64;
/// OAR-13: a length and no alphabet.
const CALL_ID_CHARS_MAX: usize = 64;
/// OAR-14.
const ITEM_ID_CHARS_MAX: usize = 64;

/// Adds the violations of each item by itself.
pub(super) fn check(items: &[Value], violations: &mut Vec<Violation>) {
    for (index, item) in items.iter().enumerate() {
        let kinds = item_kinds(item);
        violations.extend(kinds.into_iter().map(|kind| Violation { message: index, kind }));
    }
}

fn item_kinds(item: &Value) -> Vec<ViolationKind> {
    if !item.is_object() {
        return vec![ViolationKind::Malformed];
    }
    if super::pairing::is_reference(item) {
        let is_legal = is_word(item.get("id"), ITEM_ID_CHARS_MAX);
        return if is_legal { Vec::new() } else { vec![ViolationKind::BadItemId] };
    }
    let mut kinds = match wire::kind(item) {
        "" | "message" => message_kinds(item),
        "function_call" => call_kinds(item, "arguments"),
        "custom_tool_call" => call_kinds(item, "input"),
        "function_call_output" | "custom_tool_call_output" => result_kinds(item),
        "computer_call_output" => screen_kinds(item),
        _ => Vec::new(),
    };
    if wire::present(item, "id").is_some_and(|id| !is_item_id(item, id)) {
        kinds.push(ViolationKind::BadItemId);
    }
    kinds
}

/// OAR-14, OAR-15.
fn is_item_id(item: &Value, id: &Value) -> bool {
    let start = match wire::kind(item) {
        "" | "message" => "msg",
        "function_call" => "fc",
        "custom_tool_call" => "ctc",
        "reasoning" => "rs",
        "compaction" => "cmp",
        _ => "",
    };
    is_word(Some(id), ITEM_ID_CHARS_MAX) && id.as_str().is_some_and(|id| id.starts_with(start))
}

/// OAR-1, OAR-16.
fn message_kinds(message: &Value) -> Vec<ViolationKind> {
    let foreign: &[&str] = match wire::role(message) {
        "assistant" => &["input_text", "text", "input_image", "input_file"],
        "user" | "system" | "developer" => &["output_text", "text", "refusal"],
        _ => return vec![ViolationKind::UnknownRole],
    };
    match message.get("content") {
        Some(Value::String(_)) => Vec::new(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part_kind(part, foreign)).collect(),
        _ => vec![ViolationKind::BadContent],
    }
}

fn part_kind(part: &Value, foreign: &[&str]) -> Option<ViolationKind> {
    if !part.is_object() {
        return Some(ViolationKind::Malformed);
    }
    foreign.contains(&wire::kind(part)).then_some(ViolationKind::BadContent)
}

/// OAR-1, OAR-13.
fn call_kinds(call: &Value, input: &str) -> Vec<ViolationKind> {
    let demands = [
        (is_short(call.get("call_id"), CALL_ID_CHARS_MAX), ViolationKind::BadCallId),
        (is_word(call.get("name"), NAME_CHARS_MAX), ViolationKind::BadToolName),
        (wire::string(call, input).is_some(), ViolationKind::BadInput),
    ];
    demands.into_iter().filter(|(met, _)| !met).map(|(_, kind)| kind).collect()
}

fn result_kinds(result: &Value) -> Vec<ViolationKind> {
    let is_legal = match result.get("output") {
        Some(Value::String(_)) => true,
        Some(Value::Array(parts)) => parts.iter().all(|part| part_kind(part, &["output_text", "text"]).is_none()),
        _ => false,
    };
    // OAR-26: a report that no call asked for names its tool.
    let is_report = wire::present(result, "call_id").is_none() && wire::string(result, "name").is_some();
    let demands = [
        (is_report || is_short(result.get("call_id"), CALL_ID_CHARS_MAX), ViolationKind::BadResultId),
        (is_legal, ViolationKind::BadResultContent),
    ];
    demands.into_iter().filter(|(met, _)| !met).map(|(_, kind)| kind).collect()
}

/// OAR-1: a screenshot, in the request or as a URL or file id.
fn screen_kinds(result: &Value) -> Vec<ViolationKind> {
    let output = result.get("output").filter(|output| wire::kind(output) == "computer_screenshot");
    let place = |key| output.and_then(|output| wire::string(output, key)).is_some_and(|place| !place.is_empty());
    let demands = [
        (is_short(result.get("call_id"), CALL_ID_CHARS_MAX), ViolationKind::BadResultId),
        (place("image_url") || place("file_id"), ViolationKind::BadResultContent),
    ];
    demands.into_iter().filter(|(met, _)| !met).map(|(_, kind)| kind).collect()
}
