//! The modes, the access token, the breaker, the pages, the reload and the end of a proxy.

use std::time::Duration;

use seamline_proxy::breaker::OnTrip;
use seamline_proxy::config::{Config, Mode};
use seamline_proxy::incident::IncidentOutcome;
use seamline_testkit::Dialect;
use seamline_testkit::provider::{After, Script};
use serde_json::{Value, json};

use super::bodies::{DAMAGED, broken, short, streamed};
use super::stage::{Stage, path, upstreams, wait_until};

const DIALECT: Dialect = Dialect::AnthropicMessages;

#[test]
fn report_sends_the_original_and_records_what_a_repair_would_do() {
    let stage = Stage::with(|config| config.mode = Some(Mode::Report));
    let answer = stage.client().post(path(DIALECT), DAMAGED.as_bytes());
    assert_eq!((answer.status, answer.header("x-seamline-findings")), (400, Some("PAIR001=1")));
    assert_eq!((answer.header("x-seamline-repairs"), answer.header("x-seamline-incident")), (None, Some("i-1")));
    assert_eq!(stage.provider.take()[0].raw_body, DAMAGED.as_bytes());
    let incident = stage.reports.incidents().pop().unwrap();
    assert_eq!((incident.outcome, incident.upstream.as_str()), (IncidentOutcome::Reported, "anthropic"));
    assert_eq!(incident.actions.get("PAIR001 synthesize"), Some(&1));
    assert_eq!((incident.before.unwrap().bytes, incident.after), (DAMAGED.len() as u64, None));
}

#[test]
fn block_answers_in_the_dialect_of_the_client() {
    let stage = Stage::with(|config| config.mode = Some(Mode::Block));
    for dialect in Dialect::ALL {
        let mut client = stage.client();
        assert_eq!(client.post(path(dialect), short(dialect).as_bytes()).status, 200, "{dialect:?}");
        stage.provider.take();
        let rejected = broken(dialect, 40)
            .into_iter()
            .find(|body| seamline_testkit::provider::rejection(dialect, body.as_bytes()).is_some());
        let answer = client.post(path(dialect), rejected.unwrap().as_bytes());
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        let said = body.pointer("/error/message").or_else(|| body.get("message")).and_then(Value::as_str).unwrap();
        assert!(answer.status == 400 && said.contains("Seamline did not send this request"), "{dialect:?}: {said}");
        assert_eq!(stage.provider.take().len(), 0);
    }
    assert!(stage.reports.outcomes().iter().all(|outcome| *outcome == IncidentOutcome::Blocked));
}

#[test]
fn a_repair_is_recorded_with_marks_and_without_content() {
    let stage = Stage::new();
    let answer = stage.client().post(path(DIALECT), DAMAGED.as_bytes());
    assert_eq!((answer.status, answer.header("x-seamline-repairs")), (200, Some("PAIR001 synthesize=1")));
    let incident = stage.reports.incidents().pop().unwrap();
    assert_eq!(incident.outcome, IncidentOutcome::Repaired);
    assert_eq!((incident.provider.as_deref(), incident.dialect.as_deref()), (Some("anthropic"), Some(DIALECT.name())));
    assert!(incident.after.unwrap().bytes > incident.before.as_ref().unwrap().bytes);
    let written = serde_json::to_string(&stage.reports.incidents()).unwrap();
    assert!(!written.contains("main.rs") && !written.contains("toolu_1"), "{written}");
    let summary = stage.reports.summaries().pop().unwrap();
    assert_eq!((summary.findings, summary.repairs, summary.status), (1, 1, 200));
}

