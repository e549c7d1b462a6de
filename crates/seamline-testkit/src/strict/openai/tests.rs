//! Bodies that meet and violate each demand.

mod pairing;
mod shape;

use serde_json::{Value, json};

use crate::strict::ViolationKind;

/// The violations of a conversation, as (message, kind).
fn found(messages: &Value) -> Vec<(usize, ViolationKind)> {
    let body = json!({"model": "gpt", "messages": messages});
    let violations = crate::strict::check(crate::Dialect::OpenAiChat, &body);
    violations.iter().map(|violation| (violation.message, violation.kind)).collect()
}

fn accepts(messages: &Value) {
    assert_eq!(found(messages), [], "{messages}");
}

fn rejects(messages: &Value, expected: &[(usize, ViolationKind)]) {
    assert_eq!(found(messages), expected, "{messages}");
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn calling(calls: &Value) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "sh", "arguments": "{}"}})
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "out"})
}
