//! Conversations that grow from request to request.

use seamline_testkit::Dialect;
use serde_json::{Value, json};

use super::stage::{Stage, path};

const DIALECT: Dialect = Dialect::AnthropicMessages;

/// A body that is long enough to be kept.
fn body(messages: &[Value]) -> String {
    let system = "x".repeat(8 << 10);
    json!({"model": "claude-sonnet-4-5", "max_tokens": 64, "system": system, "messages": messages,
        "tools": [{"name": "read", "input_schema": {"type": "object"}}]})
    .to_string()
}

/// A conversation whose every other call has no result.
fn conversation(rounds: usize) -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": "go"})];
    for round in 0..rounds {
        let id = format!("toolu_{round}");
        let call = json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
        messages.push(json!({"role": "assistant", "content": [call]}));
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
        let answer = if round % 2 == 0 { json!([result]) } else { json!("never mind") };
        messages.push(json!({"role": "user", "content": answer}));
    }
    messages
}

#[test]
fn a_growing_conversation_keeps_the_start_that_the_provider_saw() {
    let stage = Stage::new();
    let mut client = stage.client();
    let mut before: Vec<Value> = Vec::new();
    for rounds in 1..12 {
        let headers = [("x-claude-code-session-id", "s-1")];
        let answer = client.post_with(path(DIALECT), &headers, body(&conversation(rounds)).as_bytes());
        assert_eq!(answer.status, 200);
        let sent = stage.provider.take().pop().unwrap();
        let messages = sent.body["messages"].as_array().unwrap().clone();
        assert_eq!(messages[..before.len()], before[..], "{rounds}");
        before = messages;
    }
    assert_eq!(stage.control.gauges().conversations, 1);
}

#[test]
fn a_late_result_replaces_the_synthetic_one() {
    let stage = Stage::new();
    let mut messages = conversation(2);
    let mut client = stage.client();
    client.post(path(DIALECT), body(&messages).as_bytes());
    messages[4] =
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "late"}]});
    let late = body(&messages);
    assert_eq!(client.post(path(DIALECT), late.as_bytes()).status, 200);
    let sent = stage.provider.take();
    assert!(String::from_utf8_lossy(&sent[0].raw_body).contains("[synthetic]"));
    assert_eq!(String::from_utf8_lossy(&sent[1].raw_body), late);
    let late: Vec<u64> = stage.reports.summaries().iter().map(|summary| summary.late_results).collect();
    assert_eq!(late, [0, 1]);
}
