//! Reads messages and blocks of any shape.

use serde_json::Value;

/// The message's role, or an empty string.
pub(crate) fn role(message: &Value) -> &str {
    string(message, "role").unwrap_or_default()
}

/// The blocks of the message's content; none when it is not an array.
pub(crate) fn blocks(message: &Value) -> &[Value] {
    message.get("content").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The block's type, or an empty string.
pub(crate) fn kind(block: &Value) -> &str {
    string(block, "type").unwrap_or_default()
}

/// The value of `field`, if it is a string.
pub(crate) fn string<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

/// The value of `field`; null counts as absent.
pub(crate) fn present<'a>(value: &'a Value, field: &str) -> Option<&'a Value> {
    value.get(field).filter(|held| !held.is_null())
}
