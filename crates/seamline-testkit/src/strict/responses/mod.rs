//! The demands of `OpenAI` on `input`.

mod adjacent;
mod items;
mod pairing;
mod shape;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::{Violation, wire};

/// Everything `OpenAI` would reject, in no particular order.
pub(crate) fn check(body: &Value, items: &[Value]) -> Vec<Violation> {
    let mut violations = Vec::new();
    shape::check(items, &mut violations);
    // The stored conversation that the body continues may hold the calls of results here.
    let before = if is_chained(body) { pairing::Before::Kept } else { pairing::Before::Nothing };
    pairing::check(items, before, &mut violations);
    items::check(items, &mut violations);
    violations
}

/// Everything `DeepSeek` would reject. It stores nothing, so it makes no demands on the ids of items.
pub(crate) fn check_deepseek(items: &[Value]) -> Vec<Violation> {
    let mut violations = Vec::new();
    shape::check(items, &mut violations);
    pairing::check(items, pairing::Before::Nothing, &mut violations);
    adjacent::check(items, &mut violations);
    violations
}

/// Whether a body is a conversation without a list of items: a text, or nothing new.
pub(crate) fn needs_no_items(body: &Value) -> bool {
    match wire::present(body, "input") {
        Some(Value::String(_)) => true,
        Some(Value::Array(items)) => items.is_empty() && is_chained(body),
        None => is_chained(body),
        Some(_) => false,
    }
}

/// True if the body continues a conversation that the provider stores.
fn is_chained(body: &Value) -> bool {
    // A frame that steers a response is about a conversation that the provider has.
    let steers = wire::string(body, "type") == Some("response.steer");
    steers || ["previous_response_id", "conversation"].iter().any(|key| wire::present(body, key).is_some())
}