#[test]
fn only_clients_with_the_token_are_served() {
    let stage = Stage::with(|config| config.token = Some("open sesame".to_owned()));
    let mut client = stage.client();
    let body = short(DIALECT).as_bytes();
    assert_eq!(client.post(path(DIALECT), body).status, 407);
    assert_eq!(client.post_with(path(DIALECT), &[("x-seamline-token", "open")], body).status, 407);
    assert_eq!(client.post_with("/-/gauges", &[], b"").status, 407);
    assert_eq!(stage.provider.take().len(), 0);
    assert_eq!(client.post_with(path(DIALECT), &[("x-seamline-token", "open sesame")], body).status, 200);
    let bearer = [("proxy-authorization", "Bearer open sesame")];
    assert_eq!(client.post_with(path(DIALECT), &bearer, body).status, 200);
    assert!(stage.provider.take().iter().all(|sent| sent.header("proxy-authorization").is_none()));
    assert_eq!(client.post("/-/healthz", b"").status, 200);
}

#[test]
fn the_proxy_has_pages_of_its_own() {
    let stage = Stage::new();
    let mut client = stage.client();
    assert_eq!(client.post("/-/healthz", b"").text(), "ok\n");
    assert_eq!(client.post("/-/readyz", b"").status, 200);
    client.post(path(DIALECT), format!("{}{}", short(DIALECT), " ".repeat(8 << 10)).as_bytes());
    let gauges = client.post("/-/gauges", b"").text();
    assert!(gauges.contains("connections: 1, requests: 1, streams: 0, conversations: 1"), "{gauges}");
    assert_eq!(client.post("/-/nothing", b"").status, 404);
}

#[test]
fn a_reload_changes_new_requests() {
    let stage = Stage::new();
    let mut client = stage.client();
    assert_eq!(client.post(path(DIALECT), DAMAGED.as_bytes()).status, 200);
    let upstreams = upstreams(&stage.provider);
    stage.control.reload(Config { mode: Some(Mode::Block), upstreams, ..Config::default() }).unwrap();
    assert_eq!(client.post(path(DIALECT), DAMAGED.as_bytes()).status, 400);
    assert_eq!(stage.provider.take().len(), 1);
}

#[test]
fn a_reload_changes_the_limits_of_new_connections() {
    let stage = Stage::with(|config| config.limits.connections_max = 1);
    let change = |change: &dyn Fn(&mut Config)| {
        let mut config = Config { upstreams: upstreams(&stage.provider), ..Config::default() };
        config.limits.connections_max = 1;
        change(&mut config);
        stage.control.reload(config).unwrap();
    };
    let mut first = stage.client();
    first.send(b"GET /-/healthz HTTP/1.1\r\nhost: x\r\n\r\nGET ");
    assert_eq!(first.answer().status, 200);
    let mut second = stage.client();
    second.send_post("/-/healthz", &[("x-1", "1"), ("x-2", "2"), ("x-3", "3"), ("x-4", "4")], b"");
    change(&|config| {
        config.limits.connections_max = 2;
        config.limits.headers_max = 4;
        config.limits.idle_time = Duration::from_millis(50);
        config.limits.head_time = Duration::from_millis(50);
    });
    assert_eq!(second.answer().status, 431, "more headers than the new limit");
    drop(second);
    let mut third = stage.client();
    assert_eq!(third.post("/-/healthz", b"").status, 200, "the new limit has a second place");
    third.limit_time(Duration::from_secs(10));
    assert_eq!(third.read(1), b"", "the new idle time");
    change(&|_| {});
    drop(first);
    let (mut last, mut waiting) = (stage.client(), stage.client());
    assert_eq!(last.post("/-/healthz", b"").status, 200);
    last.send(b"POST /openai/v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{");
    wait_until(|| stage.control.gauges().requests == 1);
    waiting.send_post("/-/healthz", &[], b"");
    waiting.limit_time(Duration::from_millis(300));
    assert_eq!(waiting.answer().status, 0, "the old limit has one place");
}

