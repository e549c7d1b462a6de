//! The shapes on the wire, as views over borrowed JSON.

use seamline_model::{BlockKind, Call, Input, Parts, ResultBlock, Role, Span, is_synthetic};

use crate::ids::{CALL_ID_KEYS, RESULT_ID_KEYS};
use crate::json::{Kind, Value};
use crate::reading::{Keys, emptiness, is_media_type, only_text, part_text, parts};

/// The members of a message that matter here.
#[derive(Default)]
pub(super) struct WireMessage<'d, 'a> {
    pub(super) role: Option<Value<'d, 'a>>,
    pub(super) content: Option<Value<'d, 'a>>,
    pub(super) name: Option<Value<'d, 'a>>,
    pub(super) calls: Option<Value<'d, 'a>>,
    /// The id of the call a tool message answers.
    pub(super) answers: Option<Value<'d, 'a>>,
    /// A call in a field this dialect never had, but clients did.
    pub(super) legacy_call: Option<Value<'d, 'a>>,
    /// Fields that make a message whole without content.
    pub(super) instead: Option<Value<'d, 'a>>,
    pub(super) reasoning: Option<Value<'d, 'a>>,
    /// Whether there are members of other names.
    pub(super) has_more: bool,
}

impl<'d, 'a> WireMessage<'d, 'a> {
    pub(super) fn read(value: Value<'d, 'a>, keys: &mut Keys) -> Self {
        let mut message = Self::default();
        for (key, member) in value.members() {
            let there = !member.is(Kind::Null);
            match &*key.name() {
                "role" => keys.set(&mut message.role, member),
                "content" => keys.set(&mut message.content, member),
                "name" if there => keys.set(&mut message.name, member),
                "tool_calls" if there => keys.set(&mut message.calls, member),
                "tool_use" if member.is(Kind::Object) => keys.set(&mut message.legacy_call, member),
                "function_call" | "refusal" | "audio" if there => keys.set(&mut message.instead, member),
                "reasoning_content" | "reasoning" | "reasoning_details" if there => {
                    keys.set(&mut message.reasoning, member);
                }
                "tool_call_id" => keys.set_one_of(&mut message.answers, member, true),
                other if RESULT_ID_KEYS.contains(&other) => keys.set_one_of(&mut message.answers, member, false),
                _ => message.has_more |= there,
            }
        }
        message
    }
}

pub(super) fn role(value: Value<'_, '_>) -> Role {
    match value.str().as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        Some("tool") => Role::Tool,
        Some("function") => Role::Function,
        _ => Role::Unknown,
    }
}

/// Reads one part of a message's content.
pub(super) fn part<'a>(value: Value<'_, 'a>) -> BlockKind<'a> {
    if let Some(text) = part_text(value) {
        return BlockKind::Text(emptiness(text));
    }
    match value.object().and_then(|part| part.get("type")).and_then(Value::str) {
        Some(kind) if is_media_type(&kind) => BlockKind::Media,
        _ => BlockKind::Opaque,
    }
}

/// Reads one call of a message's list.
pub(super) fn call<'a>(value: Value<'_, 'a>, keys: &mut Keys) -> Call<'a> {
    let mut id = None;
    let mut function = None;
    let mut flat = None;
    for (key, member) in value.members() {
        match &*key.name() {
            "function" => keys.set_one_of(&mut function, member, true),
            "custom" => keys.set_one_of(&mut function, member, false),
            "name" => keys.set(&mut flat, member),
            "id" => keys.set_one_of(&mut id, member, true),
            other if CALL_ID_KEYS.contains(&other) => keys.set_one_of(&mut id, member, false),
            _ => {}
        }
    }
    if let Some(id) = id
        && !id.key().says("id")
    {
        keys.foreign(id.key().span(), "id");
    }
    let id = id.and_then(|id| keys.id(id));
    let custom = function.is_some_and(|function| function.key().says("custom"));
    match function.and_then(Value::object) {
        Some(function) => {
            let input = if custom { function.get("input") } else { function.get("arguments") };
            Call::new(id, function.get("name").and_then(Value::str), input.map_or(Input::Missing, input_form))
        }
        // Name and arguments beside the id instead of under `function`.
        None => Call::new(id, flat.and_then(Value::str), Input::Other),
    }
}

fn input_form(value: Value<'_, '_>) -> Input {
    match value.kind() {
        Kind::String => Input::Text,
        Kind::Object => Input::Object,
        Kind::Null => Input::Null,
        _ => Input::Other,
    }
}

/// Reads a call from the legacy field.
pub(super) fn legacy_call<'a>(value: Value<'_, 'a>) -> Call<'a> {
    let member = |key| value.object().and_then(|call| call.get(key));
    let input = member("input").map_or(Input::Missing, input_form);
    Call::new(member("id").and_then(Value::str), member("name").and_then(Value::str), input)
}

/// Reads a tool message as the result it is.
pub(super) fn result<'a>(message: &WireMessage<'_, 'a>, keys: &mut Keys) -> ResultBlock<'a> {
    if let Some(id) = message.answers
        && !id.key().says("tool_call_id")
    {
        keys.foreign(id.key().span(), "tool_call_id");
    }
    ResultBlock {
        id: message.answers.and_then(|id| keys.id(id)),
        name: message.name.and_then(Value::str),
        synthetic: message.content.and_then(only_text).is_some_and(|text| is_synthetic(&text)),
        failed: false,
        has_more: message.has_more
            || message.instead.is_some()
            || message.legacy_call.is_some()
            || message.reasoning.is_some(),
        parts: message.content.map_or(Parts::Missing, parts),
        content: message.content.map_or(Span::default(), Value::span),
    }
}
