//! Recorded request bodies, where `SEAMLINE_CORPUS` points at them.
//!
//! What a provider accepted has no error finding; what it rejected because of the
//! conversation has a finding that predicts the recorded error.

use std::collections::BTreeMap;
use std::path::Path;

use seamline::{Options, check, repair};
use serde_json::Value;

/// Errors that have other causes than the conversation.
const OTHER_CAUSES: &[&str] = &["does not support effort level", "Tool call validation failed", "Web search options"];

#[derive(Default)]
struct Tally {
    accepted: usize,
    rejected: usize,
    predicted: usize,
}

#[test]
fn recorded_requests_are_judged_as_their_provider_judged_them() {
    let Some(corpus) = std::env::var_os("SEAMLINE_CORPUS") else {
        println!("skipped: SEAMLINE_CORPUS is not set");
        return;
    };
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for (file, dialect) in [("anthropic-messages", "anthropic_messages"), ("openai-chat", "openai_chat")] {
        let path = Path::new(&corpus).join("provider-requests").join(format!("{file}.jsonl"));
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            judge(&record, dialect, tallies.entry(host(&record)).or_default());
        }
    }
    for (host, tally) in &tallies {
        println!("{host}: {} accepted, {} rejected, {} predicted", tally.accepted, tally.rejected, tally.predicted);
    }
}

fn judge(record: &Value, dialect: &str, tally: &mut Tally) {
    let body = serde_json::to_vec(&record["body"]).unwrap();
    let options = Options {
        dialect: Some(dialect.to_owned()),
        provider: Some(provider(record).to_owned()),
        ..Options::default()
    };
    let checked = check(&body, &options).unwrap();
    if record["status"] == 200 {
        tally.accepted += 1;
        assert!(checked.accepted(), "{}: {:?}", record["source"], checked.findings);
        let repaired = repair(&body, &options).unwrap();
        assert!(checked.findings.is_empty() != repaired.changed() || repaired.remaining.is_empty());
        let detected = check(&body, &Options::default()).unwrap();
        assert_eq!(detected.dialect, dialect, "{}", record["source"]);
        return;
    }
    tally.rejected += 1;
    let error: Value = serde_json::from_str(record["error"].as_str().unwrap_or_default()).unwrap();
    let error = error["error"]["message"].as_str().unwrap();
    if OTHER_CAUSES.iter().any(|cause| error.contains(cause)) {
        return;
    }
    let predicted = checked.findings.iter().any(|finding| finding.predicts.as_deref() == Some(error));
    assert!(predicted, "{}: {error}: {:?}", record["source"], checked.findings);
    tally.predicted += 1;
}

fn host(record: &Value) -> String {
    record["uri"].as_str().unwrap_or_default().split('/').nth(2).unwrap_or_default().to_owned()
}

fn provider(record: &Value) -> &'static str {
    match host(record).as_str() {
        "api.anthropic.com" => "anthropic",
        "api.openai.com" => "openai",
        _ => "openai-compatible",
    }
}
