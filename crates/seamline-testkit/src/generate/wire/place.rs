//! Finding one place of a body.

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

/// The result at `place` among those that fit: a block, or the message it is.
pub(super) fn result(
    dialect: Dialect,
    body: &mut Value,
    place: usize,
    fits: impl Fn(&Fields) -> bool,
) -> Option<&mut Fields> {
    let results: Vec<_> = match dialect {
        Dialect::AnthropicMessages => blocks(body, "tool_result").collect(),
        Dialect::OpenAiChat => messages(body).filter(|message| is_role(message, "tool")).collect(),
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
        Dialect::BedrockConverse => members(dialect, body, "toolUse").collect(),
        Dialect::GeminiGenerate => members(dialect, body, "functionCall").collect(),
    };
    pick(calls, place)
}

/// Whether a message is this role's.
pub(super) fn is_role(message: &Fields, role: &str) -> bool {
    message.get("role").is_some_and(|held| held == role)
}

/// How many calls a message's list has; nothing when it has no list.
pub(super) fn calls_count(message: &Fields) -> Option<usize> {
    message.get("tool_calls").and_then(Value::as_array).map(Vec::len)
}

/// The name of the key that holds the id a result names.
pub(super) fn result_id_key(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::AnthropicMessages => "tool_use_id",
        Dialect::OpenAiChat => "tool_call_id",
        Dialect::BedrockConverse => "toolUseId",
        Dialect::GeminiGenerate => "id",
    }
}

/// The name of the key that holds a call's id.
pub(super) fn call_id_key(dialect: Dialect) -> &'static str {
    if dialect == Dialect::BedrockConverse { "toolUseId" } else { "id" }
}

/// The name of the key that holds what a result gives.
pub(super) fn output_key(dialect: Dialect) -> &'static str {
    if dialect == Dialect::GeminiGenerate { "response" } else { "content" }
}

fn messages(body: &mut Value) -> impl Iterator<Item = &mut Fields> {
    // Only one dialect calls them contents.
    let key = if body.get("contents").is_some() { "contents" } else { "messages" };
    let list = body.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn blocks<'b>(body: &'b mut Value, kind: &str) -> impl Iterator<Item = &'b mut Fields> {
    messages(body)
        .filter_map(|message| message.get_mut("content")?.as_array_mut())
        .flatten()
        .filter_map(Value::as_object_mut)
        .filter(move |block| block.get("type").is_some_and(|held| held == kind))
}

/// What stands under `key` in each block.
fn members<'b>(dialect: Dialect, body: &'b mut Value, key: &str) -> impl Iterator<Item = &'b mut Fields> {
    messages(body)
        .filter_map(move |message| message.get_mut(dialect.content_key())?.as_array_mut())
        .flatten()
        .filter_map(move |block| block.get_mut(key)?.as_object_mut())
}

fn pick(mut fitting: Vec<&mut Fields>, place: usize) -> Option<&mut Fields> {
    // Under keys with a mark, readers find something else than a further break would.
    fitting.retain(|fields| !fields.keys().any(|key| key.contains([REPEATED, SPELT_OUT])));
    let at = place.checked_rem(fitting.len())?;
    Some(fitting.swap_remove(at))
}
