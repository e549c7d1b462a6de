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
    /// The id of the call a tool message answers, with its key.
    pub(super) answers: Option<(Value<'d, 'a>, Value<'d, 'a>)>,
    /// A call in a field this dialect never had, but clients did.
    pub(super) legacy_call: Option<Value<'d, 'a>>,
    /// Fields that make a message whole without content.
    pub(super) instead: Option<Value<'d, 'a>>,
    pub(super) reasoning: Option<Value<'d, 'a>>,
}

impl<'d, 'a> WireMessage<'d, 'a> {
    pub(super) fn read(value: Value<'d, 'a>, keys: &mut Keys) -> Self {
        let mut message = Self::default();
        for (key, member) in value.members() {
            let there = !member.is(Kind::Null);
            match keys.see(value, key) {
                "role" => message.role = Some(member),
                "content" => message.content = Some(member),
                "name" if there => message.name = Some(member),
                "tool_calls" if there => message.calls = Some(member),
                "tool_use" if member.is(Kind::Object) => message.legacy_call = Some(member),
                "function_call" | "refusal" | "audio" if there => message.instead = Some(member),
                "reasoning_content" | "reasoning" | "reasoning_details" if there => message.reasoning = Some(member),
                other if RESULT_ID_KEYS.contains(&other) => {
                    if message.answers.is_none() || other == "tool_call_id" {
                        message.answers = Some((key, member));
                    }
                }
                _ => {}
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
        match keys.see(value, key) {
            "function" | "custom" => function = Some(member),
            "name" => flat = Some(member),
            other if CALL_ID_KEYS.contains(&other) && (id.is_none() || other == "id") => id = Some((key, member)),
            _ => {}
        }
    }
    if let Some((key, _)) = id
        && !key.says("id")
    {
        keys.foreign(key.span(), "id");
    }
    let id = id.and_then(|(_, value)| value.str());
    match function.and_then(Value::object) {
        Some(function) => {
            let input = function.get("arguments").or_else(|| function.get("input"));
            Call {
                id,
                name: function.get("name").and_then(Value::str),
                input: input.map_or(Input::Missing, input_form),
            }
        }
        // Name and arguments beside the id instead of under `function`.
        None => Call { id, name: flat.and_then(Value::str), input: Input::Other },
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
    Call {
        id: member("id").and_then(Value::str),
        name: member("name").and_then(Value::str),
        input: member("input").map_or(Input::Missing, input_form),
    }
}

/// Reads a tool message as the result it is.
pub(super) fn result<'a>(message: &WireMessage<'_, 'a>, keys: &mut Keys) -> ResultBlock<'a> {
    if let Some((key, _)) = message.answers
        && !key.says("tool_call_id")
    {
        keys.foreign(key.span(), "tool_call_id");
    }
    ResultBlock {
        id: message.answers.and_then(|(_, value)| value.str()),
        name: message.name.and_then(Value::str),
        synthetic: message.content.and_then(only_text).is_some_and(|text| is_synthetic(&text)),
        parts: message.content.map_or(Parts::Missing, parts),
        content: message.content.map_or(Span::default(), Value::span),
    }
}
