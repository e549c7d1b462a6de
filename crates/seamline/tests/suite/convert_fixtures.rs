//! One rich conversation of each dialect, converted to every other dialect and compared byte for byte.
//!
//! `SEAMLINE_BLESS=1` writes the files anew; read the diff against the rule book.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be read fails its test")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use seamline::convert;
use seamline::convert::{ConvertOptions, Converted};
use seamline::providers::dialect_names;

use serde_json::{Value, json};

use super::wire::{pairs, without_ids};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/convert")
}

fn converted(from: &str, to: &str) -> Converted {
    let body = std::fs::read(folder().join(format!("{from}.json"))).unwrap();
    let options = ConvertOptions { from: Some(from.to_owned()), to: to.to_owned(), ..ConvertOptions::default() };
    convert(&body, &options).unwrap()
}

/// The report of a conversion, one line per entry.
fn report(converted: &Converted) -> String {
    let mut out = String::new();
    for action in &converted.repairs {
        let place = action.pointer.as_deref().unwrap_or("-");
        let _ = writeln!(out, "repaired {} {place} {}", action.code, action.action);
    }
    for lost in &converted.lost {
        let place = if lost.pointer.is_empty() { "-" } else { &lost.pointer };
        let _ = writeln!(out, "{} {place} {}: {}", lost.fate.as_str(), lost.what, lost.note);
    }
    for renamed in converted.ids.iter().chain(&converted.tools) {
        let _ = writeln!(out, "renamed {} {}", renamed.from, renamed.to);
    }
    for action in &converted.adjustments {
        let _ = writeln!(out, "adjusted {} {}", action.code, action.action);
    }
    for finding in &converted.remaining {
        let _ = writeln!(out, "remains {} {}", finding.code, finding.message);
    }
    out
}

#[test]
fn a_rich_conversation_of_each_dialect_has_its_expected_form_in_every_other() {
    let bless = std::env::var_os("SEAMLINE_BLESS").is_some();
    let mut failures = Vec::new();
    for from in dialect_names() {
        for to in dialect_names().into_iter().filter(|to| *to != from) {
            let converted = converted(from, to);
            let body = String::from_utf8(converted.body.clone()).unwrap() + "\n";
            let case = folder().join(format!("{from}-{to}"));
            for (name, actual) in [("converted.json", &body), ("report.snap", &report(&converted))] {
                let path = case.join(name);
                if bless {
                    std::fs::create_dir_all(&case).unwrap();
                    std::fs::write(&path, actual).unwrap();
                }
                if std::fs::read_to_string(&path).ok().as_ref() != Some(actual) {
                    failures.push(format!("{}:\n{actual}", path.display()));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_converted_conversation_answers_every_call_and_has_no_findings() {
    for from in dialect_names() {
        for to in dialect_names().into_iter().filter(|to| *to != from) {
            let converted = converted(from, to);
            let body = serde_json::from_slice(&converted.body).unwrap();
            let pairs = without_ids(pairs(to, &body).unwrap_or_else(|error| panic!("{from} → {to}: {error}")));
            let weather = &pairs[0];
            assert_eq!((weather.0.as_str(), weather.2.as_str(), weather.3), ("get_weather", "no such station", true));
            assert_eq!(weather.1["city"], "Paris");
            assert!(pairs[1].0.contains("photo"), "{from} → {to}");
            assert_eq!(converted.remaining, [], "{from} → {to}");
        }
    }
}

/// The pointers of every value in a body.
fn pointers(value: &Value, base: &str, out: &mut Vec<String>) {
    out.push(base.to_owned());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| pointers(item, &format!("{base}/{index}"), out));
        }
        Value::Object(fields) => fields.iter().for_each(|(key, field)| pointers(field, &format!("{base}/{key}"), out)),
        _ => {}
    }
}

#[test]
fn a_value_of_any_kind_anywhere_gives_a_body_whose_calls_are_answered() {
    for from in dialect_names() {
        let body: Value =
            serde_json::from_slice(&std::fs::read(folder().join(format!("{from}.json"))).unwrap()).unwrap();
        let mut places = Vec::new();
        pointers(&body, "", &mut places);
        for place in &places {
            for odd in
                [json!(null), json!(7), json!("odd"), json!([]), json!({}), json!([["odd"]]), json!({"type": "odd"})]
            {
                let mut body = body.clone();
                *body.pointer_mut(place).unwrap() = odd;
                let text = body.to_string();
                for to in dialect_names().into_iter().filter(|to| *to != from) {
                    let options =
                        ConvertOptions { from: Some(from.to_owned()), to: to.to_owned(), ..Default::default() };
                    let Ok(converted) = convert(text.as_bytes(), &options) else { continue };
                    let made = serde_json::from_slice(&converted.body).unwrap();
                    let found = pairs(to, &made);
                    assert!(found.is_ok(), "{from} → {to} at {place}: {}\n{text}\n{made}", found.unwrap_err());
                }
            }
        }
    }
}

/// Whether one of two places is in the other.
fn is_within(one: &str, other: &str) -> bool {
    let starts =
        |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    !one.is_empty() && (starts(one, other) || starts(other, one))
}

/// Members without content: the ids and states of items, and types.
const ABOUT: &[&str] = &["id", "status", "type", "media_type", "mimeType", "mime_type", "format"];

#[test]
fn all_content_is_converted_or_listed() {
    let odds = [
        json!("odd leaf"),
        json!(["odd leaf"]),
        json!([["odd leaf"]]),
        json!({"type": "odd leaf"}),
        json!({"text": ["odd leaf"]}),
        json!({"type": "text", "text": ["odd leaf"]}),
        json!({"toolUse": "odd leaf", "functionCall": ["odd leaf"]}),
    ];
    let mut silent = Vec::new();
    for from in dialect_names() {
        let text = std::fs::read_to_string(folder().join(format!("{from}.json"))).unwrap();
        // Nothing else needs a repair, so that places are exact.
        let body: Value = serde_json::from_str(&text.replace("hist_tool_", "call_")).unwrap();
        let mut places = Vec::new();
        pointers(&body, "", &mut places);
        for (place, odd) in places.iter().flat_map(|place| odds.iter().map(move |odd| (place, odd))) {
            let mut body = body.clone();
            *body.pointer_mut(place).unwrap() = odd.clone();
            for to in dialect_names().into_iter().filter(|to| *to != from) {
                let options = ConvertOptions { from: Some(from.to_owned()), to: to.to_owned(), ..Default::default() };
                let Ok(converted) = convert(body.to_string().as_bytes(), &options) else { continue };
                let is_said = String::from_utf8_lossy(&converted.body).contains("odd leaf");
                let lost = converted.lost.iter().map(|lost| lost.pointer.as_str());
                // A message without a role is split by the kinds of its blocks.
                let role_of = place.strip_suffix("/role").unwrap_or(place);
                let repaired = converted.repairs.iter().filter_map(|action| action.pointer.as_deref());
                let repaired = repaired.filter(|at| is_within(at, role_of)).map(|_| place.as_str());
                let renamed = converted.ids.iter().chain(&converted.tools);
                let is_listed = lost.chain(repaired).any(|listed| is_within(listed, place))
                    || renamed.into_iter().any(|renamed| renamed.from.contains("odd leaf"));
                let is_about = ABOUT.iter().any(|key| place.ends_with(&format!("/{key}")));
                if !is_said && !is_listed && !is_about {
                    silent.push(format!("{from} → {to}: {odd} at {place}"));
                }
            }
        }
    }
    assert!(silent.is_empty(), "{} were dropped without a word:\n{}", silent.len(), silent.join("\n"));
}