#[test]
fn open_streams_end_in_the_drain_time() {
    let mut stage = Stage::with(|config| config.limits.drain_time = Duration::from_secs(20));
    stage.provider.next(Script::default().chunks(20, 10).frame_delay(Duration::from_millis(10)));
    let mut client = stage.client();
    client.send_post(path(DIALECT), &[], streamed(DIALECT).as_bytes());
    assert_eq!(client.head().status, 200);
    assert_eq!(stage.control.gauges().streams, 1);
    stage.begin_stop();
    let mut rest = Vec::new();
    loop {
        let piece = client.read(4096);
        if piece.is_empty() {
            break;
        }
        rest.extend(piece);
    }
    assert!(String::from_utf8_lossy(&rest).contains("message_stop"));
    stage.stop();
    assert!(std::net::TcpStream::connect(stage.address).is_err());
}

#[test]
fn a_stuck_stream_does_not_hold_the_end_of_the_proxy() {
    let mut stage = Stage::with(|config| config.limits.drain_time = Duration::from_millis(50));
    stage.provider.next(Script::default().stall(After::Frames(2)));
    let mut client = stage.client();
    client.send_post(path(DIALECT), &[], streamed(DIALECT).as_bytes());
    assert_eq!(client.head().status, 200);
    stage.stop();
    wait_until(|| stage.control.gauges().streams == 0 && stage.provider.open_connections() == 0);
}

#[test]
fn an_address_for_other_machines_needs_a_token() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let config = Config { listen: "0.0.0.0:0".parse().unwrap(), ..Config::default() };
    let reporter = std::sync::Arc::new(seamline_proxy::report::NoReport);
    let error = runtime.block_on(seamline_proxy::Proxy::bind(config, reporter)).unwrap_err();
    assert!(error.to_string().contains("SEAMLINE_PROXY_TOKEN"), "{error}");
}

/// A history in which the model makes the same wrong call so many times.
fn looping(rounds: usize) -> String {
    let mut messages = vec![json!({"role": "user", "content": "go"})];
    for round in 0..rounds {
        let id = format!("toolu_{round}");
        messages.push(json!({"role": "assistant", "content":
            [{"type": "tool_use", "id": id, "name": "read", "input": {"path": 1}}]}));
        messages.push(json!({"role": "user", "content":
            [{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": "error: path must be a string"}]}));
    }
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    json!({"model": "claude-sonnet-4-5", "max_tokens": 64, "messages": messages,
        "tools": [{"name": "read", "input_schema": schema}]})
    .to_string()
}

#[test]
fn the_breaker_tells_the_model_or_blocks() {
    let stage = Stage::with(|config| config.breaker = Some(OnTrip::Escalate));
    assert_eq!(stage.client().post(path(DIALECT), looping(1).as_bytes()).status, 200);
    assert_eq!(stage.provider.take()[0].raw_body, looping(1).as_bytes());
    let answer = stage.client().post(path(DIALECT), looping(4).as_bytes());
    let repairs = answer.header("x-seamline-repairs").unwrap();
    assert!(answer.status == 200 && repairs.starts_with("breaker escalate="), "{repairs}");
    let sent = stage.provider.take().pop().unwrap();
    assert!(sent.raw_body.len() > looping(4).len());
    assert_eq!(stage.reports.outcomes(), [IncidentOutcome::Looping]);
    assert!(stage.reports.incidents()[0].actions["breaker escalate"] > 0);
    assert!(stage.reports.summaries().pop().unwrap().repairs > 0);

    let stage = Stage::with(|config| {
        config.breaker = Some(OnTrip::Escalate);
        config.policy = seamline::Policy::from_toml("[provider.anthropic]\nbreaker_failures_max = 1").unwrap();
    });
    let answer = stage.client().post(path(DIALECT), looping(1).as_bytes());
    assert_eq!(answer.header("x-seamline-repairs"), Some("breaker escalate=1"), "the override for the provider");

    let stage = Stage::with(|config| config.breaker = Some(OnTrip::Block));
    let answer = stage.client().post(path(DIALECT), looping(4).as_bytes());
    assert!(answer.status == 400 && answer.text().contains("failed in the same way"), "{}", answer.text());
    assert_eq!((stage.provider.take().len(), stage.reports.outcomes()), (0, vec![IncidentOutcome::Looping]));
}
