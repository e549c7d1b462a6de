//! Responses over a WebSocket.

use std::net::TcpStream;
use std::time::Duration;

use seamline_proxy::config::Mode;
use seamline_proxy::incident::IncidentOutcome;
use seamline_testkit::provider::{After, Script};
use serde_json::Value;
use tokio_tungstenite::tungstenite::protocol::{Message, Role, WebSocket};

use super::stage::{Stage, wait_until};

const HANDSHAKE: &str = "GET /openai/v1/responses HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
    sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
    sec-websocket-extensions: permessage-deflate\r\nopenai-beta: responses_websockets=2026-02-06\r\n\r\n";

const DAMAGED: &str = r#"{"type":"response.create","model":"gpt-5","store":false,"input":[{"role":"user","content":"go"},
    {"type":"function_call","call_id":"c1","name":"x","arguments":"{}"},{"role":"user","content":"well?"}]}"#;

const CLEAN: &str =
    r#"{ "type":"response.create","model":"gpt-5","store":false,"input":[{"role":"user","content":"hi"}]}"#;

fn socket(stage: &Stage) -> WebSocket<TcpStream> {
    let mut client = stage.client();
    client.send(HANDSHAKE.as_bytes());
    let answer = client.answer();
    assert_eq!((answer.status, answer.header("upgrade")), (101, Some("websocket")));
    assert_eq!(answer.header("sec-websocket-accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    WebSocket::from_raw_socket(client.into_stream(), Role::Client, None)
}

/// Sends a message and reads events up to the last one of the response.
fn ask(socket: &mut WebSocket<TcpStream>, message: &str) -> Value {
    socket.send(Message::text(message)).unwrap();
    loop {
        let event: Value = serde_json::from_str(socket.read().unwrap().to_text().unwrap()).unwrap();
        if matches!(event["type"].as_str(), Some("response.completed" | "error" | "response.failed")) {
            return event;
        }
    }
}

#[test]
fn messages_are_checked_repaired_and_answered() {
    let stage = Stage::new();
    let mut socket = socket(&stage);
    assert_eq!(ask(&mut socket, CLEAN)["type"], "response.completed");
    assert_eq!(ask(&mut socket, DAMAGED)["type"], "response.completed");
    let sent = stage.provider.take();
    assert_eq!(String::from_utf8_lossy(&sent[0].raw_body), CLEAN);
    assert!(String::from_utf8_lossy(&sent[1].raw_body).contains("function_call_output"));
    assert_eq!(sent[0].header("sec-websocket-extensions"), None);
    assert_eq!(sent[0].header("openai-beta"), Some("responses_websockets=2026-02-06"));
    assert_eq!(stage.reports.outcomes(), [IncidentOutcome::Repaired]);
    let repairs: Vec<u64> = stage.reports.summaries().iter().map(|summary| summary.repairs).collect();
    assert_eq!(repairs, [0, 0, 1], "the handshake and both messages");
    assert_eq!(stage.control.gauges().streams, 1);
    socket.close(None).unwrap();
    while socket.read().is_ok() {}
    wait_until(|| stage.control.gauges().streams == 0);
}

#[test]
fn a_rejected_message_is_repaired_harder_and_sent_once_more() {
    let stage = Stage::new();
    let error = r#"{"error":{"type":"invalid_request_error","code":"unknown_parameter","param":"input[0].mood","message":"Unknown parameter: 'input[0].mood'."}}"#;
    stage.provider.next(Script::default().answer(400, error));
    let mut socket = socket(&stage);
    let odd = CLEAN.replace(r#""content":"hi""#, r#""content":"hi","mood":"good""#);
    for sent_before in [1, 0] {
        assert_eq!(ask(&mut socket, &odd)["type"], "response.completed");
        let sent = stage.provider.take();
        let bodies: Vec<_> = sent.iter().map(|sent| String::from_utf8_lossy(&sent.raw_body).into_owned()).collect();
        assert_eq!(bodies.len(), 1 + sent_before, "{bodies:?}");
        assert_eq!(bodies.last().map(String::as_str), Some(CLEAN));
        assert!(sent_before == 0 || bodies[0] == odd);
    }
    assert_eq!(stage.reports.outcomes(), [IncidentOutcome::RepairedHarder, IncidentOutcome::Repaired]);
}

#[test]
fn an_error_about_something_else_is_passed_on() {
    let stage = Stage::new();
    stage
        .provider
        .next(Script::default().answer(429, r#"{"error":{"code":"rate_limit_exceeded","message":"Slow down"}}"#));
    let mut socket = socket(&stage);
    let event = ask(&mut socket, CLEAN);
    assert_eq!((event["type"].as_str(), event["status"].as_u64()), (Some("error"), Some(429)));
    assert_eq!((stage.provider.take().len(), stage.reports.outcomes()), (1, vec![]));
}

#[test]
fn a_response_that_is_cut_ends_with_an_error_event() {
    let stage = Stage::new();
    for frames in 0..4 {
        stage.provider.next(Script::default().cut(After::Frames(frames)));
        let event = ask(&mut socket(&stage), CLEAN);
        assert_eq!((event["type"].as_str(), event["error"]["type"].as_str()), (Some("error"), Some("server_error")));
    }
    wait_until(|| stage.reports.outcomes().len() == 4);
    assert_eq!(stage.reports.outcomes(), [IncidentOutcome::Broken; 4]);
}

#[test]
fn a_blocked_message_is_answered_by_the_proxy() {
    let stage = Stage::with(|config| config.mode = Some(Mode::Block));
    let mut socket = socket(&stage);
    let event = ask(&mut socket, DAMAGED);
    assert!(event["error"]["message"].as_str().unwrap().contains("PAIR001"), "{event}");
    assert_eq!(ask(&mut socket, CLEAN)["type"], "response.completed");
    assert_eq!(stage.provider.take().len(), 1);
}

#[test]
fn an_open_socket_keeps_its_place_among_the_connections() {
    let stage = Stage::with(|config| config.limits.connections_max = 1);
    let mut socket = socket(&stage);
    assert_eq!(ask(&mut socket, CLEAN)["type"], "response.completed");
    let mut second = stage.client();
    second.send_post("/-/healthz", &[], b"");
    second.limit_time(Duration::from_millis(300));
    assert_eq!(second.answer().status, 0, "the only place is taken");
    assert_eq!(ask(&mut socket, CLEAN)["type"], "response.completed");
    assert_eq!(stage.control.gauges().connections, 1);
    drop(socket);
    assert_eq!(stage.client().post("/-/healthz", b"").status, 200);
    wait_until(|| stage.control.gauges().connections == 0);
}

#[test]
fn an_open_socket_ends_with_the_proxy() {
    let mut stage = Stage::new();
    let mut socket = socket(&stage);
    assert_eq!(ask(&mut socket, CLEAN)["type"], "response.completed");
    stage.begin_stop();
    let Ok(Message::Close(Some(reason))) = socket.read() else { panic!("no close frame") };
    assert_eq!(u16::from(reason.code), 1001);
    stage.stop();
}
