//! Bodies and errors of providers.

use base64::Engine as _;
use serde_json::json;

use crate::BROKEN;
use crate::client::Client;

#[tokio::test]
async fn a_body_is_checked_and_repaired_in_the_form_in_which_it_came() {
    let mut client = Client::new();
    let expected = seamline::repair(BROKEN.as_bytes(), &seamline::Options::default()).unwrap();
    let expected = std::str::from_utf8(&expected.body).unwrap();

    // The bytes of inline JSON are kept, white space included.
    let request = format!(r#"{{"jsonrpc":"2.0","id":"a","method":"repair","params":{{"body":{BROKEN}}}}}"#);
    client.send(&request).await;
    let response = client.receive().await;
    assert_eq!(response["result"]["actions"][0]["code"], "PAIR001");
    assert_eq!(response["result"]["body"], serde_json::from_str::<serde_json::Value>(expected).unwrap());

    let repaired = client.ask("repair", json!({"text": BROKEN})).await;
    assert_eq!(repaired["text"], expected, "byte for byte");
    assert!(repaired["text"].as_str().unwrap().contains("},  {"), "the layout of untouched messages stays");
    assert_eq!((&repaired["changed"], &repaired["found"][0]["code"]), (&json!(true), &json!("PAIR001")));

    let engine = base64::engine::general_purpose::STANDARD;
    let repaired = client.ask("repair", json!({"base64": engine.encode(BROKEN)})).await;
    assert_eq!(engine.decode(repaired["base64"].as_str().unwrap()).unwrap(), expected.as_bytes());

    let again = client.ask("repair", json!({"text": expected})).await;
    assert_eq!((&again["changed"], again.get("text")), (&json!(false), None), "a body without errors is not sent back");

    let checked = client.ask("check", json!({"text": BROKEN, "options": {"policy": "minimal"}})).await;
    assert_eq!((&checked["accepted"], &checked["findings"][0]["call_id"]), (&json!(false), &json!("toolu_1")));
}

#[tokio::test]
async fn a_body_is_converted_for_another_provider() {
    let mut client = Client::new();
    let converted = client.ask("convert", json!({"text": BROKEN, "options": {"to": "openai_chat"}})).await;
    assert_eq!(converted["to"]["dialect"], "openai_chat");
    assert!(converted["text"].as_str().unwrap().contains("tool_call_id"));
    let refused = client.refused("convert", json!({"text": BROKEN, "options": {}})).await;
    assert_eq!(refused, (-32602, "the option `to` is missing".to_owned()));
}

#[tokio::test]
async fn an_error_is_classified_with_its_causes() {
    let mut client = Client::new();
    let error = json!({
        "status": 400,
        "text": "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    });
    let verdict = client.ask("classify", json!({"error": error, "text": BROKEN})).await;
    assert_eq!((&verdict["class"], &verdict["causes"][0]["code"]), (&json!("corruption"), &json!("PAIR001")));
    let verdict = client.ask("classify", json!({"error": {"status": 429, "headers": {"retry-after": "3"}}})).await;
    assert_eq!((&verdict["retry_after_ms"], verdict.get("causes")), (&json!(3000), None));
    let rule = client.ask("explain", json!({"code": "orphan-result"})).await;
    assert_eq!(rule["code"], "PAIR002");
    assert_eq!(client.ask("explain", json!({"code": "STREAM001"})).await["code"], "STREAM001");
}

#[tokio::test]
async fn wrong_bodies_are_errors_with_a_kind() {
    let mut client = Client::new();
    let response = client.response("check", json!({"text": "{\"messages\":"})).await;
    assert_eq!((&response["error"]["code"], &response["error"]["data"]["kind"]), (&json!(-32000), &json!("body")));
    let response = client.response("check", json!({"text": BROKEN, "options": {"provider": "antropic"}})).await;
    assert_eq!(response["error"]["data"]["kind"], "unknown_provider");
    assert!(response["error"]["data"]["hint"].as_str().unwrap().contains("anthropic"));
    let (code, text) = client.refused("check", json!({"text": BROKEN, "body": {}})).await;
    assert_eq!((code, text.as_str()), (-32602, "give only one of `body`, `text` and `base64`"));
    assert_eq!(client.refused("check", json!({"base64": "%%"})).await.0, -32602);
    assert_eq!(client.refused("check", json!({"body": {}, "options": {"polcy": 1}})).await.0, -32602);
}
