//! Conversations in every dialect, there and back.

#![expect(clippy::unwrap_used, reason = "a body that cannot be converted fails its test")]

use proptest::prelude::*;
use seamline::{ConvertOptions, Converted, Finding, Options, Severity, check, convert, providers};
use seamline_testkit::text::Style;
use seamline_testkit::transcript::Transcript;
use seamline_testkit::{Dialect, generate, lossless, render, strict};
use serde_json::Value;

use super::wire::{Pair, pairs, without_ids};

/// The dialects in which results are texts. In the others they are objects, which are JSON in a
/// text elsewhere.
const TEXTUAL: [Dialect; 3] = [Dialect::AnthropicMessages, Dialect::OpenAiChat, Dialect::OpenAiResponses];

const DIALECTS: [&str; 5] =
    ["anthropic_messages", "openai_chat", "openai_responses", "gemini_generate", "bedrock_converse"];

/// How many conversations are taken through every pair of dialects.
const ROUND_TRIPS: u32 = 100;

/// How many damaged histories walk from provider to provider.
const WALKS: u32 = 500;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn into(body: &[u8], from: &str, to: &str) -> Converted {
    let options = ConvertOptions { from: Some(from.to_owned()), to: to.to_owned(), ..ConvertOptions::default() };
    convert(body, &options).unwrap()
}

fn parsed(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap()
}

/// What the provider itself would refuse. Whether it continues a message of the assistant that
/// stands last is for the caller to say.
fn refused(body: &[u8], provider: &str) -> Vec<Finding> {
    let options = Options { provider: Some(provider.to_owned()), ..Options::default() };
    let findings = check(body, &options).unwrap().findings.into_iter();
    findings.filter(|finding| finding.severity == Severity::Error && finding.code != "SHAPE005").collect()
}

/// A conversation in a dialect: written by the testkit where it can, else converted.
fn spoken(transcript: &Transcript, dialect: &str, style: Style) -> Vec<u8> {
    if let Some(known) = TEXTUAL.into_iter().find(|known| known.name() == dialect) {
        return render::render(known, transcript, style).into_bytes();
    }
    let body = render::render(Dialect::AnthropicMessages, transcript, style);
    into(body.as_bytes(), "anthropic_messages", dialect).body
}

/// What must hold of a body wherever a conversation stops.
fn holds(dialect: &str, body: &[u8], payloads: &[String]) -> Result<Vec<Pair>, String> {
    let value = parsed(body);
    let missing = lossless::missing_payloads(&value, payloads);
    if !missing.is_empty() {
        return Err(format!("{dialect} no longer says {missing:?}"));
    }
    if String::from_utf8_lossy(body).contains("\"hist_tool_") {
        return Err(format!("an internal id is on the wire of {dialect}"));
    }
    if let Some(known) = Dialect::ALL.into_iter().find(|known| known.name() == dialect) {
        let violations = strict::check(known, &value);
        if !violations.is_empty() {
            return Err(format!("{dialect}: {violations:?}"));
        }
    }
    pairs(dialect, &value).map_err(|error| format!("{dialect}: {error}"))
}

proptest! {
    #![proptest_config(config(ROUND_TRIPS))]

    #[test]
    fn there_and_back_keeps_what_was_said_and_who_answered_whom(
        transcript in generate::good(), style in generate::style()
    ) {
        for from in DIALECTS {
            let first = spoken(&transcript, from, style);
            let before = without_ids(pairs(from, &parsed(&first)).unwrap());
            for to in DIALECTS.into_iter().filter(|to| *to != from) {
                let there = into(&first, from, to);
                let back = into(&there.body, to, from);
                for (dialect, body) in [(to, &there.body), (from, &back.body)] {
                    let held = holds(dialect, body, &transcript.payloads());
                    prop_assert!(held.is_ok(), "{} → {}: {}\n{}", from, to, held.unwrap_err(), String::from_utf8_lossy(body));
                    prop_assert_eq!(&without_ids(held.unwrap()), &before, "{} → {}", from, to);
                }
                prop_assert_eq!(&there.remaining, &[]);
                prop_assert_eq!(&there.body, &into(&first, from, to).body);
            }
        }
    }
}

