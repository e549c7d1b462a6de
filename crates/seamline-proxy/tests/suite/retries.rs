//! A corruption error of the provider: repaired harder and sent once more, or handed on untouched.

use seamline_proxy::incident::IncidentOutcome;
use seamline_testkit::Dialect;
use seamline_testkit::provider::Script;

use super::bodies::{DAMAGED, short};
use super::stage::{Stage, path};

const DIALECT: Dialect = Dialect::AnthropicMessages;

#[test]
fn an_error_without_another_repair_is_handed_on_untouched() {
    for dialect in Dialect::ALL {
        let stage = Stage::new();
        stage.provider.next(Script::default().reject().header("request-id", "req_9"));
        let answer = stage.client().post(path(dialect), short(dialect).as_bytes());
        let exchanges = stage.provider.take();
        assert_eq!((answer.status, exchanges.len()), (400, 1), "{dialect:?}");
        assert_eq!(answer.header("request-id"), Some("req_9"));
        assert!(answer.is_complete && !answer.text().contains("eamline"), "{}", answer.text());
        // The words for a call without a result name no call here, and not all of them are known without one.
        if dialect != Dialect::OpenAiResponses {
            assert_eq!(stage.reports.outcomes(), [IncidentOutcome::Rejected], "{dialect:?}");
        }
    }
}

/// A message of a role that no provider knows. Only the provider can say that it does not take it.
const UNKNOWN_ROLE: &str = r#"{"model":"gpt-5","messages":[{"role":"user","content":"go"},
    {"role":"narrator","content":"It was night."},{"role":"user","content":"go on"}]}"#;

#[test]
fn a_rejected_history_is_repaired_harder_and_sent_once_more() {
    let stage = Stage::new();
    let mut client = stage.client();
    for _ in 0..2 {
        let answer = client.post(path(Dialect::OpenAiChat), UNKNOWN_ROLE.as_bytes());
        let sent = stage.provider.take();
        assert_eq!((answer.status, sent.len(), sent[0].status), (200, 2, 400), "{}", answer.text());
        assert_eq!(sent[0].raw_body, UNKNOWN_ROLE.as_bytes());
        assert!(String::from_utf8_lossy(&sent[1].raw_body).contains("It was night."));
        assert!(answer.header("x-seamline-repairs").is_some());
        assert_eq!(stage.reports.outcomes().pop(), Some(IncidentOutcome::RepairedHarder));
    }
}

#[test]
fn a_stronger_repair_that_is_rejected_leaves_the_first_answer() {
    let stage = Stage::new();
    stage.provider.always(Script::default().reject());
    let first = {
        let mut client = super::client::Client::connect(stage.provider.address());
        client.post("/base/v1/chat/completions", UNKNOWN_ROLE.as_bytes()).text()
    };
    stage.provider.take();
    stage.provider.next(Script::default());
    let answer = stage.client().post(path(Dialect::OpenAiChat), UNKNOWN_ROLE.as_bytes());
    assert_eq!((answer.status, stage.provider.take().len()), (400, 2));
    assert!(answer.text() != first && answer.text().contains("narrator"), "{}", answer.text());
    assert_eq!(stage.reports.outcomes(), [IncidentOutcome::Rejected]);
}

#[test]
fn the_first_answer_is_kept_in_the_other_modes() {
    let stage = Stage::with(|config| config.mode = seamline_proxy::config::Mode::Report);
    let answer = stage.client().post(path(Dialect::OpenAiChat), UNKNOWN_ROLE.as_bytes());
    assert_eq!((answer.status, stage.provider.take().len()), (400, 1));
}

#[test]
fn other_errors_are_left_to_the_client() {
    let stage = Stage::new();
    for status in [400, 401, 403, 404, 429, 500, 503] {
        stage.provider.next(Script::default().status_with_retry(status, 7));
        let answer = stage.client().post(path(DIALECT), short(DIALECT).as_bytes());
        assert_eq!((answer.status, answer.header("retry-after")), (status, Some("7")));
        assert_eq!(stage.provider.take().len(), 1);
    }
    assert_eq!(stage.reports.outcomes(), []);
}

#[test]
fn an_upstream_that_is_gone_is_an_error_in_the_dialect() {
    let stage = Stage::with(|config| {
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let gone = seamline_proxy::upstreams::Upstream::new("gone", &format!("http://{gone}"), None).unwrap();
        config.upstreams.push(gone);
    });
    let answer = stage.client().post("/gone/v1/messages", short(DIALECT).as_bytes());
    assert_eq!(answer.status, 502);
    let expected = r#"{"type":"error","error":{"type":"api_error","message":"the upstream could not be reached"#;
    assert!(answer.text().starts_with(expected), "{}", answer.text());
    assert_eq!(stage.reports.outcomes(), [IncidentOutcome::Unreachable]);
    let damaged = stage.client().post("/gone/v1/messages", DAMAGED.as_bytes());
    assert_eq!((damaged.status, damaged.header("x-seamline-incident")), (502, Some("i-3")));
}
