//! Reading messages and blocks without trusting their shape.

use serde_json::Value;

/// The message's role, or nothing a provider knows.
pub(super) fn role(message: &Value) -> &str {
    string(message, "role").unwrap_or_default()
}

/// The blocks of the message's content; none when it is not an array.
pub(super) fn blocks(message: &Value) -> &[Value] {
    message.get("content").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The block's type, or nothing a provider knows.
pub(super) fn kind(block: &Value) -> &str {
    string(block, "type").unwrap_or_default()
}

/// The string in `field`, if it is one.
pub(super) fn string<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

/// What `field` holds; null counts as absent.
pub(super) fn present<'a>(value: &'a Value, field: &str) -> Option<&'a Value> {
    value.get(field).filter(|held| !held.is_null())
}