proptest! {
    #![proptest_config(config(WALKS))]

    #[test]
    fn a_damaged_history_walks_from_provider_to_provider(
        broken in generate::broken(), style in generate::style(), internal in any::<bool>()
    ) {
        let mut body = render::render(Dialect::OpenAiChat, &broken.transcript, style);
        if internal {
            body = body.replace("\"toolu_", "\"hist_tool_");
        }
        let stops = [
            "openai", "anthropic", "gemini", "mistral", "openai", "bedrock", "openai-responses", "anthropic", "openai",
        ];
        let mut at = body.into_bytes();
        let mut calls = None;
        for way in stops.windows(2) {
            at = into(&at, way[0], way[1]).body;
            let provider = providers::by_name(way[1]).unwrap();
            let held = holds(provider.dialect, &at, &broken.transcript.payloads());
            prop_assert!(held.is_ok(), "{:?} at {}: {}\n{}", broken.damages, way[1], held.unwrap_err(), String::from_utf8_lossy(&at));
            let wrong = refused(&at, way[1]);
            prop_assert!(wrong.is_empty(), "{:?} at {}: {:?}\n{}", broken.damages, way[1], wrong, String::from_utf8_lossy(&at));
            let found = without_ids(held.unwrap());
            let first = calls.get_or_insert_with(|| found.clone());
            prop_assert_eq!(&found, &*first, "{:?} at {}", &broken.damages, way[1]);
        }
    }
}

/// The payloads that stand nowhere that the report calls dropped.
fn unreported(body: &str, payloads: &[String], converted: &Converted) -> Vec<String> {
    // What no strict reader takes says nothing anyway.
    let readable = body.trim_start_matches('\u{feff}').replace("\\ud83d\"", "\"").replace("\\udc4d\"", "\"");
    let Ok(value) = serde_json::from_str::<Value>(&readable) else { return payloads.to_vec() };
    let dropped = converted.lost.iter().filter(|lost| lost.fate == "dropped");
    let dropped: Vec<&Value> = dropped.filter_map(|lost| value.pointer(&lost.pointer)).collect();
    let is_dropped = |payload: &String| {
        let payload = std::slice::from_ref(payload);
        dropped.iter().any(|value| lossless::missing_payloads(value, payload).is_empty())
    };
    payloads.iter().filter(|payload| !is_dropped(payload)).cloned().collect()
}

proptest! {
    #![proptest_config(config(WALKS))]

    #[test]
    fn a_body_that_is_written_badly_goes_over_whole(
        mangled in generate::mangled(), style in generate::style(), from in prop::sample::select(TEXTUAL.to_vec())
    ) {
        let body = mangled.render(from, style);
        for to in DIALECTS.into_iter().filter(|to| *to != from.name()) {
            let converted = into(body.text.as_bytes(), from.name(), to);
            // Where nobody says anything, there is nothing to say elsewhere.
            if ["messages", "input", "contents"].iter().any(|key| parsed(&converted.body)[*key] == serde_json::json!([])) {
                continue;
            }
            let payloads = unreported(&body.text, &body.payloads, &converted);
            let held = holds(to, &converted.body, &payloads);
            prop_assert!(
                held.is_ok(), "{:?} {:?} → {}: {}\n{}\n{}", mangled.broken.damages, mangled.wire, to, held.unwrap_err(),
                body.text, String::from_utf8_lossy(&converted.body)
            );
        }
    }
}

#[test]
fn within_one_dialect_only_what_the_other_provider_refuses_changes() {
    let body = br#"{"model":"claude-x","max_tokens":5,"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}"#;
    let same = into(body, "anthropic", "anthropic");
    assert_eq!(same.body, body);
    let joined = into(body, "anthropic", "anthropic-compatible");
    assert_eq!((joined.adjustments.len(), joined.remaining.len()), (1, 0));
}

