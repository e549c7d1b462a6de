//! Healthy requests reach the provider byte for byte.

use seamline_proxy::upstreams::Upstream;
use seamline_testkit::Dialect;
use seamline_testkit::provider::Script;
use seamline_testkit::unknown;
use serde_json::Value;

use super::bodies::{cases, healthy, short, streamed};
use super::stage::{Stage, path, stream_path};

seamline_testkit::test_each_dialect!(healthy_bodies_are_byte_identical);

fn healthy_bodies_are_byte_identical(dialect: Dialect) {
    let stage = Stage::new();
    let mut client = stage.client();
    for body in healthy(dialect, cases(200)) {
        let answer = client.post(path(dialect), body.as_bytes());
        let sent = stage.provider.take().pop().unwrap();
        assert_eq!(String::from_utf8_lossy(&sent.raw_body), body);
        assert_eq!((answer.status, answer.header("x-seamline-repairs")), (200, None), "{body}");
    }
    assert_eq!(stage.reports.outcomes(), []);
}

mod with_unknown_parts {
    use super::Dialect;

    seamline_testkit::test_each_dialect!(super::unknown_parts_are_byte_identical);

    #[test]
    fn every_dialect_has_enough_bodies() {
        let count: usize = Dialect::ALL.iter().map(|dialect| super::with_unknown_parts(*dialect).len()).sum();
        assert!(count >= 300, "{count}");
    }
}

fn with_unknown_parts(dialect: Dialect) -> Vec<String> {
    let bodies = healthy(dialect, 12);
    let values = bodies.iter().map(|body| serde_json::from_str::<Value>(body).unwrap());
    let several = |body: Value| [unknown::variants(&body, 8), unknown::pairs(&body, 4)];
    values.flat_map(several).flatten().map(|unknown| unknown.body.to_string()).collect()
}

fn unknown_parts_are_byte_identical(dialect: Dialect) {
    let stage = Stage::new();
    let mut client = stage.client();
    for body in with_unknown_parts(dialect) {
        client.post(path(dialect), body.as_bytes());
        let sent = stage.provider.take();
        assert_eq!(String::from_utf8_lossy(&sent[0].raw_body), body);
    }
}

/// Takes the bodies that providers accepted, where `SEAMLINE_CORPUS` points at them, each with an unknown member.
#[test]
fn recorded_bodies_with_unknown_parts_are_byte_identical() {
    let Some(corpus) = std::env::var_os("SEAMLINE_CORPUS") else {
        println!("skipped: SEAMLINE_CORPUS is not set");
        return;
    };
    let mut count = 0;
    for dialect in Dialect::ALL {
        let name = format!("provider-requests/{}.jsonl", dialect.name().replace('_', "-"));
        let Ok(text) = std::fs::read_to_string(std::path::Path::new(&corpus).join(name)) else { continue };
        // The server is another one than any of those that made the recordings.
        let stage = Stage::with_provider(|config, provider| {
            config.upstreams = vec![Upstream::new("recorded", &format!("{}/base", provider.url()), None).unwrap()];
        });
        let mut client = stage.client();
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        for record in records.filter(|record| record["status"] == 200) {
            let (_, rest) = path(dialect)[1..].split_once('/').unwrap();
            for unknown in unknown::variants(&record["body"], 2) {
                let body = unknown.body.to_string();
                client.post(&format!("/recorded/{rest}"), body.as_bytes());
                let sent = stage.provider.take();
                assert_eq!(String::from_utf8_lossy(&sent[0].raw_body), body, "{}", record["source"]);
                count += 1;
            }
        }
    }
    println!("{count} recorded bodies with unknown parts");
    assert!(count >= 300, "{count}");
}

#[test]
fn a_response_reaches_the_client_byte_for_byte() {
    let stage = Stage::new();
    let direct = |dialect: Dialect, path: &str, body: &str| {
        stage.provider.next(Script::default().chunks(20, 30));
        let path = format!("/base/{}", path.split_once('/').unwrap().1.split_once('/').unwrap().1);
        let mut client = super::client::Client::connect(stage.provider.address());
        let answer = client.post(&path, body.as_bytes());
        assert_eq!(answer.status, 200, "{dialect:?}");
        answer
    };
    let numbers = |bytes: &[u8]| {
        // The ids of responses are numbered.
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.split("probe0").map(|part| part.get(3..).unwrap_or(part).to_owned()).collect::<Vec<_>>()
    };
    for dialect in Dialect::ALL {
        for (path, body) in [(path(dialect), short(dialect).to_owned()), (stream_path(dialect), streamed(dialect))] {
            let expected = direct(dialect, path, &body);
            stage.provider.next(Script::default().chunks(20, 30));
            let answer = stage.client().post(path, body.as_bytes());
            assert!(answer.is_complete && answer.status == 200);
            assert_eq!(answer.header("content-type"), expected.header("content-type"));
            // The checksums of event streams depend on the ids.
            if dialect == Dialect::BedrockConverse {
                assert_eq!(answer.body.len(), expected.body.len());
            } else {
                assert_eq!(numbers(&answer.body), numbers(&expected.body), "{dialect:?}");
            }
        }
    }
    assert_eq!(stage.reports.outcomes(), []);
}

