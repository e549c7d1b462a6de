//! Finds one place of a body.

use serde_json::{Value, json};

use crate::{
    Dialect,
    text::{REPEATED, SPELT_OUT},
};

pub(super) use crate::dialect::Fields;

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
    let results = (dialect.row().results)(body);
    pick(results.into_iter().filter(|result| fits(result)).collect(), place)
}

/// The call at `place`.
pub(super) fn call(dialect: Dialect, body: &mut Value, place: usize) -> Option<&mut Fields> {
    pick((dialect.row().calls)(body), place)
}

/// Whether a message is this role's.
pub(crate) fn is_role(message: &Fields, role: &str) -> bool {
    message.get("role").is_some_and(|held| held == role)
}

/// The number of calls in a message's list; `None` if it has no list.
pub(super) fn calls_count(message: &Fields) -> Option<usize> {
    message.get("tool_calls").and_then(Value::as_array).map(Vec::len)
}

/// Whether a message is a message of a role, and not an item of another type.
pub(super) fn is_speech(message: &Fields) -> bool {
    message.get("type").is_none_or(|kind| kind == "message") || message.get("content").is_some_and(Value::is_array)
}

/// The messages of a body.
pub(crate) fn messages(body: &mut Value) -> impl Iterator<Item = &mut Fields> {
    let key = Dialect::ALL.map(Dialect::list_key).into_iter().find(|key| body.get(key).is_some()).unwrap_or("messages");
    let list = body.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// The items of a type.
pub(crate) fn items<'b>(body: &'b mut Value, kind: &str) -> Vec<&'b mut Fields> {
    messages(body).filter(|item| item.get("type").is_some_and(|held| held == kind)).collect()
}

/// The blocks of a type.
pub(crate) fn typed<'b>(body: &'b mut Value, kind: &str) -> Vec<&'b mut Fields> {
    let blocks = messages(body).filter_map(|message| message.get_mut("content")?.as_array_mut()).flatten();
    blocks.filter_map(Value::as_object_mut).filter(|block| block.get("type").is_some_and(|held| held == kind)).collect()
}

/// The objects under a key of the blocks in a list.
pub(crate) fn named<'b>(body: &'b mut Value, list: &str, key: &str) -> Vec<&'b mut Fields> {
    let blocks = messages(body).filter_map(|message| message.get_mut(list)?.as_array_mut()).flatten();
    blocks.filter_map(|block| block.get_mut(key)?.as_object_mut()).collect()
}

/// Adds a part to a content. A string becomes a part of the given type before it.
pub(crate) fn add_part(content: &mut Value, text_kind: &str, part: Value, at: usize) -> Option<()> {
    match content {
        Value::Array(parts) => parts.insert(at % (parts.len() + 1), part),
        Value::String(text) => *content = json!([{"type": text_kind, "text": text}, part]),
        _ => return None,
    }
    Some(())
}

fn pick(mut fitting: Vec<&mut Fields>, place: usize) -> Option<&mut Fields> {
    // Keys with a mark are already broken; another break would not find what readers find.
    fitting.retain(|fields| !fields.keys().any(|key| key.contains([REPEATED, SPELT_OUT])));
    let at = place.checked_rem(fitting.len())?;
    Some(fitting.swap_remove(at))
}
