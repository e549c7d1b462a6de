//! Calls and results in the content of a message, as other dialects and programs write them: a history that was
//! converted only in part.

use std::borrow::Cow;

use seamline_model::{MARK, MessageIndex, Role, Transcript};

use super::calls;
use super::rewrite::text_part;
use super::wire::WireMessage;
use crate::convert::failure::marked;
use crate::ids::RESULT_ID_KEYS;
use crate::json::{Document, Json, Kind, Object, Value, list, quoted};
use crate::members::is_hollow;
use crate::no_message::is_typed;
use crate::rewriting::{cuts, set_members};
use crate::splice::{BlockPlan, MessageWriter, apply_patches};

/// The types that such calls and results have.
const CALLS: &[&str] = &["tool_use", "tool-call", "function_call"];
const RESULTS: &[&str] = &["tool_result", "tool-result", "function_call_output"];

/// The members that hold the output of such results.
const OUTPUT_KEYS: &[&str] = &["content", "output", "result"];

/// Whether a message holds such calls or results. A message that is already a result is left alone.
pub(super) fn has_pairs(role: Role, wire: &WireMessage<'_, '_>) -> bool {
    let is_read = role == Role::Tool && wire.call_id.is_some();
    let content = wire.content.filter(|_| !is_read && role != Role::Unknown);
    content.into_iter().flat_map(Value::elements).any(|part| is_call(part) || is_result(part))
}

/// Writes a message as its own text and calls, and each result as a message.
pub(super) fn restated(
    writer: &MessageWriter<'_, '_>,
    transcript: &Transcript<'_>,
    index: MessageIndex,
) -> Vec<String> {
    let message = transcript.message(index);
    let source = Document::part(transcript.source, message.span);
    let value = source.root();
    let content = value.object().and_then(|members| members.get("content"));
    let parts = || content.into_iter().flat_map(Value::elements);
    let results = parts().filter(|part| is_result(*part)).map(|part| writer.render(&result(part), 0));
    let own = own_message(writer, transcript, index, value);
    match message.role {
        Role::Assistant => own.into_iter().chain(results).collect(),
        _ => results.chain(own).collect(),
    }
}

/// Writes a message with its calls in their list and without results, if anything is left.
fn own_message(
    writer: &MessageWriter<'_, '_>,
    transcript: &Transcript<'_>,
    index: MessageIndex,
    value: Value<'_, '_>,
) -> Option<String> {
    let members = value.object()?;
    let message = transcript.message(index);
    let parts = || members.get("content").into_iter().flat_map(Value::elements);
    let rest: Vec<_> =
        parts().filter(|part| !is_call(*part) && !is_result(*part)).map(|part| Json::Raw(part.raw())).collect();
    let untouched = BlockPlan::default();
    let made = parts().filter(|part| is_call(*part)).map(|part| calls::flat_as_call(part, &untouched));
    let listed = members.get(calls::LIST).into_iter().flat_map(Value::elements).map(|call| Json::Raw(call.raw()));
    let calls: Vec<_> = listed.chain(made).collect();
    let is_more = |key: &str| !matches!(key, "role" | "content" | "name" | calls::LIST);
    let says_more = value.members().any(|(key, member)| is_more(&key.name()) && !is_hollow(member));
    if rest.is_empty() && calls.is_empty() && !says_more {
        return None;
    }
    let content = if rest.is_empty() { Json::Null } else { list(rest) };
    let mut values = vec![("content", writer.render(&content, 1))];
    // A tool message may hold only results.
    if message.role == Role::Tool {
        values.push(("role", quoted(Role::User.as_str())));
    }
    let mut patches = Vec::new();
    if calls.is_empty() {
        patches.extend(cuts(value, &[calls::LIST]));
    } else {
        values.push((calls::LIST, writer.render(&list(calls), 1)));
    }
    patches.extend(set_members(value, values));
    Some(apply_patches(transcript, message.span, &mut patches))
}

/// Whether an object is such a call or result.
pub(super) fn is_pair(part: Object<'_, '_>) -> bool {
    is_typed(part, CALLS) || is_typed(part, RESULTS)
}

/// Whether a part is such a call or result.
pub(super) fn is_pair_part(part: Value<'_, '_>) -> bool {
    part.object().is_some_and(is_pair)
}

/// Writes a part. Such a call or result becomes a text, with all calls and results in it.
pub(super) fn without_pairs<'a>(part: Value<'_, 'a>) -> Json<'a> {
    if is_pair_part(part) { text_part(Json::Text(part.raw().to_owned())) } else { Json::Raw(part.raw()) }
}

fn is_call(part: Value<'_, '_>) -> bool {
    part.object().is_some_and(|part| is_typed(part, CALLS))
}

fn is_result(part: Value<'_, '_>) -> bool {
    part.object().is_some_and(|part| is_typed(part, RESULTS))
}

/// Writes a result as a tool message.
fn result<'a>(part: Value<'_, 'a>) -> Json<'a> {
    let one_of = |keys: &[&str]| keys.iter().find_map(|key| part.object()?.get(key));
    let failed = one_of(&["is_error", "isError"]).is_some_and(|failed| failed.is(Kind::True));
    let id = one_of(RESULT_ID_KEYS).map_or(Json::Text(String::new()), |id| Json::Raw(id.raw()));
    let mut members: Vec<(Cow<'a, str>, Json<'a>)> = vec![
        ("role".into(), Json::Text(Role::Tool.as_str().to_owned())),
        ("tool_call_id".into(), id),
        ("content".into(), output(one_of(OUTPUT_KEYS), failed)),
    ];
    let others = part.members().filter(|(key, member)| !is_of_result(&key.name()) && !is_hollow(*member));
    members.extend(others.map(|(key, member)| (Cow::Borrowed(key.raw_str()), Json::Raw(member.raw()))));
    Json::Members(members)
}

/// Whether a member of a result is written in the form of this dialect, or means nothing in it.
fn is_of_result(key: &str) -> bool {
    matches!(key, "type" | "is_error" | "isError" | "toolName" | "cache_control")
        || RESULT_ID_KEYS.contains(&key)
        || OUTPUT_KEYS.contains(&key)
}

fn output<'a>(held: Option<Value<'_, 'a>>, failed: bool) -> Json<'a> {
    // Some programs wrap an output in an object that says how it is written.
    let inner =
        held.and_then(Value::object).filter(|held| held.get("type").is_some()).and_then(|held| held.get("value"));
    let Some(held) = inner.or(held) else { return Json::Text(marked("", failed, false)) };
    let is_part = |part: Value<'_, '_>| part.object().is_some_and(|part| part.get("type").is_some());
    match held.kind() {
        Kind::String if !failed => Json::Raw(held.raw()),
        Kind::String => {
            let text = held.str().unwrap_or_default();
            // A synthetic result starts with the mark; a policy may have any text after it.
            Json::Text(marked(&text, failed, text.starts_with(MARK)))
        }
        Kind::Null => Json::Text(marked("", failed, false)),
        Kind::Array if held.elements().all(is_part) => {
            let mark = failed.then(|| text_part(Json::Text(marked("", failed, false))));
            list(mark.into_iter().chain(held.elements().map(without_pairs)).collect())
        }
        _ => Json::Text(marked(held.raw(), failed, false)),
    }
}