#[test]
fn a_place_is_named_as_it_was_before_the_repair() {
    // The first message is taken out by the repair, so everything after it moves up.
    let body = br#"{"model":"claude-x","max_tokens":5,"messages":[
        {"role":"user","content":[]},
        {"role":"user","content":"a"},
        {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"b"}]},
        {"role":"user","content":"c"}]}"#;
    let converted = into(body, "anthropic", "openai");
    let reasoning = converted.lost.iter().find(|lost| lost.what == "reasoning").unwrap();
    assert_eq!(reasoning.pointer, "/messages/2/content/0");
}

#[test]
fn foreign_reasoning_is_dropped_or_kept_as_text() {
    let body = br#"{"model":"claude-x","max_tokens":5,"messages":[{"role":"user","content":"a"},
        {"role":"assistant","content":[{"type":"thinking","thinking":"let me see","signature":"c2ln"},{"type":"text","text":"b"}]}]}"#;
    let mut options = ConvertOptions { to: "openai".to_owned(), ..ConvertOptions::default() };
    let said = |options: &ConvertOptions| {
        let converted = convert(body, options).unwrap();
        (String::from_utf8(converted.body).unwrap().contains("let me see"), converted.lost[0].fate)
    };
    assert_eq!(said(&options), (false, "dropped"));
    options.reasoning = seamline::ForeignReasoning::Text;
    assert_eq!(said(&options), (true, "kept_as_text"));
    options.to = "bedrock_converse".to_owned();
    let converted = convert(body, &options).unwrap();
    assert!(String::from_utf8(converted.body).unwrap().contains(r#""signature":"c2ln""#), "the same models read it");
}

#[test]
fn ids_of_every_kind_reach_each_provider_in_a_form_it_takes() {
    let long = "x".repeat(70);
    for id in ["functions.read:0", "call_1|fc_1", "hist_tool_7", long.as_str(), "call_ok"] {
        let body = format!(
            r#"{{"messages":[{{"role":"user","content":"a"}},{{"role":"assistant","content":null,"tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"read","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"{id}","content":"ok"}}]}}"#
        );
        for to in ["anthropic_messages", "openai_responses", "gemini_generate", "bedrock_converse"] {
            let converted = into(body.as_bytes(), "openai_chat", to);
            let found = holds(to, &converted.body, &[]).unwrap();
            let legal = found[0].id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
            assert!(found[0].id.len() <= 64 || to == "anthropic_messages", "{to}: {}", found[0].id);
            assert!(legal || to == "openai_responses", "{to}: {}", found[0].id);
            let changed = converted.ids.iter().find(|renamed| renamed.from == id).map(|renamed| &*renamed.to);
            assert_eq!(changed.unwrap_or(id), found[0].id, "{to}");
        }
    }
}

#[test]
fn a_name_that_means_nobody_is_told_with_those_there_are() {
    let options = ConvertOptions { to: "antropic".to_owned(), ..ConvertOptions::default() };
    let error = convert(br#"{"messages":[]}"#, &options).unwrap_err();
    assert_eq!(error.to_string(), "no provider and no dialect is called `antropic`");
    assert!(error.hint().is_some_and(|hint| hint.contains("anthropic") && hint.contains("bedrock_converse")));
}

#[test]
fn results_nested_in_results_without_end_are_read_all_the_same() {
    let depth = 50_000;
    for (from, call, open, close) in [
        (
            "anthropic_messages",
            r#"{"type":"tool_use","id":"a","name":"read","input":{}}"#,
            r#"{"type":"tool_result","tool_use_id":"a","content":["#,
            "]}",
        ),
        (
            "bedrock_converse",
            r#"{"toolUse":{"toolUseId":"a","name":"read","input":{}}}"#,
            r#"{"toolResult":{"toolUseId":"a","content":["#,
            "]}}",
        ),
    ] {
        let nested = format!("{}{}", open.repeat(depth), close.repeat(depth));
        let body = format!(
            r#"{{"messages":[{{"role":"assistant","content":[{call}]}},{{"role":"user","content":[{nested}]}}]}}"#
        );
        for to in DIALECTS.into_iter().filter(|to| *to != from) {
            assert!(!into(body.as_bytes(), from, to).body.is_empty());
        }
    }
}
