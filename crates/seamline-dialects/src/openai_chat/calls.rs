//! Writes single calls.

use std::borrow::Cow;

use seamline_model::{Block, Field, Span, Transcript};

use super::wire::has_function;
use crate::ids::{CALL_ID_KEYS, INPUT_KEYS, TOOL_NAME_KEYS};
use crate::json::{Document, Json, Kind, Value, list, member, object, quoted};
use crate::rewriting::{REBUILT_INPUT, input_json_text, input_text, set_member, set_members};
use crate::splice::{BlockPlan, apply_patches};

/// The member with the list of calls.
pub(super) const LIST: &str = "tool_calls";

/// The member of a call with content of other providers.
const EXTRA: &str = "extra_content";

/// A call in a field this dialect never had, but clients did.
pub(super) const LEGACY: &str = "tool_use";

/// Writes a call under its plan, in the form of this dialect.
pub(super) fn written<'a>(transcript: &Transcript<'a>, block: &Block, plan: Option<&BlockPlan<'_>>) -> Json<'a> {
    let source = Document::part(transcript.source, block.span);
    let value = source.root();
    match plan {
        _ if block.slot().field == Field::Whole && has_function(value) => typed(value, transcript),
        _ if block.slot().field == Field::Whole => flat_as_call(value, &BlockPlan::default()),
        None => Json::Raw(value.raw()),
        Some(plan) => changed(value, plan, transcript),
    }
}

/// Writes a call in the form of the list, with its type.
fn typed<'a>(value: Value<'_, 'a>, transcript: &Transcript<'_>) -> Json<'a> {
    let Some(members) = value.object().filter(|members| members.get("type").is_none()) else {
        return Json::Raw(value.raw());
    };
    let kind = if members.get("function").is_some() { "function" } else { "custom" };
    let mut patches: Vec<_> = set_member(value, "type", &quoted(kind)).into_iter().collect();
    Json::Written(apply_patches(transcript, value.span(), &mut patches))
}

fn changed<'a>(value: Value<'_, 'a>, plan: &BlockPlan<'_>, transcript: &Transcript<'_>) -> Json<'a> {
    let Some(members) = value.object() else { return Json::Raw(value.raw()) };
    let function = members.get("function").or_else(|| members.get("custom")).filter(|value| value.is(Kind::Object));
    let Some(function) = function else { return flat_as_call(value, plan) };
    let mut patches: Vec<_> = plan.id.and_then(|id| set_member(value, "id", &quoted(id))).into_iter().collect();
    if let Some(signature) = plan.sign {
        patches.extend(signed(value, signature));
    }
    let mut values = Vec::new();
    values.extend(plan.name.map(|name| ("name", quoted(name))));
    if plan.input {
        let key = if members.get("function").is_some() { "arguments" } else { "input" };
        let input = function.object().and_then(|function| function.get(key));
        values.push((key, input_json_text(input)));
    }
    patches.extend(set_members(function, values));
    Json::Written(apply_patches(transcript, value.span(), &mut patches))
}

/// The patch that puts a signature of Gemini on a call. Other content in the same member stays.
fn signed(call: Value<'_, '_>, signature: &str) -> Option<(Span, String)> {
    let quoted = quoted(signature);
    let signature = format!("{{\"thought_signature\":{quoted}}}");
    let extra = held_object(call, EXTRA);
    match (extra.and_then(|extra| held_object(extra, "google")), extra) {
        (Some(google), _) => set_member(google, "thought_signature", &quoted),
        (None, Some(extra)) => set_member(extra, "google", &signature),
        (None, None) => set_member(call, EXTRA, &format!("{{\"google\":{signature}}}")),
    }
}

/// The member of a value, if it is an object.
fn held_object<'d, 'a>(value: Value<'d, 'a>, key: &str) -> Option<Value<'d, 'a>> {
    value.object()?.get(key).filter(|held| held.is(Kind::Object))
}

/// Writes a call whose name and arguments are beside its id, under any of the known names. Unknown members stay beside
/// them, or become the input if there is none.
pub(super) fn flat_as_call<'a>(value: Value<'_, 'a>, plan: &BlockPlan<'_>) -> Json<'a> {
    let one_of = |keys: &[&str]| keys.iter().find_map(|key| value.object()?.get(key));
    let id = string(plan.id, one_of(CALL_ID_KEYS));
    let name = one_of(TOOL_NAME_KEYS).or_else(|| one_of(&["function"]).filter(|name| name.is(Kind::String)));
    let name = string(plan.name, name);
    let others = value.members().filter(|(key, member)| !is_of_flat_call(&key.name()) && !member.is(Kind::Null));
    let Some(input) = one_of(INPUT_KEYS) else {
        let others: Vec<_> = others.map(|(key, member)| [key.raw(), ":", member.raw()].concat()).collect();
        return function_call(id, name, quoted(&format!("{{{}}}", others.join(","))));
    };
    let mut members = call_members(id, name, input_text(Some(input)));
    members.extend(others.map(|(key, member)| (Cow::Borrowed(key.raw_str()), Json::Raw(member.raw()))));
    Json::Members(members)
}

/// Whether a member of a flat call is its id, name or input. Cache marks are dropped with the old form.
fn is_of_flat_call(key: &str) -> bool {
    matches!(key, "type" | "function" | "cache_control")
        || [CALL_ID_KEYS, TOOL_NAME_KEYS, INPUT_KEYS].iter().any(|keys| keys.contains(&key))
}

fn string<'a>(given: Option<&str>, value: Option<Value<'_, 'a>>) -> Json<'a> {
    match (given, value) {
        (Some(given), _) => Json::Text(given.to_owned()),
        (None, Some(value)) if value.is(Kind::String) => Json::Raw(value.raw()),
        (None, Some(value)) if value.is(Kind::Number) => Json::Text(value.raw().to_owned()),
        _ => Json::Text(String::new()),
    }
}

fn call_members<'a>(id: Json<'a>, name: Json<'a>, arguments: String) -> Vec<(Cow<'a, str>, Json<'a>)> {
    let function = object([("name", name), ("arguments", Json::Written(arguments))]);
    let kind = Json::Text("function".to_owned());
    vec![("id".into(), id), ("type".into(), kind), ("function".into(), function)]
}

/// Writes a call of a function. The arguments are a JSON string.
pub(super) fn function_call<'a>(id: Json<'a>, name: Json<'a>, arguments: String) -> Json<'a> {
    Json::Members(call_members(id, name, arguments))
}

/// Writes the result of a call, which is a message of its own.
pub(super) fn result<'a>(id: &str, content: Json<'a>) -> Json<'a> {
    object([member("role", "tool"), member("tool_call_id", id), ("content", content)])
}

/// Writes an assistant message that makes a call rebuilt from its result.
pub(super) fn rebuilt<'a>(id: &str, name: &str) -> Json<'a> {
    let arguments = quoted(REBUILT_INPUT);
    let call = function_call(Json::Text(id.to_owned()), Json::Text(name.to_owned()), arguments);
    object([member("role", "assistant"), ("content", Json::Null), (LIST, list(vec![call]))])
}
