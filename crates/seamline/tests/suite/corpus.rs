//! Recorded request bodies, where `SEAMLINE_CORPUS` points at them.
//!
//! A body that a provider accepted has no error finding. A body that it rejected because of the conversation has a
//! finding that predicts the recorded error.

use std::collections::BTreeMap;
use std::path::Path;

use seamline::{Options, check};
use serde_json::Value;

use crate::detection::withstands_foreign_blocks;

/// Errors with other causes than the conversation.
const OTHER_CAUSES: &[&str] = &[
    "does not support effort level",
    "Tool call validation failed",
    "Web search options",
    "The requested model",
    "The file type you uploaded",
    "Invalid 'temperature'",
    "model identifier is invalid",
    "doesn't support the s3Uri field",
    "extraneous key [toolResult]",
    "Cannot fetch content from the provided URL",
];

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
    for dialect in seamline::providers::dialect_names() {
        let path = Path::new(&corpus).join("provider-requests").join(format!("{}.jsonl", dialect.replace('_', "-")));
        // Some dialects have no recordings.
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let tally =
                tallies.entry(format!("{dialect} {} ({})", host(&record), provider(&record, dialect))).or_default();
            judge(&record, dialect, tally).unwrap_or_else(|why| panic!("{}: {why}", record["source"]));
        }
    }
    assert!(!tallies.is_empty(), "there are recorded bodies");
    for (host, tally) in &tallies {
        println!("{host}: {} accepted, {} rejected, {} predicted", tally.accepted, tally.rejected, tally.predicted);
    }
}

/// Explains why a body is judged differently from its provider.
fn judge(record: &Value, dialect: &str, tally: &mut Tally) -> Result<(), String> {
    let body = record["body"].to_string().into_bytes();
    let provider = Some(provider(record, dialect).to_owned());
    let options = Options { dialect: Some(dialect.to_owned()), provider, ..Options::default() };
    let checked = check(&body, &options).map_err(|error| error.to_string())?;
    let findings = format!("{:?}", checked.findings);
    if record["status"] == 200 {
        tally.accepted += 1;
        let detected = check(&body, &Options::default()).map_err(|error| error.to_string())?;
        return match (checked.is_accepted(), detected.dialect == dialect) {
            (true, true) => withstands_foreign_blocks(&record["body"], dialect).map(drop),
            (false, _) => Err(format!("accepted, but {findings}")),
            (true, false) => Err(format!("detected as {}", detected.dialect)),
        };
    }
    tally.rejected += 1;
    let error: Value = serde_json::from_str(record["error"].as_str().unwrap_or_default())
        .map_err(|error| format!("the recorded error is not JSON: {error}"))?;
    let error = error["error"]["message"].as_str().or(error["message"].as_str()).unwrap_or_default();
    if OTHER_CAUSES.iter().any(|cause| error.contains(cause)) {
        return Ok(());
    }
    tally.predicted += 1;
    let predicted = checked.findings.iter().any(|finding| finding.predicts.as_deref() == Some(error));
    if predicted { Ok(()) } else { Err(format!("rejected with {error:?}, but {findings}")) }
}

/// The provider by the model that the address names.
fn bedrock(record: &Value) -> &'static str {
    match record["uri"].as_str().unwrap_or_default() {
        uri if uri.contains("anthropic.claude") => "bedrock-claude",
        uri if uri.contains("amazon.nova") => "bedrock-nova",
        uri if uri.contains("mistral.") => "bedrock-mistral",
        _ => "bedrock",
    }
}

fn host(record: &Value) -> String {
    record["uri"].as_str().unwrap_or_default().split('/').nth(2).unwrap_or_default().to_owned()
}

pub(crate) fn provider(record: &Value, dialect: &str) -> &'static str {
    match (host(record).as_str(), dialect) {
        ("api.anthropic.com", _) => "anthropic",
        ("api.openai.com", "openai_responses") => "openai-responses",
        ("api.openai.com", _) => "openai",
        (_, "openai_responses") => "responses-compatible",
        ("generativelanguage.googleapis.com", _) => "gemini",
        ("aiplatform.googleapis.com", _) => "vertex-gemini",
        (host, _) if host.starts_with("bedrock-runtime.") => bedrock(record),
        ("api.mistral.ai", _) => "mistral",
        ("api.groq.com", _) => "groq",
        ("api.cerebras.ai", _) => "cerebras",
        ("api.deepseek.com", _) => "deepseek",
        ("api.z.ai", _) => "zai",
        ("ollama.com", _) => "ollama",
        ("openrouter.ai", _) => "openrouter",
        _ => "openai-compatible",
    }
}
