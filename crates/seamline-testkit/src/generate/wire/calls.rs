//! Calls where no call should stand, and ids under other programs' keys.

use serde_json::{Value, json};

use super::{
    WireBreaker,
    place::{self, Fields, calls_count, is_role},
};
use crate::{
    Dialect,
    text::{self, Style},
};

/// The field is one that clients of `OpenAI`'s dialect wrote.
pub(super) fn legacy(breaker: WireBreaker, dialect: Dialect, body: &mut Value, place: usize) -> Option<()> {
    if dialect != Dialect::OpenAiChat {
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

/// A call of the list as the old field has it.
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
    let own = place::call_id_key(dialect);
    let keys = ["call_id", "toolCallId", "toolUseId", "id"];
    let foreign = keys.into_iter().filter(|key| *key != own).nth(place % 3)?;
    rename(place::call(dialect, body, place)?, own, foreign)
}

pub(super) fn foreign_result_key(dialect: Dialect, body: &mut Value, place: usize) -> Option<()> {
    let own = place::result_id_key(dialect);
    let keys = ["toolCallId", "call_id", "toolUseId", "tool_use_id", "tool_call_id"];
    let foreign = keys.into_iter().filter(|key| *key != own).nth(place % 4)?;
    rename(place::result(dialect, body, place, |_| true)?, own, foreign)
}

fn rename(fields: &mut Fields, from: &str, to: &str) -> Option<()> {
    let held = fields.remove(from)?;
    fields.insert(to.into(), held);
    Some(())
}
