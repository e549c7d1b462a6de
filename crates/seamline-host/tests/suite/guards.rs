//! The guards, with time as an argument.

use serde_json::{Value, json};

use crate::client::Client;

#[tokio::test]
async fn a_failed_request_is_sent_again_as_the_policy_says() {
    let mut client = Client::new();
    let retry = client.ask("retry/open", json!({"policy": {"retries_max": 1}})).await["handle"].clone();
    let failed = json!({"retry": retry, "error": {"status": 503}, "text": "{}"});
    let advice = client.ask("retry/handle_failure", failed.clone()).await;
    assert_eq!((&advice["advice"], &advice["wait_ms"]), (&json!("send_again"), &json!(1000)));
    let advice = client.ask("retry/handle_failure", failed).await;
    assert_eq!((&advice["advice"], &advice["why"]), (&json!("give_up"), &json!("retries")));
    assert_eq!(advice["failure_class"], "transient_infra");
}

#[tokio::test]
async fn a_broken_request_is_repaired_once() {
    let mut client = Client::new();
    let retry = client.ask("retry/open", json!({})).await["handle"].clone();
    let text = "messages.6: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.";
    let failed = json!({"retry": retry, "error": {"status": 400, "text": text}, "text": "broken"});
    assert_eq!(client.ask("retry/handle_failure", failed).await["advice"], "repair");
    assert_eq!(
        client.ask("retry/handle_repaired", json!({"retry": retry, "text": "mended"})).await["advice"],
        "send_again"
    );
}

#[tokio::test]
async fn a_wrong_call_is_refused_and_a_loop_is_stopped() {
    let mut client = Client::new();
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let breaker = client
        .ask("breaker/open", json!({"tools": {"read": schema, "list": null}, "policy": {"breaker_ends_turn": true}}))
        .await["handle"]
        .clone();
    let good = json!({"breaker": breaker, "calls": [{"name": "read", "arguments": "{\"path\":\"a\"}"}]});
    assert_eq!(client.ask("breaker/handle_round", good).await["calls"][0]["check"], "run");
    let wrong = json!({"breaker": breaker, "calls": [{"name": "read", "arguments": "{}"}]});
    let mut stopped = Value::Null;
    for _ in 0..5 {
        let round = client.ask("breaker/handle_round", wrong.clone()).await;
        assert_eq!(round["calls"][0]["check"], "refuse");
        assert!(round["calls"][0]["text"].as_str().unwrap().contains("path"));
        let outcomes = json!([{"name": "read", "arguments": "{}", "ok": false, "text": round["calls"][0]["text"]}]);
        let counted = client.ask("breaker/handle_outcomes", json!({"breaker": breaker, "outcomes": outcomes})).await;
        let stop = [&round["stop"], &counted["stop"]].into_iter().find(|stop| !stop.is_null()).cloned();
        if let Some(stop) = stop {
            stopped = stop;
            break;
        }
    }
    assert_eq!(stopped["tools"], json!(["read"]), "{stopped}");
    client.ask("breaker/handle_turn", json!({"breaker": breaker})).await;
    assert_eq!(client.refused("breaker/handle_round", json!({"breaker": breaker, "calls": [7]})).await.0, -32602);
}

#[tokio::test]
async fn a_run_without_progress_is_noticed() {
    let mut client = Client::new();
    let stall =
        client.ask("stall/open", json!({"now_ms": 0, "policy": {"stall_timeout_ms": 60000}})).await["handle"].clone();
    let quiet = client.ask("stall/handle_life", json!({"stall": stall, "now_ms": 9000})).await;
    assert_eq!((&quiet["notice"], &quiet["deadline_ms"]), (&json!(null), &json!(10000)));
    let warned = client.ask("stall/poll", json!({"stall": stall, "now_ms": 10000})).await;
    assert_eq!(
        (&warned["notice"], &warned["idle_ms"], &warned["alive"]),
        (&json!("warn"), &json!(10000), &json!(true))
    );
    client.ask("stall/handle_tool_begun", json!({"stall": stall, "now_ms": 20000, "call": "c"})).await;
    client.ask("stall/handle_tool_ended", json!({"stall": stall, "now_ms": 90000, "call": "c"})).await;
    client.ask("stall/handle_progress", json!({"stall": stall, "now_ms": 100_000})).await;
    let stalled = client.ask("stall/poll", json!({"stall": stall, "now_ms": 160_000})).await;
    assert_eq!((&stalled["notice"], &stalled["deadline_ms"]), (&json!("stalled"), &json!(null)));
}
