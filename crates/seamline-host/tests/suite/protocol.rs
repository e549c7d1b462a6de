//! The protocol: errors, batches, limits, cancellation, defects.

use std::pin::Pin;
use std::sync::Arc;

use seamline_host::{HostLimits, RpcCall, RpcError, Service};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::BROKEN;
use crate::client::Client;

#[tokio::test]
async fn errors_have_the_numbers_of_json_rpc() {
    let mut client = Client::new();
    for (line, code, id) in [
        ("nonsense", -32700, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping""#, -32700, json!(null)),
        ("[", -32700, json!(null)),
        ("[]", -32600, json!(null)),
        ("7", -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, -32600, json!("a")),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"pong"}"#, -32601, json!(3)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"check"}"#, -32602, json!(4)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"check","params":[1]}"#, -32602, json!(4)),
        (r#"{"jsonrpc":"2.0","id":5,"method":"explain","params":{}}"#, -32602, json!(5)),
        (r#"{"jsonrpc":"2.0","id":6,"method":"explain","params":{"code":1}}"#, -32602, json!(6)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"explain","params":{"code":"PAIR001","colour":1}}"#, -32602, json!(7)),
        (r#"{"jsonrpc":"2.0","id":8,"method":"close","params":{"handle":"session-9"}}"#, -32001, json!(8)),
        (r#"{"jsonrpc":"2.0","id":9,"method":"initialize","params":{"versions":[99]}}"#, -32003, json!(9)),
    ] {
        let response = client.raw(line).await;
        assert_eq!((&response["error"]["code"], &response["id"]), (&json!(code), &id), "{line}: {response}");
    }
    assert_eq!(client.ask("ping", json!({})).await, json!({}), "the host goes on");
    assert!(client.end().await.is_empty());
}

#[tokio::test]
async fn the_newest_version_of_both_is_chosen() {
    let mut client = Client::new();
    let chosen = client.ask("initialize", json!({"versions": [1, 7], "client": {"name": "test"}})).await;
    assert_eq!((&chosen["version"], &chosen["server"]["name"]), (&json!(1), &json!("seamline")));
    assert!(chosen["methods"].as_array().unwrap().contains(&json!("session/before_agent_start")));
}

#[tokio::test]
async fn a_batch_has_one_response() {
    let mut client = Client::new();
    let batch = json!([
        {"jsonrpc": "2.0", "id": "a", "method": "ping"},
        {"jsonrpc": "2.0", "method": "ping"},
        1,
        {"jsonrpc": "2.0", "id": "b", "method": "check", "params": {"text": BROKEN}},
    ]);
    let responses = client.raw(&batch.to_string()).await;
    let ids: Vec<_> = responses.as_array().unwrap().iter().map(|response| response["id"].clone()).collect();
    assert_eq!(ids, [json!("a"), json!(null), json!("b")]);
    client.send(r#"[{"jsonrpc":"2.0","method":"ping"}]"#).await;
    client.send("").await;
    client.send(r#"{"jsonrpc":"2.0","method":"no_such_method"}"#).await;
    assert!(client.end().await.is_empty(), "notifications have no response");
}

#[tokio::test]
async fn limits_are_errors() {
    let limits = HostLimits { line_bytes_max: 200, objects_max: 2, stores_max: 1, ..HostLimits::default() };
    let mut client = Client::with(limits);
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"check","params":{{"text":"{}"}}}}"#, "x".repeat(400));
    assert_eq!(client.raw(&long).await["error"]["code"], -32600);
    for _ in 0..2 {
        client.ask("stream/open", json!({})).await;
    }
    let response = client.response("stream/open", json!({})).await;
    assert_eq!((&response["error"]["code"], &response["error"]["data"]["kind"]), (&json!(-32002), &json!("limit")));
    client.ask("close", json!({"handle": "stream-1"})).await;
    client.ask("session/create", json!({"store": "memory:", "id": "s"})).await;
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("s.db").display());
    assert_eq!(client.refused("session/list", json!({"store": store})).await.0, -32002);
}

/// A service with a method that never ends and one with a defect.
struct Odd;

impl Service for Odd {
    fn begin(self: &Arc<Self>, call: RpcCall) -> Pin<Box<dyn Future<Output = Result<Box<RawValue>, RpcError>> + Send>> {
        Box::pin(async move {
            match call.method.as_str() {
                "wait" => std::future::pending().await,
                "defect" => panic!("a defect"),
                other => Ok(to_raw_value(other).unwrap()),
            }
        })
    }

    fn finish(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }

    fn cancellation(&self) -> (&'static str, &'static str) {
        ("$/cancelRequest", "id")
    }

    fn limits(&self) -> HostLimits {
        HostLimits { requests_max: 4, ..HostLimits::default() }
    }
}

#[tokio::test]
async fn a_request_is_cancelled_and_a_defect_ends_only_its_request() {
    let mut client = Client::of(Arc::new(Odd));
    client.send(r#"{"jsonrpc":"2.0","id":"w","method":"wait"}"#).await;
    assert_eq!(
        client.raw(r#"{"jsonrpc":"2.0","id":1,"method":"fast"}"#).await["result"],
        "fast",
        "it overtakes the first"
    );
    let response = client.raw(r#"{"jsonrpc":"2.0","id":2,"method":"defect"}"#).await;
    assert_eq!((&response["id"], &response["error"]["code"]), (&json!(2), &json!(-32603)));
    client.send(r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"x"}}"#).await;
    let response = client.raw(r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"w"}}"#).await;
    assert_eq!((&response["id"], &response["error"]["code"]), (&json!("w"), &json!(-32800)));
    for id in 10..14 {
        client.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"wait"}}"#)).await;
    }
    let response = client.raw(r#"{"jsonrpc":"2.0","id":14,"method":"fast"}"#).await;
    assert_eq!((&response["id"], &response["error"]["code"]), (&json!(14), &json!(-32002)));
    for id in 10..14 {
        client.send(&format!(r#"{{"jsonrpc":"2.0","method":"$/cancelRequest","params":{{"id":{id}}}}}"#)).await;
    }
    assert_eq!(client.end().await.len(), 4);
}

#[tokio::test]
async fn the_last_line_needs_no_end_and_its_response_comes() {
    let (near, far) = tokio::io::duplex(1 << 16);
    let host = Arc::new(seamline_host::Host::new(HostLimits::default()));
    seamline_host::serve(host, &br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#[..], near).await.unwrap();
    let mut text = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut { far }, &mut text).await.unwrap();
    assert_eq!(text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
}

#[tokio::test]
async fn no_line_ends_or_hangs_the_host() {
    let mut client = Client::new();
    let valid = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"repair","params":{{"body":{BROKEN},"options":{{}}}}}}"#);
    let hostile = ["{", "}", "[", "\"", "\\u0000", "null", "-1", "1e999", "\\ud800", ",", ":", "\u{202e}", "[[[[[["];
    let mut state = 7_usize;
    for _ in 0..300 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (state >> 33) % valid.len();
        let piece = hostile[(state >> 20) % hostile.len()];
        let mut line = valid.clone();
        line.replace_range(at..=at, piece);
        // A mutation may make a notification, which has no response.
        client.send(&line).await;
        client.send(r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#).await;
        loop {
            let response: Value = client.receive().await;
            if response["id"] == "ping" {
                break;
            }
        }
    }
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":"deep","method":"check","params":{{"body":{}{}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    client.send(&deep).await;
    // Requests run side by side, so a response to an earlier line can come first.
    let mut response = client.receive().await;
    while response["id"] != "deep" && response["error"]["code"] != -32700 {
        response = client.receive().await;
    }
    assert!(response["error"]["code"].is_number(), "{response}");
}
