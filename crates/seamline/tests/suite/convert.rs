//! Conversions between all dialects, and round trips.

#![expect(clippy::unwrap_used, reason = "a body that cannot be converted fails its test")]

use proptest::prelude::*;
use seamline::convert::{ConvertOptions, Converted, Fate};
use seamline::{Finding, Options, Severity, check, convert, providers, repair};
use seamline_testkit::transcript::{Message, Role};
use seamline_testkit::{Dialect, generate, lossless, render, strict};
use serde_json::Value;

use super::wire::{Pair, pairs, without_ids};

/// The number of conversations that are converted between every pair of dialects.
const ROUND_TRIPS: u32 = 100;

/// The number of damaged histories that go from provider to provider.
const WALKS: u32 = 500;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

pub(crate) fn into(body: &[u8], from: &str, to: &str) -> Converted {
    let options = ConvertOptions { from: Some(from.to_owned()), to: to.to_owned(), ..ConvertOptions::default() };
    convert(body, &options).unwrap()
}

pub(crate) fn parsed(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap()
}

/// The violations that the provider itself would reject.
fn refused(body: &[u8], provider: &str) -> Vec<Finding> {
    let options = Options { provider: Some(provider.to_owned()), ..Options::default() };
    let findings = check(body, &options).unwrap().findings.into_iter();
    findings.filter(|finding| finding.severity == Severity::Error).collect()
}

