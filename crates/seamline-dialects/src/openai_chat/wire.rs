//! The shapes on the wire, as views over borrowed JSON.

use seamline_model::{BlockKind, Call, Input, IrregularityKind, MemberSort, Parts, ResultBlock, Span, WireId};

use crate::arguments::text_input;
use crate::ids::{CALL_ID_KEYS, INPUT_KEYS, RESULT_ID_KEYS, TOOL_NAME_KEYS};
use crate::json::{Kind, Value};
use crate::members::is_hollow;
use crate::no_message::is_foreign_pair;
use crate::reader::Reader;
use crate::reading::{Elsewhere, emptiness, input, is_media_type, only_text, part_text, parts};

/// The members of a message that matter here.
#[derive(Default)]
pub(super) struct WireMessage<'d, 'a> {
    pub(super) role: Option<Value<'d, 'a>>,
    pub(super) content: Option<Value<'d, 'a>>,
    pub(super) name: Option<Value<'d, 'a>>,
    pub(super) calls: Option<Value<'d, 'a>>,
    /// The id of the call a tool message answers.
    pub(super) call_id: Option<Value<'d, 'a>>,
    /// A call in a field this dialect never had, but clients did.
    pub(super) legacy_call: Option<Value<'d, 'a>>,
    /// Fields that make a message whole without content.
    pub(super) instead: Vec<Value<'d, 'a>>,
    pub(super) reasoning: Vec<Value<'d, 'a>>,
    /// Whether there are other members.
    pub(super) has_more: bool,
}

impl<'d, 'a> WireMessage<'d, 'a> {
    pub(super) fn read(value: Value<'d, 'a>, reader: &mut Reader<'_>) -> Self {
        let mut message = Self::default();
        let mut elsewhere = Elsewhere::default();
        for (key, member) in value.members() {
            let there = !member.is(Kind::Null);
            match &*key.name() {
                "role" => reader.set(&mut message.role, member),
                "content" => reader.set(&mut message.content, member),
                "name" => {
                    if there {
                        reader.set(&mut message.name, member);
                    }
                    reader.spare_member(member);
                }
                "tool_calls" => {
                    if there {
                        reader.set(&mut message.calls, member);
                    }
                    if is_hollow(member) {
                        reader.spare_member(member);
                    }
                }
                "tool_use" if member.is(Kind::Object) => reader.set(&mut message.legacy_call, member),
                "function_call" | "refusal" | "audio" => {
                    if there {
                        reader.set_among(&mut message.instead, member);
                    }
                    reader.spare_member(member);
                }
                "reasoning_content" | "reasoning" | "reasoning_details" => {
                    if there {
                        reader.set_among(&mut message.reasoning, member);
                    }
                    reader.member(member, MemberSort::Reasoning { empty: is_hollow(member) }, "");
                }
                "tool_call_id" => reader.set_one_of(&mut message.call_id, member, true),
                other if RESULT_ID_KEYS.contains(&other) => reader.set_one_of(&mut message.call_id, member, false),
                "prefix" if member.is(Kind::True) => {
                    message.has_more = true;
                    reader.member(member, MemberSort::Continued, "");
                }
                other if elsewhere.takes(other, member) => {}
                _ => {
                    message.has_more |= there;
                    reader.foreign_member(member);
                }
            }
        }
        message.has_more |= message.content.is_some() && elsewhere.is_some();
        message.content = elsewhere.or(message.content, "content", reader);
        message
    }
}

/// Types of parts that only other dialects and programs have, and that have no counterpart.
const FOREIGN_TYPES: &[&str] = &["server_tool_use", "web_search_tool_result", "step-start", "tool-error", "reasoning"];

/// Reads one part of a message's content.
pub(super) fn part(value: Value<'_, '_>, reader: &mut Reader<'_>) -> BlockKind {
    if let Some(text) = part_text(value) {
        return BlockKind::Text(emptiness(text));
    }
    match value.object().and_then(|part| part.get("type")).and_then(Value::str) {
        Some(kind) if is_media_type(&kind) => BlockKind::Media,
        Some(kind) if FOREIGN_TYPES.contains(&&*kind) => {
            reader.note(IrregularityKind::ForeignBlock, value.span());
            BlockKind::Opaque
        }
        // Those that have types are written as they are here.
        None if is_foreign_pair(value) => {
            reader.note(IrregularityKind::ForeignBlock, value.span());
            BlockKind::Opaque
        }
        _ => reader.odd_text(value).unwrap_or_else(|| {
            if !is_foreign_pair(value) {
                reader.unknown_block(value);
            }
            BlockKind::Opaque
        }),
    }
}

/// Notes the members of a text that the dialect does not define. The members of other types change too often for a
/// list; only their cache marks are noted.
pub(super) fn note_members(part: Value<'_, '_>, reader: &mut Reader<'_>) {
    let is_text = part_text(part).is_some();
    let kind = part.object().and_then(|part| part.get("type")).and_then(Value::str);
    for (key, member) in part.members() {
        let name = key.name();
        // The content of a refusal and of a file is under the name of its type.
        if matches!(&*name, "refusal" | "file") && kind.as_deref() == Some(&*name) {
            reader.spare_member(member);
            continue;
        }
        let known = if is_text { matches!(&*name, "type" | "text") } else { name != "cache_control" };
        if !known {
            reader.foreign_member(member);
        }
    }
}

