//! Calls and their tool messages, which must come before a message of another role.

use serde_json::Value;

use super::calls;
use crate::strict::{Violation, ViolationKind, wire};

const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

/// Adds every unanswered call, orphan and duplicate result.
pub(super) fn check(messages: &[Value], violations: &mut Vec<Violation>) {
    let mut cycle = Cycle::default();
    for (index, message) in messages.iter().enumerate() {
        match wire::role(message) {
            "tool" => cycle.handle_result(index, message, violations),
            "assistant" => {
                cycle.close(violations);
                cycle = Cycle::open(index, message, violations);
            }
            // A role that the provider may have added for results.
            role if !ROLES.contains(&role) && wire::string(message, "tool_call_id").is_some() => {
                cycle.take_unknown(message);
            }
            _ => {
                cycle.close(violations);
                cycle = Cycle::default();
            }
        }
    }
    cycle.close(violations);
}

/// The calls of one assistant message, until a message of another role.
#[derive(Default)]
struct Cycle<'a> {
    message: usize,
    calls: Vec<Call<'a>>,
}

struct Call<'a> {
    id: &'a str,
    answered: bool,
}

impl<'a> Cycle<'a> {
    /// Calls without an id are skipped: no result can answer them, and their shape is already a violation.
    fn open(index: usize, message: &'a Value, violations: &mut Vec<Violation>) -> Self {
        let mut cycle = Self { message: index, calls: Vec::new() };
        for id in calls(message).iter().filter_map(|call| wire::string(call, "id")) {
            if cycle.calls.iter().any(|call| call.id == id) {
                violations.push(Violation { message: index, kind: ViolationKind::DuplicateCallId });
            }
            cycle.calls.push(Call { id, answered: false });
        }
        cycle
    }

    /// OAC-3, OAC-4. A result without an id is skipped: its shape is already a violation.
    fn handle_result(&mut self, index: usize, message: &Value, violations: &mut Vec<Violation>) {
        let Some(id) = wire::string(message, "tool_call_id") else {
            return;
        };
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == id && !call.answered) {
            call.answered = true;
        } else if self.calls.iter().any(|call| call.id == id) {
            violations.push(Violation { message: index, kind: ViolationKind::DuplicateResult });
        } else {
            violations.push(Violation { message: index, kind: ViolationKind::OrphanResult });
        }
    }

    /// Lets a message of an unknown role answer the call that it names.
    fn take_unknown(&mut self, message: &Value) {
        let id = wire::string(message, "tool_call_id");
        if let Some(call) = self.calls.iter_mut().find(|call| Some(call.id) == id && !call.answered) {
            call.answered = true;
        }
    }

    /// OAC-2.
    fn close(&self, violations: &mut Vec<Violation>) {
        let unanswered = Violation { message: self.message, kind: ViolationKind::UnansweredCall };
        violations.extend(self.calls.iter().filter(|call| !call.answered).map(|_| unanswered));
    }
}
