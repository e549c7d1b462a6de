//! Requests that the client signed for AWS.

use seamline_proxy::incident::IncidentOutcome;
use seamline_testkit::Dialect;

use super::bodies::{DAMAGED, broken, short};
use super::stage::{Stage, path};

const DIALECT: Dialect = Dialect::BedrockConverse;

const SIGNATURE: &str =
    "AWS4-HMAC-SHA256 Credential=AKID/20261118/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=00";

#[test]
fn the_original_goes_out_where_a_changed_body_cannot_be_signed() {
    let stage = Stage::new();
    let damaged = broken(DIALECT, 40)
        .into_iter()
        .find(|body| seamline_testkit::provider::rejection(DIALECT, body.as_bytes()).is_some())
        .unwrap();
    let answer = stage.client().post_with(path(DIALECT), &[("authorization", SIGNATURE)], damaged.as_bytes());
    let sent = stage.provider.take();
    assert_eq!((answer.status, sent[0].raw_body.as_slice()), (400, damaged.as_bytes()));
    assert_eq!(sent[0].header("authorization"), Some(SIGNATURE));
    assert_eq!((answer.header("x-seamline-repairs"), answer.header("x-seamline-incident")), (None, Some("i-1")));
    let incidents = stage.reports.incidents();
    assert_eq!((incidents[0].outcome, incidents[0].actions.len()), (IncidentOutcome::Unsigned, 0));
    assert_eq!(stage.reports.outcomes(), [IncidentOutcome::Unsigned]);
}

#[test]
fn an_api_key_needs_no_signature() {
    let stage = Stage::new();
    let headers = [("authorization", "Bearer key")];
    assert_eq!(stage.client().post_with(path(DIALECT), &headers, short(DIALECT).as_bytes()).status, 200);
    assert_eq!(stage.reports.outcomes(), []);
}

#[test]
fn web_pages_do_not_get_signatures() {
    let stage = Stage::new();
    let headers = [("authorization", SIGNATURE), ("origin", "https://example.com")];
    stage.client().post_with(path(DIALECT), &headers, short(DIALECT).as_bytes());
    let incident = stage.reports.incidents().pop().unwrap();
    assert_eq!(incident.outcome, IncidentOutcome::Unsigned);
    assert!(incident.cause.unwrap().contains("web page"));
}

#[test]
fn anthropic_bodies_of_invoke_model_are_repaired_and_others_pass() {
    let stage = Stage::new();
    let body = DAMAGED.replace(r#""model":"claude-sonnet-4-5""#, r#""anthropic_version":"bedrock-2023-05-31""#);
    let headers = [("authorization", "Bearer key")];
    let answer =
        stage.client().post_with("/bedrock/model/us.anthropic.claude-v1%3A0/invoke", &headers, body.as_bytes());
    assert_eq!((answer.status, answer.header("x-seamline-repairs")), (200, Some("PAIR001 synthesize=1")));
    let sent = String::from_utf8(stage.provider.take().pop().unwrap().raw_body).unwrap();
    assert!(
        sent.starts_with(r#"{"anthropic_version":"bedrock-2023-05-31","#) && sent.contains("tool_result"),
        "{sent}"
    );
    assert_eq!(stage.reports.incidents()[0].provider.as_deref(), Some("bedrock-anthropic"));
    for path in
        ["/bedrock/model/amazon.nova-pro-v1%3A0/invoke", "/bedrock/model/meta.llama%3A0/invoke-with-response-stream"]
    {
        stage.client().post_with(path, &headers, body.as_bytes());
        assert_eq!(stage.provider.take().pop().unwrap().raw_body, body.as_bytes());
    }
}
