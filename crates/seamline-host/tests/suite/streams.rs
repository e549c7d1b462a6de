//! Streamed responses.

use serde_json::json;

use crate::client::Client;

const CALL: &str = "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\
                    \"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\\\"é\\\"}\"}}]}}]}\n\n\
                    data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";

#[tokio::test]
async fn a_stream_is_assembled_from_any_pieces() {
    let mut client = Client::new();
    let stream =
        client.ask("stream/open", json!({"options": {"content_type": "text/event-stream"}})).await["handle"].clone();
    client.ask("stream/head", json!({"stream": stream, "status": 200, "headers": {"x-request-id": "r"}})).await;
    let mut progress = 0;
    for byte in CALL.as_bytes() {
        use base64::Engine as _;
        let piece = base64::engine::general_purpose::STANDARD.encode([*byte]);
        let fed = client.ask("stream/feed", json!({"stream": stream, "base64": piece})).await;
        progress += u32::from(fed["progress"] == true);
    }
    assert!(progress > 0);
    let response = client.ask("stream/finish", json!({"stream": stream})).await;
    assert_eq!((&response["ending"], &response["well"]), (&json!("complete"), &json!(true)));
    assert_eq!(response["calls"][0]["arguments"], "{\"path\":\"é\"}");
    assert_eq!(response["calls"][0]["executable"], true);
    assert_eq!(client.refused("stream/feed", json!({"stream": stream, "text": "x"})).await.1, "the stream has ended");
    client.ask("close", json!({"handle": stream})).await;
    assert_eq!(client.refused("stream/finish", json!({"stream": stream})).await.0, -32001);
}

#[tokio::test]
async fn a_cut_stream_has_no_call_that_may_run() {
    let mut client = Client::new();
    for (how, ending) in [("stream/abort", "aborted"), ("stream/stall", "stalled"), ("stream/fail", "failed")] {
        let stream = client.ask("stream/open", json!({})).await["handle"].clone();
        client.ask("stream/feed", json!({"stream": stream, "text": &CALL[..CALL.find("\n\n").unwrap() + 2]})).await;
        let mut params = json!({"stream": stream});
        if how == "stream/fail" {
            params["error"] = "connection reset".into();
        }
        client.ask(how, params).await;
        let response = client.ask("stream/finish", json!({"stream": stream})).await;
        assert_eq!((&response["ending"], &response["calls"][0]["executable"]), (&json!(ending), &json!(false)));
    }
}
