//! What `OpenAI` accepts in `input`.

mod items;
mod pairing;
mod shape;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::{Violation, wire};

/// Everything `OpenAI` would reject, in no particular order.
pub(super) fn check(body: &Value, items: &[Value]) -> Vec<Violation> {
    let mut violations = Vec::new();
    shape::check(items, &mut violations);
    // What the conversation goes on from may hold the calls of results here.
    let chained = ["previous_response_id", "conversation"].iter().any(|key| wire::present(body, key).is_some());
    let before = if chained { pairing::Before::Kept } else { pairing::Before::Nothing };
    pairing::check(items, before, &mut violations);
    items::check(items, &mut violations);
    violations
}
