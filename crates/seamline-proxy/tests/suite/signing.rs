//! Requests to AWS that are signed again: the provider verifies every signature.
//!
//! These tests need the feature `aws`: `cargo nextest run -p seamline-proxy --features aws`.

use seamline_proxy::incident::IncidentOutcome;
use seamline_proxy::sign::Signer;
use seamline_testkit::Dialect;
use seamline_testkit::provider::Script;

use super::bodies::{broken, healthy, short};
use super::stage::{Stage, path, stream_path};

const DIALECT: Dialect = Dialect::BedrockConverse;

/// The signature of the client, whose key the provider does not know.
const SIGNATURE: &str =
    "AWS4-HMAC-SHA256 Credential=AKID/20261118/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=00";

/// The key of the machine, which is not that of the client.
const KEY: (&str, &str, Option<&str>) = ("AKIDMACHINE", "wJalrXUtnFEMI/K7MDENG", Some("temporary"));

/// A proxy with a key, in front of a provider that accepts no other key.
fn strict_stage() -> Stage {
    let (id, secret, token) = KEY;
    let stage = Stage::signing(Signer::of_key(id, secret, token), |_| {});
    stage.provider.always(Script::default().signed(id, secret, token));
    stage
}

fn damaged() -> impl Iterator<Item = String> {
    let is_damaged = |body: &String| seamline_testkit::provider::rejection(DIALECT, body.as_bytes()).is_some();
    broken(DIALECT, 40).into_iter().filter(is_damaged)
}

#[test]
fn a_repaired_request_has_a_signature_that_the_provider_verifies() {
    let stage = strict_stage();
    let headers = [("authorization", SIGNATURE), ("x-amz-date", "20261118T000000Z"), ("x-amz-content-sha256", "00")];
    let mut count = 0;
    for body in damaged() {
        for target in [path(DIALECT), stream_path(DIALECT)] {
            let answer = stage.client().post_with(target, &headers, body.as_bytes());
            let sent = stage.provider.take().pop().unwrap();
            assert_eq!((answer.status, sent.violations.as_slice()), (200, &[][..]), "{}", answer.text());
            assert_ne!(sent.raw_body, body.as_bytes());
            let authorization = sent.header("authorization").unwrap();
            assert!(authorization.contains("Credential=AKIDMACHINE/") && authorization.contains("/us-east-1/bedrock/"));
            count += 1;
        }
    }
    assert!(count >= 20, "{count}");
    assert!(stage.reports.outcomes().iter().all(|outcome| *outcome == IncidentOutcome::Repaired));
}

#[test]
fn a_healthy_request_is_signed_for_the_host_of_the_upstream() {
    let stage = strict_stage();
    for body in healthy(DIALECT, 5) {
        let answer = stage.client().post_with(path(DIALECT), &[("authorization", SIGNATURE)], body.as_bytes());
        assert_eq!((answer.status, stage.provider.take()[0].raw_body.as_slice()), (200, body.as_bytes()));
    }
    assert_eq!(stage.client().post(path(DIALECT), short(DIALECT).as_bytes()).status, 403, "no signature, no key");
}

#[test]
fn a_request_that_is_repaired_after_a_rejection_is_signed_again() {
    let stage = strict_stage();
    let (id, secret, token) = KEY;
    stage.provider.next(Script::default().signed(id, secret, token).reject());
    let body = damaged().next().unwrap();
    let answer = stage.client().post_with(path(DIALECT), &[("authorization", SIGNATURE)], body.as_bytes());
    let sent = stage.provider.take();
    assert!(answer.status == 200 || sent.len() == 1, "{} {}", answer.status, sent.len());
    assert!(sent.iter().all(|exchange| exchange.status != 403));
}
