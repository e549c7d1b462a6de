//! Bodies that meet and violate each demand.

mod pairing;
mod server;
mod shape;

use serde_json::{Value, json};

use crate::strict::ViolationKind;

/// The violations of a conversation, as (message, kind).
fn found(messages: &Value) -> Vec<(usize, ViolationKind)> {
    let body = json!({"model": "claude", "max_tokens": 64, "messages": messages});
    let violations = crate::strict::check(crate::Dialect::AnthropicMessages, &body);
    violations.iter().map(|violation| (violation.message, violation.kind)).collect()
}

fn accepts(messages: &Value) {
    assert_eq!(found(messages), [], "{messages}");
}

fn rejects(messages: &Value, expected: &[(usize, ViolationKind)]) {
    assert_eq!(found(messages), expected, "{messages}");
}

fn user(blocks: &Value) -> Value {
    json!({"role": "user", "content": blocks})
}

fn assistant(blocks: &Value) -> Value {
    json!({"role": "assistant", "content": blocks})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "sh", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "out"})
}

fn server_call(id: &str) -> Value {
    json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}})
}

fn server_result(id: &str) -> Value {
    json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []})
}

/// A complete cycle of these two blocks.
fn cycle(call: &Value, result: &Value) -> Value {
    json!([user(&json!("go")), assistant(&json!([call])), user(&json!([result]))])
}
