//! The demands of `OpenAI` on `messages`.

mod pairing;
mod shape;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::{Violation, wire};

/// Everything `OpenAI` would reject, in no particular order.
pub(crate) fn check(messages: &[Value]) -> Vec<Violation> {
    let mut violations = Vec::new();
    shape::check(messages, &mut violations);
    pairing::check(messages, &mut violations);
    violations
}

/// The message's calls; none if it has no list.
fn calls(message: &Value) -> &[Value] {
    wire::present(message, "tool_calls").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
