//! A corruption error of the provider: repaired harder and sent once more, or handed on untouched.

use seamline_proxy::incident::IncidentOutcome;
use seamline_testkit::Dialect;
use seamline_testkit::provider::{After, Script};

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
    let stage = Stage::with(|config| config.mode = Some(seamline_proxy::config::Mode::Report));
    let answer = stage.client().post(path(Dialect::OpenAiChat), UNKNOWN_ROLE.as_bytes());
    assert_eq!((answer.status, stage.provider.take().len()), (400, 1));
}

#[test]
fn a_policy_that_does_not_repair_after_a_rejection_hands_the_error_on() {
    let error = |stage: &Stage| {
        let mut client = super::client::Client::connect(stage.provider.address());
        let answer = client.post("/base/v1/chat/completions", UNKNOWN_ROLE.as_bytes());
        stage.provider.take();
        answer.text()
    };
    for text in ["on_corruption = 'stop'", "on_corruption = 'rollback'", "[provider.openai]\non_corruption = 'restart'"]
    {
        let stage = Stage::with(|config| {
            config.mode = Some(seamline_proxy::config::Mode::Repair);
            config.policy = seamline::Policy::from_toml(text).unwrap();
        });
        let answer = stage.client().post(path(Dialect::OpenAiChat), UNKNOWN_ROLE.as_bytes());
        assert_eq!((answer.status, stage.provider.take().len()), (400, 1), "{text}");
        assert_eq!(answer.text(), error(&stage), "{text}");
        assert_eq!(stage.reports.outcomes(), [IncidentOutcome::Rejected], "{text}");
        let cause = stage.reports.incidents()[0].cause.clone().unwrap();
        assert!(cause.contains("`on_corruption`"), "{cause}");
    }
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

/// A member that Anthropic takes only with a header.
const EDITED: &str = r#"{"model":"claude-sonnet-4-5","max_tokens":5,"context_management":{"edits":[]},
    "messages":[{"role":"user","content":"q"}]}"#;

#[test]
fn a_member_that_the_client_makes_valid_is_sent_again() {
    let stage = Stage::new();
    let error = r#"{"type":"error","error":{"type":"invalid_request_error","message":"context_management: Extra inputs are not permitted"}}"#;
    stage.provider.next(Script::default().answer(400, error));
    let mut client = stage.client();
    let without = client.post(path(DIALECT), EDITED.as_bytes());
    assert_eq!((without.status, stage.provider.take().len()), (200, 2));
    client.post(path(DIALECT), EDITED.as_bytes());
    assert!(!String::from_utf8_lossy(&stage.provider.take()[0].raw_body).contains("context_management"));
    let beta = [("anthropic-beta", "context-management-2025-06-27")];
    client.post_with(path(DIALECT), &beta, EDITED.as_bytes());
    assert_eq!(stage.provider.take()[0].raw_body, EDITED.as_bytes());
}

/// Thinking of another account.
const THINKING: &str = r#"{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"u"},
    {"role":"assistant","content":[{"type":"thinking","thinking":"plan","signature":"EqQBCgIYAhIM"},
    {"type":"text","text":"answer"}]},{"role":"user","content":"more"}]}"#;

#[test]
fn thinking_that_the_provider_rejects_is_removed_now_and_later() {
    let stage = Stage::new();
    let error = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block"}}"#;
    stage.provider.next(Script::default().answer(400, error));
    let mut client = stage.client();
    for expected in [2, 1] {
        assert_eq!(client.post(path(DIALECT), THINKING.as_bytes()).status, 200);
        let sent = stage.provider.take();
        assert_eq!(sent.len(), expected);
        let last = String::from_utf8_lossy(&sent[expected - 1].raw_body).into_owned();
        assert!(!last.contains("EqQB") && last.contains("answer"), "{last}");
    }
    assert_eq!(stage.reports.outcomes(), [IncidentOutcome::RepairedHarder, IncidentOutcome::Repaired]);
}

#[test]
fn an_error_that_breaks_off_is_not_complete_for_the_client() {
    let stage = Stage::new();
    let error = r#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#;
    stage.provider.next(Script::default().answer(400, error).chunked().cut(After::Bytes(9)));
    let answer = stage.client().post(path(DIALECT), short(DIALECT).as_bytes());
    assert_eq!((answer.status, answer.is_complete), (400, false), "{}", answer.text());
}