/// Types of calls that have a form of their own, or that other dialects and programs write into the list.
const CALL_TYPES: &[&str] = &["function", "custom", "function_call", "tool_call", "tool_use", "tool-call"];

/// Whether an entry of a list of calls has a type that is not known, and no function. The provider may have added it.
pub(super) fn is_unknown_call(value: Value<'_, '_>) -> bool {
    has_unknown_type(value) && !has_function(value)
}

fn has_unknown_type(call: Value<'_, '_>) -> bool {
    let kind = call.object().and_then(|call| call.get("type")).map_or("", Value::raw_str);
    !kind.is_empty() && !CALL_TYPES.contains(&kind)
}

/// Reads one call of a message's list, and whether it has the signature that Gemini's models give.
pub(super) fn call(value: Value<'_, '_>, reader: &mut Reader<'_>) -> (Call, bool) {
    let mut is_signed = false;
    let mut id = None;
    let mut function = None;
    let mut flat = None;
    for (key, member) in value.members() {
        match &*key.name() {
            "function" => reader.set_one_of(&mut function, member, true),
            "custom" => reader.set_one_of(&mut function, member, false),
            other if TOOL_NAME_KEYS.contains(&other) => reader.set(&mut flat, member),
            "id" => reader.set_one_of(&mut id, member, true),
            other if CALL_ID_KEYS.contains(&other) => reader.set_one_of(&mut id, member, false),
            "extra_content" => is_signed = signature(member).is_some(),
            _ => {}
        }
    }
    let id = reader.named_id(id, "id");
    let custom = function.is_some_and(|function| function.key().says("custom"));
    let Some(members) = function.and_then(Value::object) else {
        // Name and arguments beside the id instead of under `function`.
        let name = reader.tool_name(flat.or(function));
        let call = Call::new(id.as_deref(), name.as_deref(), Input::Other, &mut reader.transcript.tools);
        return (call, is_signed);
    };
    let own = if custom { "input" } else { "arguments" };
    let held = members.get(own).or_else(|| {
        let input = INPUT_KEYS.iter().find_map(|key| members.get(key))?;
        reader.foreign(input.key().span(), own);
        Some(input)
    });
    let name = reader.tool_name(members.get("name"));
    let input = match held {
        // A custom tool takes text of any kind.
        Some(input) if !custom && input.is(Kind::String) => text_input(input),
        // The input of a call of an unknown type may have any form.
        Some(_) if has_unknown_type(value) => Input::Text,
        held => input(held),
    };
    (Call::new(id.as_deref(), name.as_deref(), input, &mut reader.transcript.tools), is_signed)
}

/// Whether the name and the arguments of a call are under `function` or `custom`, as the list has them.
pub(super) fn has_function(value: Value<'_, '_>) -> bool {
    let members = value.object();
    let held = members.and_then(|members| members.get("function").or_else(|| members.get("custom")));
    held.is_some_and(|held| held.is(Kind::Object))
}

/// Finds the signature of a call in the member for content of other providers (GEM-24).
pub(super) fn signature<'d, 'a>(extra: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    let signature = extra.object()?.get("google")?.object()?.get("thought_signature")?;
    Some(signature).filter(|signature| !is_hollow(*signature))
}

/// Reads a call from the legacy field. Some programs write it there in the form of the list.
pub(super) fn legacy_call(value: Value<'_, '_>, reader: &mut Reader<'_>) -> Call {
    if has_function(value) {
        return call(value, reader).0;
    }
    let one_of = |keys: &[&str]| keys.iter().find_map(|key| value.object()?.get(key));
    let (id, name) = (one_of(CALL_ID_KEYS).and_then(Value::str), one_of(TOOL_NAME_KEYS).and_then(Value::str));
    Call::new(id.as_deref(), name.as_deref(), input(one_of(INPUT_KEYS)), &mut reader.transcript.tools)
}

/// Reads a tool message as the result it is.
pub(super) fn result(message: &WireMessage<'_, '_>, reader: &mut Reader<'_>) -> ResultBlock {
    let id = reader.named_id(message.call_id, "tool_call_id");
    for part in message.content.into_iter().flat_map(Value::elements) {
        note_members(part, reader);
    }
    let name = reader.tool_name(message.name);
    let has_more = message.has_more
        || !message.instead.is_empty()
        || message.legacy_call.is_some()
        || !message.reasoning.is_empty();
    ResultBlock {
        id: id.as_deref().map(WireId::from),
        tool: name.map(|name| reader.transcript.tools.add(&name)),
        synthetic: reader.synthetic(message.content, message.content.filter(|_| !has_more).and_then(only_text)),
        failed: false,
        has_more,
        parts: message.content.map_or(Parts::Missing, parts),
        content: message.content.map_or(Span::default(), Value::span),
    }
}
