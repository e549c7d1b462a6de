//! Breaks of calls: wrong fields, and the keys of other programs.

use serde_json::{Value, json};

use super::{
    WireBreaker,
    place::{self, Fields, calls_count, is_role},
};
use crate::{
    Dialect,
    text::{self, Style},
};

/// Clients of `OpenAI`'s dialect wrote this field.
pub(super) fn legacy(breaker: WireBreaker, dialect: Dialect, body: &mut Value, place: usize) -> Option<()> {
    if !dialect.row().has_chat_fields {
        return None;
    }
    let fits = |message: &Fields| {
        let count = calls_count(message);
        let assistant = is_role(message, "assistant");
        match breaker {
            WireBreaker::LegacyCallBesideCalls => assistant && count.is_some_and(|count| count > 0),
            WireBreaker::LegacyCallInstead => assistant && count == Some(1),
            WireBreaker::LegacyCallOfUser => is_role(message, "user"),
            _ => assistant && count.is_none(),
        }
    };
    let message = place::message(body, place, fits)?;
    let mut call =
        json!({"id": format!("legacy_{place}"), "name": "search", "input": {"step": format!("call-l{place}:")}});
    if breaker == WireBreaker::LegacyCallInstead {
        call = retired(message.remove("tool_calls")?.get(0)?)?;
    }
    if breaker == WireBreaker::LegacyCallBesideEmptyList {
        message.insert("tool_calls".into(), json!([]));
    }
    message.insert("tool_use".into(), call);
    Some(())
}

/// A call of the list in the shape of the old field.
fn retired(call: &Value) -> Option<Value> {
    let function = call.get("function")?;
    let arguments = function.get("arguments")?;
    let input = arguments.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or(arguments.clone());
    let mut fields = Fields::new();
    fields.insert("name".into(), function.get("name")?.clone());
    fields.insert("input".into(), input);
    if let Some(id) = call.get("id") {
        fields.insert("id".into(), id.clone());
    }
    Some(Value::Object(fields))
}

pub(super) fn odd_list(breaker: WireBreaker, body: &mut Value, place: usize) -> Option<()> {
    let least = usize::from(breaker != WireBreaker::CallListAsWord);
    let most = if breaker == WireBreaker::CallListAsObject { 1 } else { usize::MAX };
    let fits = |message: &Fields| calls_count(message).is_some_and(|count| (least..=most).contains(&count));
    let list = place::message(body, place, fits)?.get_mut("tool_calls")?;
    *list = match breaker {
        WireBreaker::CallListAsText => json!(text::write(list, Style::COMPACT)),
        WireBreaker::CallListAsObject => list.get(0)?.clone(),
        _ => json!("none"),
    };
    Some(())
}

pub(super) fn foreign_call_key(dialect: Dialect, body: &mut Value, place: usize) -> Option<()> {
    let own = dialect.row().call_id_key;
    let keys = ["call_id", "toolCallId", "toolUseId", "id"];
    let foreign = keys.into_iter().filter(|key| *key != own).nth(place % 3)?;
    rename(place::call(dialect, body, place)?, own, foreign)
}

pub(super) fn foreign_result_key(dialect: Dialect, body: &mut Value, place: usize) -> Option<()> {
    let own = dialect.row().result_id_key;
    let keys = ["toolCallId", "call_id", "toolUseId", "tool_use_id", "tool_call_id"];
    let foreign = keys.into_iter().filter(|key| *key != own).nth(place % 4)?;
    rename(place::result(dialect, body, place, |_| true)?, own, foreign)
}

/// If the input is beside the id, only its key changes; otherwise both move.
pub(super) fn foreign_input(dialect: Dialect, body: &mut Value, place: usize) -> Option<()> {
    let own = dialect.row().input_key;
    let foreign = ["args", "parameters", "arguments", "input"].into_iter().filter(|key| *key != own).nth(place % 3)?;
    let call = place::call(dialect, body, place)?;
    if !dialect.row().has_chat_fields {
        return rename(call, own, foreign);
    }
    let function = call.get_mut("function")?.as_object_mut()?;
    if place.is_multiple_of(2) {
        return rename(function, own, foreign);
    }
    let mut function = std::mem::take(function);
    call.remove("function");
    call.insert("name".into(), function.remove("name")?);
    call.insert(foreign.into(), function.remove("arguments")?);
    Some(())
}

/// Moves the whole list of calls into the content. Only complete calls can move.
pub(super) fn foreign_pair(dialect: Dialect, body: &mut Value, place: usize) -> Option<()> {
    if !dialect.row().has_chat_fields {
        return None;
    }
    let whole = |call: &Value| retired(call).is_some_and(|call| call["input"].is_object() && call.get("id").is_some());
    let fits = |message: &Fields| {
        let calls = message.get("tool_calls").and_then(Value::as_array);
        let said = message.get("content").is_none_or(|content| content.is_null() || content.is_string());
        said && is_role(message, "assistant") && calls.is_some_and(|calls| !calls.is_empty() && calls.iter().all(whole))
    };
    let message = place::message(body, place, fits)?;
    let calls = message.remove("tool_calls")?;
    let said = message.get("content").and_then(Value::as_str).filter(|text| !text.is_empty());
    let mut blocks: Vec<Value> = said.map(|text| json!({"type": "text", "text": text})).into_iter().collect();
    for call in calls.as_array()? {
        let mut block = retired(call)?;
        block["type"] = json!("tool_use");
        blocks.push(block);
    }
    message.insert("content".into(), json!(blocks));
    Some(())
}

/// Arguments in the notation of another language, or with text around them.
pub(super) fn broken_arguments(dialect: Dialect, body: &mut Value, place: usize) -> Option<String> {
    let said = format!("broken-{place}: argument.");
    let text = match place % 3 {
        0 => format!("{{'step': '{said}'}}"),
        1 => format!("Sure! {{\"step\": \"{said}\"}}"),
        _ => format!("{{\"step\": \"{said}\",}}"),
    };
    if !dialect.row().has_text_input {
        return None;
    }
    let mut call = place::call(dialect, body, place)?;
    if dialect.row().has_chat_fields {
        call = call.get_mut("function")?.as_object_mut()?;
    }
    call.insert(dialect.row().input_key.into(), json!(text));
    Some(said)
}

fn rename(fields: &mut Fields, from: &str, to: &str) -> Option<()> {
    let held = fields.remove(from)?;
    fields.insert(to.into(), held);
    Some(())
}
