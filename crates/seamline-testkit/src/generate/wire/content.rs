//! Breaks of content: unexpected types.

use serde_json::{Value, json};

use super::{
    WireBreaker,
    place::{self, Fields, is_role, is_speech},
};
use crate::{
    Dialect,
    text::{LONE_HIGH, LONE_LOW},
};

/// Replaces the content of a message without calls and results.
pub(super) fn odd_content(breaker: WireBreaker, dialect: Dialect, body: &mut Value, place: usize) -> Option<String> {
    let key = dialect.content_key();
    let message = place::message(body, place, |message| only_speaks(message, key))?;
    let (held, said) = odd(breaker, place);
    message.insert(key.into(), held);
    Some(said)
}

/// True if a message has neither a call nor a result.
fn only_speaks(message: &Fields, key: &str) -> bool {
    let named = ["toolUse", "toolResult", "functionCall", "functionResponse"];
    let is_pair = |block: &Value| {
        ["tool_use", "tool_result"].iter().any(|kind| block["type"] == *kind)
            || named.iter().any(|name| block.get(name).is_some())
    };
    let blocks = message.get(key).and_then(Value::as_array);
    is_speech(message) && !is_role(message, "tool") && !blocks.is_some_and(|blocks| blocks.iter().any(is_pair))
}

/// Moves the text of a message to another key: one of another dialect, or an unknown one.
pub(super) fn words_elsewhere(dialect: Dialect, body: &mut Value, place: usize) -> Option<()> {
    let key = dialect.content_key();
    let says = |held: &Value| held.as_array().map_or(held.is_string(), |blocks| !blocks.is_empty());
    let fits = |message: &Fields| only_speaks(message, key) && message.get(key).is_some_and(says);
    let message = place::message(body, place, fits)?;
    let held = message.remove(key)?;
    let foreign = ["content", "parts"].into_iter().find(|foreign| *foreign != key)?;
    let to = match place % 3 {
        0 if held.is_string() => "text",
        1 if held.is_string() => "x_words",
        _ => foreign,
    };
    message.insert(to.into(), held);
    Some(())
}

/// Turns a text into a number, or removes its type.
pub(super) fn wordless_text(dialect: Dialect, body: &mut Value, place: usize) -> Option<String> {
    let key = dialect.content_key();
    let is_text = |block: &Value| block.get("text").is_some_and(Value::is_string);
    let fits = |message: &Fields| {
        let held = message.get(key);
        only_speaks(message, key)
            && held.is_some_and(|held| held.as_array().map_or(held.is_string(), |blocks| blocks.iter().any(is_text)))
    };
    let message = place::message(body, place, fits)?;
    let held = message.get_mut(key)?;
    let number = 70_310_000 + place;
    if let Value::String(text) = held {
        if !dialect.row().has_untyped_text {
            return None;
        }
        *held = json!([{"text": text}, {"type": "text", "text": number}]);
        return Some(number.to_string());
    }
    let block = held.as_array_mut()?.iter_mut().find(|block| is_text(block))?;
    block["text"] = json!(number);
    Some(number.to_string())
}

/// Replaces the content of a result.
pub(super) fn odd_output(breaker: WireBreaker, dialect: Dialect, body: &mut Value, place: usize) -> Option<String> {
    let result = place::result(dialect, body, place, |_| true)?;
    let (held, said) = odd(breaker, place);
    result.insert(dialect.row().output_key.into(), held);
    Some(said)
}

fn odd(breaker: WireBreaker, place: usize) -> (Value, String) {
    match breaker {
        WireBreaker::NumberContent | WireBreaker::NumberOutput => {
            let number = 90_210_000 + place;
            (json!(number), number.to_string())
        }
        WireBreaker::ObjectContent | WireBreaker::ObjectOutput => {
            let said = format!("object-{place}: held.");
            (json!({"stdout": said, "code": 0}), said)
        }
        _ => (Value::Null, String::new()),
    }
}

/// Adds an image to the content of a result.
pub(super) fn image_in_result(dialect: Dialect, body: &mut Value, place: usize) -> Option<String> {
    let key = dialect.row().output_key;
    let result = place::result(dialect, body, place, |result| result.contains_key(key))?;
    let data = format!("aW1hZ2U{place:04}");
    (dialect.row().add_image)(result, &data, place)?;
    Some(data)
}

/// Adds reasoning to an assistant message.
pub(super) fn reasoning(breaker: WireBreaker, dialect: Dialect, body: &mut Value, place: usize) -> Option<String> {
    let message = place::message(body, place, |message| is_role(message, dialect.assistant_role()))?;
    let said = format!("reasoning-{place}: because.");
    let signature = (breaker == WireBreaker::SignedReasoning).then(|| format!("c2ln{place:04}"));
    (dialect.row().add_reasoning)(message, &said, signature)?;
    Some(said)
}

/// Ends the content of a message, or its first block, in half a character.
pub(super) fn lone_surrogate(dialect: Dialect, body: &mut Value, place: usize) -> Option<()> {
    let key = dialect.content_key();
    let by_member = !dialect.row().has_text_content;
    let path = if by_member { format!("/{key}/0/text") } else { format!("/{key}") };
    // Two halves could form one character.
    let is_whole = |text: &str| !text.ends_with([LONE_HIGH, LONE_LOW]);
    let fits = |message: &Fields| {
        let message = Value::Object(message.clone());
        message.pointer(&path).and_then(Value::as_str).is_some_and(is_whole)
    };
    let message = place::message(body, place, fits)?;
    let half = if place.is_multiple_of(2) { LONE_HIGH } else { LONE_LOW };
    let held = message.get_mut(key)?;
    let text = if by_member { held.pointer_mut("/0/text")? } else { held };
    let Value::String(text) = text else {
        return None;
    };
    text.push(half);
    Some(())
}
