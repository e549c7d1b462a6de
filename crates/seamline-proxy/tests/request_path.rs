//! The whole path of a request with untrusted bytes, on stable; `cargo xtask fuzz request_path` continues from here.

#[path = "request_path/entry.rs"]
mod entry;

use proptest::prelude::*;

/// Pieces of requests and bodies.
const PIECES: &[&str] = &[
    "POST /openai/v1/chat/completions HTTP/1.1\r\n",
    "GET /-/metrics HTTP/1.1\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "host: x\r\n",
    "content-length: 4\r\n",
    "content-length: 40\r\n",
    "transfer-encoding: chunked\r\n",
    "expect: 100-continue\r\n",
    "upgrade: websocket\r\nconnection: upgrade\r\n",
    "content-encoding: gzip\r\n",
    "\r\n",
    "4\r\n{}{}\r\n0\r\n\r\n",
    "ffffffffffffffff\r\n",
    "{\"messages\":[",
    "{\"role\":\"user\",\"content\":\"x\"},",
    "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"b\",\"arguments\":\"{}\"}}]},",
    "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"x\"},",
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"x\"}]}",
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"b\",\"input\":{}}]},",
    "]}",
    "\u{feff}",
    "\"",
];

fn input() -> impl Strategy<Value = Vec<u8>> {
    let known = proptest::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec());
    let piece = prop_oneof![6 => known, 1 => proptest::collection::vec(any::<u8>(), 0..8)];
    let first = prop_oneof![3 => 0_u8..6, 1 => Just(u8::MAX)];
    (first, proptest::collection::vec(piece, 0..12)).prop_map(|(first, pieces)| [vec![first], pieces.concat()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_proxy_answers_any_bytes(bytes in input()) {
        entry::run(&bytes);
    }
}

#[test]
fn damaged_and_healthy_histories_come_back_repaired_and_unchanged() {
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"b","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"a","content":"x"}"#;
    let user = r#"{"role":"user","content":"x"}"#;
    for messages in
        [vec![user], vec![user, call], vec![user, result], vec![user, call, result], vec![user, call, user, result]]
    {
        let body = format!("{{\"messages\":[{}]}}", messages.join(","));
        entry::run(&[&[1], body.as_bytes()].concat());
    }
}
