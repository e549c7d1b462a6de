//! The demands of Anthropic on `messages`.

mod pairing;
mod server;
mod shape;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::{Violation, ViolationKind};

/// Everything Anthropic would reject, in no particular order.
pub(crate) fn check(body: &Value, messages: &[Value]) -> Vec<Violation> {
    let mut violations = Vec::new();
    shape::check(messages, &mut violations);
    pairing::check(messages, &mut violations);
    server::check(messages, &mut violations);
    // ANT-42: the provider stores the calls of a thread.
    if body.get("thread").and_then(|thread| thread.get("type")).is_some_and(|kind| kind == "continue") {
        let orphans = [ViolationKind::OrphanResult, ViolationKind::OrphanServerResult];
        violations.retain(|violation| !orphans.contains(&violation.kind));
    }
    violations
}
