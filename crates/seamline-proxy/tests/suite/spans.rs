//! Spans of OpenTelemetry, in front of a small collector.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use seamline_proxy::network::NetworkProxy;
use seamline_proxy::spans::Spans;
use seamline_proxy::telemetry::Telemetry;
use seamline_testkit::Dialect;
use seamline_testkit::provider::{After, Script};

use super::bodies::{short, streamed};
use super::stage::{Stage, path, stream_path};

/// The first lines and the bodies of requests.
type Requests = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// A collector that keeps what it gets.
struct Collector {
    address: SocketAddr,
    bodies: Requests,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let bodies = Requests::default();
        let kept = Arc::clone(&bodies);
        std::thread::spawn(move || {
            for mut client in listener.incoming().map_while(Result::ok) {
                let mut input = BufReader::new(client.try_clone().unwrap());
                let head: Vec<String> =
                    input.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
                let length =
                    head.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
                let mut body = vec![0; length.unwrap_or_default()];
                input.read_exact(&mut body).unwrap();
                kept.lock().unwrap().push((head[0].clone(), body));
                client.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
            }
        });
        Self { address, bodies }
    }
}

/// The text of the spans of some requests. Protocol buffers write texts as they are.
fn spans(send: impl FnOnce(&Stage)) -> String {
    let collector = Collector::start();
    let endpoint = format!("http://{}/v1/traces", collector.address);
    let spans = Spans::start(Some(&endpoint), &NetworkProxy::default()).unwrap();
    let telemetry = Telemetry::new().with_finished(Box::new(move |finished| spans.record(finished)));
    let mut stage = Stage::with_telemetry(telemetry, |config| {
        config.limits.drain_time = std::time::Duration::from_millis(50);
    });
    send(&stage);
    stage.stop();
    drop(stage);
    let bodies = collector.bodies.lock().unwrap();
    assert!(bodies.iter().all(|(head, _)| head == "POST /v1/traces HTTP/1.1"));
    bodies.iter().map(|(_, body)| String::from_utf8_lossy(body).into_owned()).collect()
}

#[test]
fn a_request_has_a_span_with_its_models_its_tokens_and_no_content() {
    for dialect in Dialect::ALL {
        for (path, body) in [(path(dialect), short(dialect).to_owned()), (stream_path(dialect), streamed(dialect))] {
            let text = spans(|stage| {
                stage.provider.next(Script::default().text("hunter2"));
                assert_eq!(stage.client().post(path, body.as_bytes()).status, 200);
            });
            for name in [
                "seamline-proxy",
                "gen_ai.operation.name",
                "gen_ai.provider.name",
                "gen_ai.system",
                "gen_ai.request.model",
                "gen_ai.response.finish_reasons",
                "gen_ai.usage.input_tokens",
                "gen_ai.usage.output_tokens",
                "http.response.status_code",
            ] {
                assert!(text.contains(name), "{dialect:?} {path} {name} {text}");
            }
            assert!(!text.contains("hello") && !text.contains("hunter2") && !text.contains("error.type"), "{text}");
        }
    }
}

#[test]
fn errors_and_broken_streams_have_the_type_of_their_error() {
    let dialect = Dialect::AnthropicMessages;
    let error_of = |script: Script, is_stream: bool| {
        let text = spans(|stage| {
            stage.provider.next(script);
            let (path, body) = if is_stream {
                (stream_path(dialect), streamed(dialect))
            } else {
                (path(dialect), short(dialect).to_owned())
            };
            stage.client().post(path, body.as_bytes());
        });
        assert_eq!(text.matches("gen_ai.request.model").count(), 1, "{text}");
        let after = text.split("error.type").nth(1).unwrap_or_else(|| panic!("no error in {text}")).to_owned();
        after.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(9).collect::<String>()
    };
    assert!(error_of(Script::default().status(429), false).starts_with("429"));
    assert!(error_of(Script::default().reject(), false).starts_with("400"));
    assert!(error_of(Script::default().chunks(4, 8).cut(After::Frames(2)), true).starts_with("broken"));
    assert!(error_of(Script::default().chunks(4, 8).error_event(2), true).starts_with("failed"));
}