#[test]
fn paths_queries_headers_and_trailers_are_passed_on() {
    let stage = Stage::new();
    let mut client = stage.client();
    stage.provider.next(Script::default().header("request-id", "req_7").trailer("x-sum", "9"));
    let headers = [
        ("x-api-key", "secret"),
        ("anthropic-beta", "a,b"),
        ("te", "trailers"),
        ("connection", "keep-alive, x-hop"),
        ("x-hop", "1"),
        ("x-seamline-token", "unused"),
    ];
    let answer = client.post_with("/anthropic/v1/messages?beta=true&x=%2F", &headers, short(DIALECT).as_bytes());
    let sent = stage.provider.take().pop().unwrap();
    assert_eq!(sent.path, "/base/v1/messages?beta=true&x=%2F");
    assert_eq!((sent.header("x-api-key"), sent.header("anthropic-beta")), (Some("secret"), Some("a,b")));
    assert_eq!((sent.header("x-hop"), sent.header("x-seamline-token")), (None, None));
    assert_eq!(sent.header("host"), Some(stage.provider.address().to_string().as_str()));
    assert_eq!(answer.header("request-id"), Some("req_7"));
    assert_eq!(answer.trailers, [("x-sum".to_owned(), "9".to_owned())]);
}

const DIALECT: Dialect = Dialect::AnthropicMessages;

#[test]
fn request_trailers_and_expectations_are_handled() {
    let stage = Stage::new();
    let mut client = stage.client();
    let body = short(DIALECT);
    client.send(
        b"POST /anthropic/v1/messages HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ntrailer: x-sum\r\n\
          transfer-encoding: chunked\r\n\r\n",
    );
    assert_eq!(client.head().status, 100);
    client.send(format!("{:x}\r\n{body}\r\n0\r\nx-sum: 7\r\n\r\n", body.len()).as_bytes());
    assert_eq!(client.answer().status, 200);
    let sent = stage.provider.take().pop().unwrap();
    assert_eq!((sent.raw_body.as_slice(), sent.header("expect")), (body.as_bytes(), None));
    assert_eq!(sent.trailers, [("x-sum".to_owned(), "7".to_owned())]);
}

#[test]
fn other_paths_pass_untouched_and_other_hosts_are_refused() {
    let stage = Stage::new();
    let mut client = stage.client();
    client.send(b"GET /openai/v1/models HTTP/1.1\r\nhost: x\r\n\r\n");
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.post("/openai/v1/embeddings", b"\xff not json").status, 200);
    let sent = stage.provider.take();
    assert_eq!((sent[0].method.as_str(), sent[0].path.as_str()), ("GET", "/base/v1/models"));
    assert_eq!(sent[1].raw_body, b"\xff not json");
    let refused = client.post("/example.com/v1/messages", b"{}");
    assert_eq!(refused.status, 404);
    assert!(refused.text().contains("--upstream NAME=URL"));
    client.send(b"GET http://example.com/ HTTP/1.1\r\nhost: example.com\r\n\r\n");
    assert_eq!(client.answer().status, 404);
    assert_eq!(stage.provider.take().len(), 0);
}

#[test]
fn a_response_may_have_many_headers() {
    let stage = Stage::new();
    let script = (0..500).fold(Script::default(), |script, at| script.header(&format!("x-gateway-{at}"), "1"));
    stage.provider.next(script);
    let answer = stage.client().post(path(Dialect::OpenAiChat), short(Dialect::OpenAiChat).as_bytes());
    assert_eq!((answer.status, answer.header("x-gateway-499")), (200, Some("1")));
}

#[test]
fn a_circle_of_proxies_is_refused() {
    let stage = Stage::new();
    let local = format!("http://{}/openai", stage.address);
    let upstream = Upstream::new("openai", &local, None).unwrap();
    let upstreams = vec![upstream];
    let config = seamline_proxy::config::Config { upstreams, ..seamline_proxy::config::Config::default() };
    stage.control.reload(config).unwrap();
    let answer = stage.client().post(path(Dialect::OpenAiChat), short(Dialect::OpenAiChat).as_bytes());
    assert!(answer.status == 508 && answer.text().contains("leads back to the proxy"), "{}", answer.text());
}