/// Checks that must hold for a body wherever a conversation stops.
fn holds(dialect: &str, body: &[u8], payloads: &[String]) -> Result<Vec<Pair>, String> {
    let value = parsed(body);
    let missing = lossless::missing_payloads(&opened(&value), payloads);
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
        for known in Dialect::ALL {
            let transcript = generate::fit(known, transcript.clone());
            let (first, from) = (render::render(known, &transcript, style).into_bytes(), known.name());
            let before = without_ids(pairs(from, &parsed(&first)).unwrap());
            for to in seamline::providers::dialect_names().into_iter().filter(|to| *to != from) {
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
        let mut transcript = broken.transcript.clone();
        // Only the caller knows whether the last assistant message is to be continued.
        transcript.messages.push(Message::text(Role::User, "and now?"));
        let mut body = render::render(Dialect::OpenAiChat, &transcript, style);
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

/// The payloads that are outside of everything that the report calls dropped.
fn unreported(body: &str, payloads: &[String], converted: &Converted) -> Vec<String> {
    // A payload that strict readers reject has no content.
    let readable = body.trim_start_matches('\u{feff}').replace("\\ud83d\"", "\"").replace("\\udc4d\"", "\"");
    let Ok(value) = serde_json::from_str::<Value>(&readable) else { return payloads.to_vec() };
    let dropped = converted.lost.iter().filter(|lost| lost.fate == Fate::Dropped);
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
        mangled in generate::mangled(), style in generate::style(), from in prop::sample::select(Dialect::ALL.to_vec())
    ) {
        let body = mangled.render(from, style);
        for to in seamline::providers::dialect_names().into_iter().filter(|to| *to != from.name()) {
            let converted = into(body.text.as_bytes(), from.name(), to);
            // A body without content has nothing to convert.
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

/// Members that hold types and references, not content.
const ABOUT: [&str; 11] = [
    "role",
    "type",
    "id",
    "status",
    "tool_use_id",
    "tool_call_id",
    "call_id",
    "toolUseId",
    "mimeType",
    "mime_type",
    "media_type",
];

/// The texts in a value with their places; a text that is JSON itself counts as one place.
fn texts(value: &Value, place: &str, out: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => {
                let mut within = Vec::new();
                texts(&inner, "", &mut within);
                out.extend(within.into_iter().map(|(_, text)| (place.to_owned(), text)));
            }
            // Bytes in a data URL move without being listed.
            _ => out.push((
                place.to_owned(),
                text.rsplit_once(";base64,").map_or(text.as_str(), |(_, data)| data).to_owned(),
            )),
        },
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| texts(item, &format!("{place}/{index}"), out));
        }
        Value::Object(fields) => {
            for (key, field) in fields.iter().filter(|(key, _)| !ABOUT.contains(&key.as_str())) {
                texts(field, &format!("{place}/{}", key.replace('~', "~0").replace('/', "~1")), out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A body with the JSON in its texts parsed, at any depth.
fn opened(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let start = text.find(['{', '[']).unwrap_or(text.len());
            // A mark that a tool failed starts like a list.
            let rest = text[start..].trim_start_matches("[tool error] ").trim_start_matches("[tool output] ");
            let inner = serde_json::Deserializer::from_str(rest).into_iter::<Value>().map_while(Result::ok);
            let inner: Vec<Value> = inner.filter(|value| !value.is_string()).map(|value| opened(&value)).collect();
            Value::Array(std::iter::once(value.clone()).chain(inner).collect())
        }
        Value::Array(items) => items.iter().map(opened).collect(),
        Value::Object(fields) => fields.iter().map(|(key, field)| (key.clone(), opened(field))).collect(),
        other => other.clone(),
    }
}

/// The texts of a body's messages that are neither in the new body nor in the report.
fn silent(body: &Value, converted: &Converted) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for key in ["messages", "input", "contents"] {
        texts(&body[key], &format!("/{key}"), &mut all);
    }
    let target = opened(&parsed(&converted.body));
    let is_listed = |(place, text): &(String, String)| {
        let places = || converted.lost.iter().map(|lost| lost.pointer.as_str()).filter(|pointer| !pointer.is_empty());
        let renamed = converted.ids.iter().chain(&converted.tools);
        places().any(|listed| place.starts_with(listed)) || renamed.into_iter().any(|renamed| renamed.from == *text)
    };
    let is_said = |text: &str| lossless::missing_payloads(&target, &[text.to_owned()]).is_empty();
    all.into_iter().filter(|leaf| !leaf.1.trim().is_empty() && !is_listed(leaf) && !is_said(&leaf.1)).collect()
}

proptest! {
    #![proptest_config(config(WALKS))]

    #[test]
    fn every_text_goes_over_or_is_listed(
        mangled in generate::mangled(), style in generate::style(), from in prop::sample::select(Dialect::ALL.to_vec())
    ) {
        let text = mangled.render(from, style).text;
        let options = Options { dialect: Some(from.name().to_owned()), ..Options::default() };
        // The effect of a repair is not checked here; unrepaired content must be converted.
        let repaired = repair(text.as_bytes(), &options).unwrap();
        let Ok(body) = serde_json::from_slice::<Value>(&repaired.body) else { return Ok(()) };
        for to in seamline::providers::dialect_names().into_iter().filter(|to| *to != from.name()) {
            let converted = into(&repaired.body, from.name(), to);
            let silent = silent(&body, &converted);
            prop_assert!(
                silent.is_empty(), "{} → {}: {:?}\n{}\n{}\n{:?}", from.name(), to, silent, body,
                String::from_utf8_lossy(&converted.body), converted.lost
            );
        }
    }
}

#[test]
fn unreadable_content_is_kept_as_text_and_listed() {
    for (from, list) in [
        ("openai_chat", r#""messages":["IMPORTANT",{"role":"user","content":"hello"}]"#),
        ("openai_chat", r#""messages":[{"role":"user","content":[{"type":"text","text":["IMPORTANT"]}]}]"#),
        ("openai_chat", r#""messages":[{"role":"assistant","content":null,"tool_calls":["IMPORTANT"]}]"#),
        ("anthropic_messages", r#""messages":["IMPORTANT",{"role":"user","content":"hello"}]"#),
        ("anthropic_messages", r#""messages":[{"role":"user","content":[["IMPORTANT"]]}]"#),
        ("openai_responses", r#""input":[7,["IMPORTANT"],{"role":"user","content":"hello"}]"#),
        ("gemini_generate", r#""contents":[{"role":"user","parts":["IMPORTANT"]}]"#),
        ("gemini_generate", r#""contents":[{"role":"user","parts":[{"text":{"a":"IMPORTANT"}}]}]"#),
        ("bedrock_converse", r#""messages":[{"role":"user","content":[{"text":["IMPORTANT"]}]}]"#),
    ] {
        for to in seamline::providers::dialect_names().into_iter().filter(|to| *to != from) {
            let converted = into(format!("{{{list}}}").as_bytes(), from, to);
            let said = String::from_utf8(converted.body).unwrap();
            assert!(said.contains("IMPORTANT"), "{from} → {to}: {said}");
            let is_listed = converted.lost.iter().any(|lost| lost.fate == Fate::Text);
            assert!(is_listed || !converted.repairs.is_empty(), "{from} → {to}: {:?}", converted.lost);
        }
    }
}

#[test]
fn calls_with_a_type_stay_with_their_results() {
    let body = br#"{"model":"gpt-5","tools":[{"type":"shell"}],"input":[
        {"role":"user","content":"list"},
        {"type":"shell_call","id":"sh_1","call_id":"call_1","action":{"commands":["ls"]},"status":"completed"},
        {"type":"shell_call_output","call_id":"call_1","output":[{"stdout":"main.rs","stderr":""}]},
        {"type":"apply_patch_call","call_id":"call_2","operation":{"type":"delete_file","path":"a"}},
        {"type":"apply_patch_call_output","call_id":"call_2","status":"failed","output":"no such file"}]}"#;
    for to in seamline::providers::dialect_names().into_iter().filter(|to| *to != "openai_responses") {
        let converted = into(body, "openai_responses", to);
        let pairs = without_ids(pairs(to, &parsed(&converted.body)).unwrap());
        assert_eq!(pairs[0].0, "shell", "{to}");
        assert_eq!(pairs[0].1, serde_json::json!({"commands": ["ls"]}), "{to}");
        assert!(pairs[0].2.contains("main.rs") && !pairs[0].3, "{to}: {:?}", pairs[0]);
        assert_eq!(
            (pairs[1].0.as_str(), pairs[1].2.as_str(), pairs[1].3),
            ("apply_patch", "no such file", true),
            "{to}"
        );
    }
}

#[test]
fn ids_that_change_within_one_dialect_are_listed() {
    let body = br#"{"model":"mistral-large-latest","messages":[{"role":"user","content":"a"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"call_abcdefgh","type":"function","function":{"name":"read","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"call_abcdefgh","content":"ok"}]}"#;
    let converted = into(body, "openai", "mistral");
    assert_eq!(converted.ids.len(), 1);
    assert_eq!(converted.ids[0].from, "call_abcdefgh");
    assert!(
        String::from_utf8_lossy(&converted.body).contains(&format!("\"tool_call_id\":\"{}\"", converted.ids[0].to))
    );
}

#[test]
fn a_place_with_odd_names_is_a_correct_pointer() {
    let body = serde_json::json!({"messages": [{"role": "user", "content": "a", "x/y~z": "odd"}]});
    let converted = into(body.to_string().as_bytes(), "openai_chat", "anthropic_messages");
    let lost = converted.lost.iter().find(|lost| lost.what.contains("x/y~z")).unwrap();
    assert_eq!(lost.pointer, "/messages/0/x~1y~0z");
    assert_eq!(body.pointer(&lost.pointer).unwrap(), "odd");
}

#[test]
fn within_one_dialect_only_content_that_the_other_provider_rejects_changes() {
    let body = br#"{"model":"claude-x","max_tokens":5,"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}"#;
    let same = into(body, "anthropic", "anthropic");
    assert_eq!(same.body, body);
    let joined = into(body, "anthropic", "anthropic-compatible");
    assert_eq!((joined.adjustments.len(), joined.remaining.len()), (1, 0));
}

#[test]
fn a_place_is_named_as_it_was_before_the_repair() {
    // The repair removes the first message, so every later message moves up.
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
    assert_eq!(said(&options), (false, Fate::Dropped));
    options.reasoning = seamline::convert::ForeignReasoning::Text;
    assert_eq!(said(&options), (true, Fate::Text));
    options.to = "bedrock_converse".to_owned();
    let converted = convert(body, &options).unwrap();
    assert!(String::from_utf8(converted.body).unwrap().contains(r#""signature":"c2ln""#), "the same models read it");
}

#[test]
fn ids_of_every_kind_reach_each_provider_in_a_form_that_it_accepts() {
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
fn an_unknown_name_is_reported_with_the_known_ones() {
    let options = ConvertOptions { to: "antropic".to_owned(), ..ConvertOptions::default() };
    let error = convert(br#"{"messages":[]}"#, &options).unwrap_err();
    assert_eq!(error.to_string(), "no provider and no dialect is called `antropic`");
    assert!(error.hint().is_some_and(|hint| hint.contains("anthropic") && hint.contains("bedrock_converse")));
}

#[test]
fn deeply_nested_results_are_read() {
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
        for to in seamline::providers::dialect_names().into_iter().filter(|to| *to != from) {
            assert!(!into(body.as_bytes(), from, to).body.is_empty());
        }
    }
}

#[test]
fn a_member_hidden_by_a_later_one_with_the_same_key_is_reported() {
    let hidden = |converted: &Converted| -> Vec<(String, String)> {
        let hidden = converted.lost.iter().filter(|lost| lost.note == "a later member of the same key hides it");
        hidden.map(|lost| (lost.what.clone(), lost.pointer.clone())).collect()
    };
    let owned = |what: &str, pointer: &str| (what.to_owned(), pointer.to_owned());

    let lists = br#"{"messages":[{"role":"user","content":"old"}],"messages":[{"role":"user","content":"new"}]}"#;
    let converted = into(lists, "openai", "anthropic");
    assert_eq!(hidden(&converted), [owned("earlier `messages`", "/messages")]);

    let members = br#"{"temperature":1,"temperature":0,"top_p":1,"top_p":1,
        "tools":[{"type":"function","function":{"name":"old"}}],"tools":[{"type":"function","function":{"name":"f"}}],
        "messages":[{"role":"user","content":"old","content":"new"},
        {"role":"assistant","content":[{"type":"text","text":"old","text":"new"}]}]}"#;
    let converted = into(members, "openai", "anthropic");
    let expected = [
        owned("earlier `temperature`", "/temperature"),
        owned("earlier `tools`", "/tools"),
        owned("earlier `content`", "/messages/0/content"),
        owned("earlier `text`", "/messages/1/content/0/text"),
    ];
    assert_eq!(hidden(&converted), expected);
    assert!(!String::from_utf8_lossy(&converted.body).contains("old"));

    let bedrock = br#"{"messages":[{"role":"user","content":[{"text":"old","text":"new"}]}]}"#;
    let converted = into(bedrock, "bedrock", "openai");
    assert_eq!(hidden(&converted), [owned("earlier `text`", "/messages/0/content/0/text")]);
    assert_eq!(parsed(&converted.body)["messages"][0]["content"], "new");
}

#[test]
fn details_of_media_that_are_not_carried_over_are_reported() {
    let body = serde_json::json!({"messages": [{"role": "user", "content": [
        {"document": {"name": "report", "context": "last year", "format": "pdf",
            "source": {"s3Location": {"uri": "s3://bucket/report.pdf"}}}}]}]});
    let converted = into(body.to_string().as_bytes(), "bedrock", "openai");
    let dropped: Vec<_> =
        converted.lost.iter().filter(|lost| lost.fate == Fate::Dropped).map(|lost| lost.what.as_str()).collect();
    assert_eq!(dropped, ["member `context`", "name of the document"]);
}

#[test]
fn an_output_that_looks_synthetic_does_not_count_as_failed() {
    let body = |output: &str| {
        serde_json::json!({"messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": null,
                "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "call_1", "content": output}]})
        .to_string()
    };
    let result = |output: &str, options: &ConvertOptions| {
        let there = convert(body(output).as_bytes(), options).unwrap();
        let back = into(&there.body, "anthropic", "openai");
        assert_eq!(parsed(&back.body)["messages"][2]["content"], output);
        parsed(&there.body)["messages"][2]["content"][0].clone()
    };
    let mut options = ConvertOptions { to: "anthropic".to_owned(), ..ConvertOptions::default() };
    let real = result("[synthetic] 40 rows of test data", &options);
    assert_eq!((&real["content"], &real["is_error"]), (&"[synthetic] 40 rows of test data".into(), &Value::Null));
    let made_up = "[synthetic] No result was recorded for this tool call.";
    assert_eq!(result(made_up, &options)["is_error"], true);

    // The text of a policy counts as synthetic only under that policy.
    options.policy.repair.synthetic_text.missing = "[synthetic] lost at sea".into();
    let there = convert(body("[synthetic] lost at sea").as_bytes(), &options).unwrap();
    assert_eq!(parsed(&there.body)["messages"][2]["content"][0]["is_error"], true);
    let back = ConvertOptions { to: "openai".to_owned(), policy: options.policy, ..ConvertOptions::default() };
    let back = convert(&there.body, &back).unwrap();
    assert_eq!(parsed(&back.body)["messages"][2]["content"], "[synthetic] lost at sea");
}
