//! Bad traffic: refused cleanly, and the proxy stays up.

use std::time::Duration;

use seamline_proxy::incident::IncidentOutcome;
use seamline_testkit::Dialect;

use proptest::prelude::*;

use super::bodies::{DAMAGED, cases, drawn, short};
use super::stage::{Stage, path, wait_until};

const DIALECT: Dialect = Dialect::AnthropicMessages;

/// A healthy request is still answered.
fn is_up(stage: &Stage) -> bool {
    stage.provider.take();
    let answer = stage.client().post(path(DIALECT), short(DIALECT).as_bytes());
    answer.status == 200 && stage.provider.take()[0].raw_body == short(DIALECT).as_bytes()
}

#[test]
fn a_large_body_is_refused_before_it_is_read() {
    let stage = Stage::with(|config| config.limits.body_bytes_max = 1000);
    let mut client = stage.client();
    client
        .send(format!("POST {} HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n", path(DIALECT)).as_bytes());
    let answer = client.answer();
    assert!(answer.status == 413 && answer.text().contains("request_too_large"), "{}", answer.text());
    let mut client = stage.client();
    client.send(format!("POST {} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n", path(DIALECT)).as_bytes());
    client.send(format!("7d0\r\n{}\r\n0\r\n\r\n", "x".repeat(2000)).as_bytes());
    assert_eq!(client.answer().status, 413);
    assert_eq!(stage.reports.outcomes(), [IncidentOutcome::Refused; 2]);
    assert!(is_up(&stage));
}

#[test]
fn all_bodies_together_have_a_bound() {
    let stage = Stage::with(|config| config.limits.all_bodies_bytes_max = 10_000);
    // One body waits for its rest, and holds its place.
    let mut first = stage.client();
    let body = format!("{}{}", short(DIALECT), " ".repeat(6000));
    let (start, rest) = body.split_at(body.len() - 1);
    let head = format!("POST {} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", path(DIALECT), body.len());
    first.send(format!("{head}{start}").as_bytes());
    wait_until(|| stage.control.gauges().body_bytes == start.len());
    let answer = stage.client().post(path(DIALECT), body.as_bytes());
    assert_eq!(answer.status, 503);
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert!(answer.text().contains("overloaded_error"), "{}", answer.text());
    assert!(is_up(&stage), "a small body still has room");
    first.send(rest.as_bytes());
    assert_eq!(first.answer().status, 200);
    wait_until(|| stage.control.gauges().body_bytes == 0);
    assert_eq!(stage.client().post(path(DIALECT), body.as_bytes()).status, 200);

    let bomb = zstd::encode_all(&vec![b' '; 1 << 20][..], 1).unwrap();
    let answer = stage.client().post_with(path(DIALECT), &[("content-encoding", "zstd")], &bomb);
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    assert!(is_up(&stage));
}

#[test]
fn slow_heads_and_bodies_are_ended() {
    let stage = Stage::with(|config| {
        config.limits.head_time = Duration::from_millis(100);
        config.limits.body_time = Duration::from_millis(100);
    });
    for start in ["", "P", "POST ", "POST /x HTTP/1.1\r\nhost: x\r\nx: ", "PRI * HTTP/2.0\r\n"] {
        let mut client = stage.client();
        client.send(start.as_bytes());
        let answer = client.answer();
        assert!(answer.status == 0 || answer.status == 408, "{start:?}: {}", answer.status);
    }
    let mut client = stage.client();
    client.send(format!("POST {} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{{", path(DIALECT)).as_bytes());
    assert_eq!(client.answer().status, 408);
    wait_until(|| stage.control.gauges().connections == 0 || stage.control.gauges().requests == 0);
    assert!(is_up(&stage));
}

#[test]
fn heads_have_a_bound() {
    let stage = Stage::new();
    let numbered = |count: usize| (0..count).map(|number| format!("x-{number}: 1\r\n")).collect::<Vec<_>>().concat();
    let (many, some) = (numbered(100_000), numbered(300));
    for headers in [many, some, format!("x: {}\r\n", "y".repeat(100_000))] {
        let mut client = stage.client();
        client.send(format!("POST {} HTTP/1.1\r\nhost: x\r\n{headers}\r\n", path(DIALECT)).as_bytes());
        let status = client.answer().status;
        assert!(status == 431 || status == 400 || status == 0, "{status}");
    }
    let mut client = stage.client();
    client.send(format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "a".repeat(100_000)).as_bytes());
    assert!([0, 400, 404, 414, 431].contains(&client.answer().status));
    assert_eq!(stage.provider.take().len(), 0);
    assert!(is_up(&stage));
}

