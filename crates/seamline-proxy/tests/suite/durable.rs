//! A ledger in a store: it outlives the proxy, and several proxies share it.

use std::path::Path;

use seamline_proxy::incident::IncidentOutcome;
use seamline_proxy::ledger::LedgerStoreSettings;
use seamline_testkit::Dialect;
use seamline_testkit::provider::Script;

use super::stage::{Stage, path, wait_until};

/// The signature that the fake provider gives.
const SIGNATURE: &str = r#""thoughtSignature":"c2lnbmVkLXByb2Jl""#;

/// The provider's replacement for a lost signature.
const REPLACEMENT: &str = r#""thoughtSignature":"skip_thought_signature_validator""#;

const TOOLS: &str = r#""tools":[{"functionDeclarations":[{"name":"shell","parameters":{"type":"OBJECT","properties":{"command":{"type":"STRING"}}}}]}]"#;

fn stored(folder: &Path) -> Stage {
    Stage::with(|config| {
        let address = format!("sqlite:{}", folder.join("ledger.db").display());
        config.ledger_store = Some(LedgerStoreSettings { address, bytes_max: 1 << 20 });
    })
}

/// Ends a proxy, and waits until its ledger is written.
fn end(mut stage: Stage) {
    stage.stop();
}

fn gemini() -> String {
    path(Dialect::GeminiGenerate).replace("gemini-2.5-pro", "gemini-3-pro-preview")
}

/// Asks for a call. Returns its id.
fn signed_call(stage: &Stage) -> String {
    let body = format!(r#"{{"contents":[{{"role":"user","parts":[{{"text":"go"}}]}}],{TOOLS}}}"#);
    let answer = stage.client().post(&gemini(), body.as_bytes()).text();
    assert!(answer.contains("c2lnbmVkLXByb2Jl"), "{answer}");
    stage.provider.take();
    answer.split(r#""id":""#).nth(1).unwrap().split('"').next().unwrap().to_owned()
}

/// The next request, in which the call has another member in place of its signature.
fn answered(id: &str, member: &str) -> String {
    format!(
        r#"{{"contents":[{{"role":"user","parts":[{{"text":"go"}}]}},{{"role":"model","parts":[{{"functionCall":{{"id":"{id}","name":"shell","args":{{"command":"echo probe"}}}}{member}}}]}},{{"role":"user","parts":[{{"functionResponse":{{"id":"{id}","name":"shell","response":{{"output":"ok"}}}}}}]}}],{TOOLS}}}"#
    )
}

/// The body that the provider gets.
fn sent(stage: &Stage, path: &str, body: &str) -> String {
    assert_eq!(stage.client().post(path, body.as_bytes()).status, 200);
    String::from_utf8(stage.provider.take().pop().unwrap().raw_body).unwrap()
}

#[test]
fn a_signature_outlives_the_proxy_and_the_bytes_stay_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let first = stored(folder.path());
    let body = answered(&signed_call(&first), "");
    let before = sent(&first, &gemini(), &body);
    assert!(before.contains(SIGNATURE), "{before}");
    end(first);
    let second = stored(folder.path());
    assert_eq!(sent(&second, &gemini(), &body), before);
}

#[test]
fn a_signature_wins_over_its_replacement() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stored(folder.path());
    let id = signed_call(&stage);
    let replaced = answered(&id, &format!(",{REPLACEMENT}"));
    assert_eq!(sent(&stage, &gemini(), &replaced), answered(&id, &format!(",{SIGNATURE}")));
    assert_eq!(stage.reports.outcomes(), [IncidentOutcome::Repaired]);
    let unknown = answered("another", &format!(",{REPLACEMENT}"));
    assert_eq!(sent(&stage, &gemini(), &unknown), unknown);
}

#[test]
fn two_proxies_share_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (stored(folder.path()), stored(folder.path()));
    let first = signed_call(&one);
    // The other proxy reads the store when it misses a signature. The first one writes it soon after the response.
    wait_until(|| sent(&other, &gemini(), &answered(&first, "")).contains(SIGNATURE));
    let second = signed_call(&other);
    wait_until(|| sent(&one, &gemini(), &answered(&second, &format!(",{REPLACEMENT}"))).contains(SIGNATURE));
}

#[test]
fn a_member_that_the_provider_rejected_stays_away_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let body = r#"{"model":"gpt-5","messages":[{"role":"user","content":"go","metadata":{"mood":"good"}}]}"#;
    let error = r#"{"error":{"message":"Unknown parameter: 'messages[0].metadata'.","type":"invalid_request_error","param":"messages[0].metadata","code":"unknown_parameter"}}"#;
    let first = stored(folder.path());
    first.provider.next(Script::default().answer(400, error));
    assert_eq!(first.client().post(path(Dialect::OpenAiChat), body.as_bytes()).status, 200);
    let tries = first.provider.take();
    assert_eq!((tries.len(), tries[0].raw_body.as_slice()), (2, body.as_bytes()));
    end(first);
    let second = stored(folder.path());
    let accepted = String::from_utf8(tries[1].raw_body.clone()).unwrap();
    assert!(!accepted.contains("mood"), "{accepted}");
    assert_eq!(sent(&second, path(Dialect::OpenAiChat), body), accepted);
}

#[test]
fn a_store_that_does_not_work_does_not_stop_requests() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let stage = stored(&folder.path().join("file"));
    let id = signed_call(&stage);
    assert!(sent(&stage, &gemini(), &answered(&id, "")).contains(SIGNATURE));
}
