//! The demands of Anthropic on `messages`.

mod pairing;
mod server;
mod shape;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::Violation;

/// Everything Anthropic would reject, in no particular order.
pub(crate) fn check(messages: &[Value]) -> Vec<Violation> {
    let mut violations = Vec::new();
    shape::check(messages, &mut violations);
    pairing::check(messages, &mut violations);
    server::check(messages, &mut violations);
    violations
}
