//! Single calls, changed.

use seamline_model::{Block, Field, Transcript};

use crate::json::{Document, Json, Kind, Value, list, member, object, quoted};
use crate::rewriting::{input_json_text, input_text, set_member, set_members};
use crate::splice::{BlockPlan, apply_patches};

/// The list of calls.
pub(super) const LIST: &str = "tool_calls";

/// A call in a field this dialect never had, but clients did.
pub(super) const LEGACY: &str = "tool_use";

/// A call under its plan, in the form of this dialect.
pub(super) fn written<'a>(transcript: &Transcript<'a>, block: &Block, plan: Option<&BlockPlan<'_>>) -> Json<'a> {
    let source = Document::part(transcript.source, block.span);
    let value = source.root();
    match plan {
        _ if block.slot.field == Field::Whole => legacy_as_call(value),
        None => Json::Raw(value.raw()),
        Some(plan) => changed(value, plan, transcript),
    }
}

fn changed<'a>(value: Value<'_, 'a>, plan: &BlockPlan<'_>, transcript: &Transcript<'_>) -> Json<'a> {
    let Some(members) = value.object() else { return Json::Raw(value.raw()) };
    let function = members.get("function").or_else(|| members.get("custom")).filter(|value| value.is(Kind::Object));
    let Some(function) = function else { return flat_as_call(value, plan) };
    let mut patches: Vec<_> = plan.id.and_then(|id| set_member(value, "id", &quoted(id))).into_iter().collect();
    let mut values = Vec::new();
    values.extend(plan.name.map(|name| ("name", quoted(name))));
    if plan.input {
        let key = if members.get("function").is_some() { "arguments" } else { "input" };
        let input = function.object().and_then(|function| function.get(key));
        values.push((key, input_json_text(input)));
    }
    patches.extend(set_members(function, &values));
    Json::Written(apply_patches(transcript, value.span(), &mut patches))
}

/// A call whose name and arguments stand beside its id.
fn flat_as_call<'a>(value: Value<'_, 'a>, plan: &BlockPlan<'_>) -> Json<'a> {
    let get = |key| value.object().and_then(|call| call.get(key));
    let string = |given: Option<&str>, value: Option<Value<'_, 'a>>| match (given, value) {
        (Some(given), _) => Json::Text(given.to_owned()),
        (None, Some(value)) if value.is(Kind::String) => Json::Raw(value.raw()),
        _ => Json::Text(String::new()),
    };
    call(
        string(plan.id, get("id").or_else(|| get("call_id"))),
        string(plan.name, get("name")),
        input_text(get("arguments").or_else(|| get("input"))),
    )
}

fn legacy_as_call<'a>(value: Value<'_, 'a>) -> Json<'a> {
    let get = |key| value.object().and_then(|call| call.get(key));
    let raw = |key| get(key).map_or(Json::Text(String::new()), |value| Json::Raw(value.raw()));
    call(raw("id"), raw("name"), input_text(get("input")))
}

fn call<'a>(id: Json<'a>, name: Json<'a>, arguments: String) -> Json<'a> {
    let function = object([("name", name), ("arguments", Json::Written(arguments))]);
    object([("id", id), member("type", "function"), ("function", function)])
}

/// An assistant message that makes a call rebuilt from its result.
pub(super) fn rebuilt<'a>(id: &str, name: &str) -> Json<'a> {
    let arguments = quoted("{\"reconstructed\":true}");
    let call = call(Json::Text(id.to_owned()), Json::Text(name.to_owned()), arguments);
    object([member("role", "assistant"), ("content", Json::Null), (LIST, list(vec![call]))])
}
