//! What `OpenAI` accepts in `input`.

mod items;
mod pairing;
mod shape;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::Violation;

/// Everything `OpenAI` would reject, in no particular order.
pub(super) fn check(items: &[Value]) -> Vec<Violation> {
    let mut violations = Vec::new();
    shape::check(items, &mut violations);
    pairing::check(items, &mut violations);
    items::check(items, &mut violations);
    violations
}
