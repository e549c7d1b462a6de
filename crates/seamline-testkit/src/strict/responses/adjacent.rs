//! Servers that want results right behind the batch of their calls.

use serde_json::Value;

use super::pairing;
use crate::strict::{Violation, ViolationKind, wire};

/// Adds every call whose result is not right behind its batch: adjacent calls, then their results in any order, and
/// nothing between (OAR-27).
pub(super) fn check(items: &[Value], violations: &mut Vec<Violation>) {
    // The calls of the batch that have no result yet.
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut is_answering = false;
    for (index, item) in items.iter().enumerate() {
        let id = wire::string(item, "call_id").unwrap_or_default();
        if pairing::is_call(item) {
            if is_answering {
                violations.extend(open.drain(..).map(unanswered));
            }
            open.push((index, id));
            is_answering = false;
        } else if pairing::is_result(item) {
            if let Some(at) = open.iter().position(|(_, call)| *call == id) {
                open.remove(at);
            }
            is_answering = true;
        } else {
            violations.extend(open.drain(..).map(unanswered));
            is_answering = false;
        }
    }
}

fn unanswered((message, _): (usize, &str)) -> Violation {
    Violation { message, kind: ViolationKind::UnansweredCall }
}
