//! Finds one place of a body.

use serde_json::{Map, Value};

use crate::{
    Dialect,
    text::{REPEATED, SPELT_OUT},
};

/// The members of an object.
pub(super) type Fields = Map<String, Value>;

/// The message at `place` among those that fit.
pub(super) fn message(body: &mut Value, place: usize, fits: impl Fn(&Fields) -> bool) -> Option<&mut Fields> {
    pick(messages(body).filter(|message| fits(message)).collect(), place)
}

/// The result at `place` among those that fit: a block or a message.
pub(super) fn result(
    dialect: Dialect,
    body: &mut Value,
    place: usize,
    fits: impl Fn(&Fields) -> bool,
) -> Option<&mut Fields> {
    let results: Vec<_> = match dialect {
        Dialect::AnthropicMessages => blocks(body, "tool_result").collect(),
        Dialect::OpenAiChat => messages(body).filter(|message| is_role(message, "tool")).collect(),
        Dialect::OpenAiResponses => items(body, "function_call_output").collect(),
        Dialect::BedrockConverse => members(dialect, body, "toolResult").collect(),
        Dialect::GeminiGenerate => members(dialect, body, "functionResponse").collect(),
    };
    pick(results.into_iter().filter(|result| fits(result)).collect(), place)
}

/// The call at `place`.
pub(super) fn call(dialect: Dialect, body: &mut Value, place: usize) -> Option<&mut Fields> {
    let calls = match dialect {
        Dialect::AnthropicMessages => blocks(body, "tool_use").collect(),
        Dialect::OpenAiChat => messages(body)
            .filter_map(|message| message.get_mut("tool_calls")?.as_array_mut())
            .flatten()
            .filter_map(Value::as_object_mut)
            .collect(),
        Dialect::OpenAiResponses => items(body, "function_call").collect(),
        Dialect::BedrockConverse => members(dialect, body, "toolUse").collect(),
        Dialect::GeminiGenerate => members(dialect, body, "functionCall").collect(),
    };
    pick(calls, place)
}

/// True if the message has this role.
pub(super) fn is_role(message: &Fields, role: &str) -> bool {
    message.get("role").is_some_and(|held| held == role)
}

/// The number of calls in a message's list; `None` if it has no list.
pub(super) fn calls_count(message: &Fields) -> Option<usize> {
    message.get("tool_calls").and_then(Value::as_array).map(Vec::len)
}

/// The key of a result's id.
pub(super) fn result_id_key(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::AnthropicMessages => "tool_use_id",
        Dialect::OpenAiChat => "tool_call_id",
        Dialect::OpenAiResponses => "call_id",
        Dialect::BedrockConverse => "toolUseId",
        Dialect::GeminiGenerate => "id",
    }
}

/// The key of a call's id.
pub(super) fn call_id_key(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::AnthropicMessages | Dialect::OpenAiChat | Dialect::GeminiGenerate => "id",
        Dialect::OpenAiResponses => "call_id",
        Dialect::BedrockConverse => "toolUseId",
    }
}

/// The key of a result's output.
pub(super) fn output_key(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::AnthropicMessages | Dialect::OpenAiChat | Dialect::BedrockConverse => "content",
        Dialect::OpenAiResponses => "output",
        Dialect::GeminiGenerate => "response",
    }
}

/// True for a message with a role, and not an item of another type.
pub(super) fn is_speech(message: &Fields) -> bool {
    message.get("type").is_none_or(|kind| kind == "message")
}

fn messages(body: &mut Value) -> impl Iterator<Item = &mut Fields> {
    let key = ["contents", "input"].into_iter().find(|key| body.get(key).is_some()).unwrap_or("messages");
    let list = body.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn items<'b>(body: &'b mut Value, kind: &str) -> impl Iterator<Item = &'b mut Fields> {
    messages(body).filter(move |item| item.get("type").is_some_and(|held| held == kind))
}

fn blocks<'b>(body: &'b mut Value, kind: &str) -> impl Iterator<Item = &'b mut Fields> {
    messages(body)
        .filter_map(|message| message.get_mut("content")?.as_array_mut())
        .flatten()
        .filter_map(Value::as_object_mut)
        .filter(move |block| block.get("type").is_some_and(|held| held == kind))
}

/// The value of `key` in each block.
fn members<'b>(dialect: Dialect, body: &'b mut Value, key: &str) -> impl Iterator<Item = &'b mut Fields> {
    messages(body)
        .filter_map(move |message| message.get_mut(dialect.content_key())?.as_array_mut())
        .flatten()
        .filter_map(move |block| block.get_mut(key)?.as_object_mut())
}

fn pick(mut fitting: Vec<&mut Fields>, place: usize) -> Option<&mut Fields> {
    // Keys with a mark are already broken; another break would not find what readers find.
    fitting.retain(|fields| !fields.keys().any(|key| key.contains([REPEATED, SPELT_OUT])));
    let at = place.checked_rem(fitting.len())?;
    Some(fitting.swap_remove(at))
}