#[test]
fn requests_cannot_be_smuggled() {
    let stage = Stage::new();
    let path = path(DIALECT);
    let hidden = "GET /openai/v1/hidden HTTP/1.1\r\nhost: x\r\n\r\n";
    for head in [
        "content-length: 5\r\ncontent-length: 6",
        "content-length: 5\r\ncontent-length: 5",
        "content-length: +5",
        "content-length: 5, 6",
        "transfer-encoding: xchunked",
        "transfer-encoding: chunked, identity",
        "transfer-encoding: gzip, chunked",
        "transfer-encoding : chunked",
        "content-length: 4\r\ntransfer-encoding: chunked",
        "transfer-encoding: chunked\r\ncontent-length: 4",
        "Transfer-Encoding: chunked\r\nx: 1\r\nContent-Length: 20",
        "transfer-encoding:\x0bchunked",
        "x: 1\r\n transfer-encoding: chunked",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked",
    ] {
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\n{head}\r\n\r\n");
        let mut client = stage.client();
        // A request before it does not hide it.
        assert_eq!(client.post("/-/healthz", b"").status, 200);
        client.send(format!("{head}5\r\nhello\r\n0\r\n\r\n{hidden}").as_bytes());
        assert_eq!(client.answer().status, 400, "{head}");
        assert_eq!(client.read(1), b"", "the connection ends: {head}");
        assert_eq!(stage.provider.take().len(), 0, "{head}");
    }
    assert!(stage.reports.outcomes().iter().all(|outcome| *outcome == IncidentOutcome::Refused));
    for chunks in [
        "zz\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n",
        "-1\r\n\r\n",
        "fffffffffffffffff\r\nx",
        "5;\n\r\nhello\r\n0\r\n\r\n",
    ] {
        let mut client = stage.client();
        client
            .send(format!("POST {path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n{chunks}").as_bytes());
        client.finish();
        assert_ne!(client.answer().status, 200, "{chunks:?}");
    }
    assert!(is_up(&stage));
}

#[test]
fn unreadable_bodies_reach_the_provider_as_they_came() {
    let stage = Stage::new();
    let deep = format!(r#"{{"messages":{}1{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
    let deep_block = format!(
        r#"{{"messages":[{{"role":"user","content":[{{"type":"text","text":"a","x":{}1{}}}]}}]}}"#,
        "{\"a\":".repeat(100_000),
        "}".repeat(100_000)
    );
    for body in [
        &b""[..],
        b"null",
        b"{",
        b"\xff\xfe{}",
        b"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xc0\"}]}",
        br#"{"messages":"#,
        br#"{"messages":{}}"#,
        br#"{"messages":[1,null,"x",[]]}"#,
        b"\x00\x00\x00",
        deep.as_bytes(),
        deep_block.as_bytes(),
    ] {
        let answer = stage.client().post(path(DIALECT), body);
        let sent = stage.provider.take();
        assert!(sent.len() <= 2 && answer.status != 0, "{}", String::from_utf8_lossy(&body[..body.len().min(80)]));
        assert_eq!(sent[0].raw_body, body, "{}", String::from_utf8_lossy(&body[..body.len().min(80)]));
    }
    assert!(is_up(&stage));
}

#[test]
fn mangled_requests_do_not_stop_the_proxy() {
    let stage = Stage::new();
    let whole = |body: &str| {
        format!("POST {} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", path(DIALECT), body.len())
    };
    let bytes = [whole(DAMAGED), whole(short(DIALECT))].concat().into_bytes();
    let changes = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6);
    for (changes, cut) in drawn(&(changes, any::<prop::sample::Index>()), cases(200)) {
        let mut mangled = bytes.clone();
        for (place, byte) in changes {
            let place = place.index(mangled.len());
            mangled[place] = byte;
        }
        mangled.truncate(cut.index(2 * mangled.len()).max(1));
        let mut client = stage.client();
        client.send(&mangled);
        client.finish();
        client.answer();
    }
    wait_until(|| stage.control.gauges().requests == 0 && stage.control.gauges().connections == 0);
    assert!(is_up(&stage));
}

#[test]
fn no_more_connections_are_served_than_allowed() {
    let stage = Stage::with(|config| config.limits.connections_max = 2);
    let mut clients = [stage.client(), stage.client()];
    for client in &mut clients {
        client.send(format!("POST {} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{{", path(DIALECT)).as_bytes());
    }
    wait_until(|| stage.control.gauges().requests == 2);
    let mut third = stage.client();
    third.send_post("/-/healthz", &[], b"");
    assert_eq!(stage.control.gauges().connections, 2);
    drop(clients);
    assert_eq!(third.answer().status, 200);
}

#[test]
fn an_idle_connection_makes_room_for_another_one() {
    let stage = Stage::with(|config| config.limits.connections_max = 2);
    let mut clients = [stage.client(), stage.client()];
    assert!(clients.iter_mut().all(|client| client.post("/-/healthz", b"").status == 200));
    assert_eq!(stage.client().post("/-/healthz", b"").status, 200);
    assert_eq!(clients[0].read(1), b"", "the one that was idle for longer is closed");
    assert_eq!(clients[1].post("/-/healthz", b"").status, 200);
}

#[test]
fn an_idle_connection_is_kept_for_its_own_time() {
    let stage = Stage::with(|config| {
        config.limits.head_time = Duration::from_millis(50);
        config.limits.idle_time = Duration::from_millis(600);
    });
    let mut client = stage.client();
    assert_eq!(client.post("/-/healthz", b"").status, 200);
    let begin = std::time::Instant::now();
    assert_eq!(client.read(1), b"");
    assert!(begin.elapsed() > Duration::from_millis(400), "{:?}", begin.elapsed());
    let mut client = stage.client();
    assert_eq!(client.post("/-/healthz", b"").status, 200);
    let begin = std::time::Instant::now();
    client.send(b"GET /-/healthz HT");
    assert_eq!(client.answer().status, 0, "a head that has begun has less time");
    assert!(begin.elapsed() < Duration::from_millis(500), "{:?}", begin.elapsed());
}

#[test]
fn bytes_that_are_not_http_are_refused() {
    let stage = Stage::new();
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
    ] {
        let mut client = stage.client();
        client.send(bytes);
        client.finish();
        let status = client.answer().status;
        assert!(status == 400 || status == 0, "{status}");
    }
    assert!(is_up(&stage));
}
