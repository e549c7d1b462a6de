//! The collected rules of providers; `SEAMLINE_REFERENCE` names their folder.
//!
//! Every error text in it must be classified as the collection says.

use std::path::Path;

use seamline_guard::{Failure, classify};
use serde_json::Value;

/// The collection's marks of texts about length, which it counts as fatal.
const LENGTHS: [&str; 4] = ["context overflow", "context_length_exceeded", "request_too_large", "request too large"];

#[test]
fn collected_texts_are_classified_like_the_collection() {
    let Some(folder) = std::env::var_os("SEAMLINE_REFERENCE") else {
        println!("skipped: SEAMLINE_REFERENCE is not set");
        return;
    };
    let text = std::fs::read_to_string(Path::new(&folder).join("provider-rules.json")).unwrap();
    let records: Vec<Value> = serde_json::from_str(&text).unwrap();
    let told: Vec<&Value> = records.iter().filter(|record| record["error_text"].is_string()).collect();
    let failures: Vec<String> = told.iter().filter_map(|record| judge(record).err()).collect();
    println!("{} of {} texts classified as collected", told.len() - failures.len(), told.len());
    assert!(failures.is_empty(), "{} of {} fail:\n{}", failures.len(), told.len(), failures.join("\n"));
    assert!(!told.is_empty(), "there are no texts");
}

/// Returns the differences from the collection: with the provider and status of the record, and with the text alone.
fn judge(record: &Value) -> Result<(), String> {
    let text = record["error_text"].as_str().unwrap_or_default();
    let status = record["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let provider = record["dialect"].as_str().filter(|dialect| *dialect != "any");
    for failure in [Failure { provider, status, text, ..Failure::default() }, Failure { text, ..Failure::default() }] {
        let verdict = classify(&failure);
        let known = verdict.known.map(|known| (known.source, known.kind.name));
        if known.is_none() || verdict.class.as_str() != class(record) {
            return Err(format!("{} is {}, not {:?} {known:?}: {text}", record["id"], class(record), verdict.class));
        }
    }
    Ok(())
}

/// Returns the class of a record, with texts about length as overflow.
fn class(record: &Value) -> &str {
    let rule = record["rule"].as_str().unwrap_or_default().to_lowercase();
    let class = record["class"].as_str().unwrap_or_default();
    let is_length = LENGTHS.iter().any(|length| rule.contains(length));
    if class == "fatal" && is_length { "overflow" } else { class }
}
