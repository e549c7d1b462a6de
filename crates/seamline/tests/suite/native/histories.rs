//! Histories in the shapes of programs: recognised, checked and repaired in their own shape.

mod corpus;
mod shapes;

use proptest::{collection, prelude::*, sample::select};
use seamline::error::{BodyError, HistoryError};
use seamline::files::Order;
use seamline::{Error, Options};
use seamline_testkit::generate::{self, Breaker, Broken, Damage};
use seamline_testkit::transcript::Transcript;
use seamline_testkit::{Dialect, lossless, strict};
use serde_json::{Value, json};

use shapes::{STORED, Stored, entries, sent, written};

/// Breaks of pairing, which every shape can hold.
const BREAKERS: [Breaker; 12] = [
    Breaker::DropResult,
    Breaker::DropAssistant,
    Breaker::RepeatResult,
    Breaker::RepeatResultDiffering,
    Breaker::MoveResultLater,
    Breaker::MoveResultEarlier,
    Breaker::MoveResultBeforeCall,
    Breaker::SwapResultId,
    Breaker::DropCallId,
    Breaker::ReuseCallId,
    Breaker::Steer,
    Breaker::SplitResults,
];

fn options(stored: Stored) -> Options {
    let provider = Some("openai".to_owned());
    Options { dialect: Some(stored.shape.to_owned()), order: Some(stored.order), provider, ..Options::default() }
}

fn good() -> impl Strategy<Value = Transcript> {
    generate::good().prop_map(|transcript| generate::fit(Dialect::OpenAiChat, transcript))
}

fn broken() -> impl Strategy<Value = Broken> {
    let damage = (select(&BREAKERS[..]), 0..1000_usize).prop_map(|(breaker, place)| Damage { breaker, place });
    (good(), collection::vec(damage, 1..=3)).prop_map(|(before, damages)| Broken::new(before, damages))
}

/// The text, the tool output and the marks of unknown members that a history holds.
fn payloads(transcript: &Transcript, entries: &[Value]) -> Vec<String> {
    let marks = entries.iter().map(|entry| entry.pointer("/unknown_member/mark").unwrap_or(&entry["mark"]));
    let marks = marks.filter_map(Value::as_str).map(str::to_owned);
    let images = |payload: &String| entries.iter().any(|entry| !lossless_in(entry, payload));
    transcript.payloads().into_iter().filter(images).chain(marks).collect()
}

fn lossless_in(entry: &Value, payload: &String) -> bool {
    !lossless::missing_payloads(entry, std::slice::from_ref(payload)).is_empty()
}

/// Whether a history shows its program: one without calls reads the same as a body.
fn has_calls(transcript: &Transcript) -> bool {
    transcript.messages.iter().any(|message| message.calls().next().is_some())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn a_healthy_history_has_no_findings_and_keeps_its_bytes(
        transcript in good(), stored in select(&STORED[..]), is_listed: bool, is_pretty: bool
    ) {
        let text = written(stored, entries(stored.shape, &transcript), is_listed, is_pretty);
        let found = Options { dialect: None, provider: None, ..options(stored) };
        for options in std::iter::once(options(stored)).chain(has_calls(&transcript).then_some(found)) {
            let repaired = seamline::repair(text.as_bytes(), &options).unwrap();
            prop_assert!(repaired.found.is_empty(), "{:?}\n{text}", repaired.found);
            prop_assert!(!repaired.is_changed() && *repaired.body == *text.as_bytes());
        }
    }

    #[test]
    fn a_damaged_history_is_repaired_in_its_own_shape(
        broken in broken(), stored in select(&STORED[..]), is_listed: bool, is_pretty: bool
    ) {
        let entries = entries(stored.shape, &broken.transcript);
        let payloads = payloads(&broken.transcript, &entries);
        let text = written(stored, entries, is_listed, is_pretty);
        let options = options(stored);
        let repaired = seamline::repair(text.as_bytes(), &options).unwrap();
        let out = String::from_utf8(repaired.body.to_vec()).unwrap();
        prop_assert!(repaired.remaining.is_empty(), "{:?}\n{text}\n{out}", repaired.remaining);
        let violations = strict::check(Dialect::OpenAiChat, &sent(stored, &out));
        prop_assert!(violations.is_empty(), "{violations:?}\n{text}\n{out}");
        let value: Value = serde_json::from_str(&out).unwrap();
        let missing = lossless::missing_payloads(&value, &payloads);
        let dropped: Vec<_> = repaired.dropped.iter().map(|dropped| dropped.source.as_str()).collect();
        let is_lost = |payload: &&String| !dropped.iter().any(|source| source.contains(payload.as_str()));
        prop_assert!(repaired.is_lossless() && !missing.iter().any(|payload| is_lost(&payload)), "{missing:?}\n{text}\n{out}");
        let again = seamline::repair(out.as_bytes(), &options).unwrap();
        prop_assert!(!again.is_changed() && again.found.is_empty(), "{:?}\n{out}", again.found);
        places_are_in_the_file(&text, &repaired.found)?;
    }

    #[test]
    fn the_order_of_a_healthy_opal_history_is_found(transcript in good(), is_newest: bool) {
        prop_assume!(has_calls(&transcript));
        let order = if is_newest { Order::NewestFirst } else { Order::OldestFirst };
        let stored = Stored { shape: "opal", order };
        let text = written(stored, entries("opal", &transcript), true, false);
        match seamline::check(text.as_bytes(), &Options::default()) {
            Ok(checked) => prop_assert!(checked.findings.is_empty(), "{:?}\n{text}", checked.findings),
            Err(error) => prop_assert_eq!(error, Error::History(HistoryError::NoOrder { program: "Opal" })),
        }
    }
}

/// Every finding points at the entry that its index names, and its span is what its pointer names.
fn places_are_in_the_file(text: &str, findings: &[seamline::Finding]) -> Result<(), TestCaseError> {
    let root: Value = serde_json::from_str(text).unwrap_or_default();
    for finding in findings {
        let spanned: Option<Value> = serde_json::from_str(&text[finding.span.clone()]).ok();
        prop_assert!(spanned.is_some() && root.pointer(&finding.pointer) == spanned.as_ref(), "{}", finding.pointer);
    }
    Ok(())
}

#[test]
fn entries_that_need_no_repair_keep_their_bytes() {
    let call = |id: &str| {
        format!(
            r#"{{ "role" : "assistant","content":[{{"type":"toolCall","id":"{id}","name":"read","arguments":{{"x": 1.50}}}}], "usage": {{"cost":1e-5}},"timestamp":7}}"#
        )
    };
    let user = r#"{"timestamp": 9,  "role":"user","content":"never mind"}"#;
    let text = format!("{{\"v\": 3,\n \"history\": [\n  {},\n  {user}\n ]\n}}\n", call("c1"));
    let repaired = seamline::repair(text.as_bytes(), &Options::default()).unwrap();
    let out = String::from_utf8(repaired.body.to_vec()).unwrap();
    let result = r#"{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"[synthetic] No result was recorded for this tool call. Whether it ran is unknown; check before running it again."}],"isError":true,"timestamp":7}"#;
    assert_eq!(out, format!("{{\"v\": 3,\n \"history\": [\n  {},\n  {result},\n  {user}\n ]\n}}\n", call("c1")));
    assert_eq!((repaired.dialect, &repaired.origins[..]), ("openclaw", &[Some(0), None, Some(1)][..]));
    assert_eq!(repaired.found[0].pointer, "/history/0/content/0");
}

#[test]
fn an_orphan_becomes_text_and_keeps_the_other_members_of_its_entry() {
    let text = r#"[{"role":"user","content":"hi","id":"m1"},
        {"role":"tool_result","call_id":"gone","content":"real output","is_error":false,"id":"m2","seen":true}]"#;
    let repaired = seamline::repair(text.as_bytes(), &Options::default()).unwrap();
    let out: Value = serde_json::from_slice(&repaired.body).unwrap();
    assert_eq!((&out[1]["role"], &out[1]["id"], &out[1]["seen"]), (&json!("user"), &json!("m2"), &json!(true)));
    assert!(out[1]["content"].as_str().unwrap().contains("real output") && out[1].get("call_id").is_none());
}

#[test]
fn a_result_that_shares_its_entry_moves_alone() {
    let text = r#"[{"speaker":"human","blocks":[{"type":"text","text":"go"}]},
        {"speaker":"ai","blocks":[{"type":"tool_call","id":"hist_tool_a","name":"read","parameters":{}}]},
        {"speaker":"ai","blocks":[{"type":"tool_call","id":"hist_tool_b","name":"read","parameters":{}}]},
        {"speaker":"tool","metadata":{"t":1},"blocks":[
          {"type":"tool_response","callId":"hist_tool_a","toolName":"read","result":{"deep":[1]}},
          {"type":"tool_response","callId":"hist_tool_b","toolName":"read","result":"B"}]}]"#;
    let repaired = seamline::repair(text.as_bytes(), &Options::default()).unwrap();
    let out: Value = serde_json::from_slice(&repaired.body).unwrap();
    let speakers: Vec<_> = out.as_array().unwrap().iter().map(|entry| entry["speaker"].as_str().unwrap()).collect();
    assert_eq!(speakers, ["human", "ai", "tool", "ai", "tool"], "{out}");
    assert_eq!(
        out[2]["blocks"],
        json!([{"type":"tool_response","callId":"hist_tool_a","toolName":"read","result":{"deep":[1]}}])
    );
    assert_eq!(out[4]["blocks"][0]["callId"], "hist_tool_b");
    assert!(out.to_string().contains(r#""metadata":{"t":1}"#), "{out}");
    assert_eq!(repaired.remaining, []);
}

#[test]
fn the_cancelled_call_of_the_document_gets_its_response() {
    let text = r#"[{"speaker":"human","blocks":[{"type":"text","text":"go"}]},
        {"speaker":"ai","blocks":[{"type":"tool_call","id":"hist_tool_a","name":"read","parameters":{}}]}]"#;
    let policy = seamline::Policy::preset("llxprt").unwrap();
    let repaired = seamline::repair(text.as_bytes(), &Options { policy, ..Options::default() }).unwrap();
    let out: Value = serde_json::from_slice(&repaired.body).unwrap();
    let block = &out[2]["blocks"][0];
    assert_eq!((&out[2]["speaker"], &block["type"]), (&json!("tool"), &json!("tool_response")));
    assert_eq!((&block["callId"], &block["toolName"]), (&json!("hist_tool_a"), &json!("read")));
    assert!(block["result"].is_null() && block["error"].as_str().unwrap().contains("cancelled"), "{block}");
}

#[test]
fn a_mixed_list_is_left_alone() {
    let text = r#"[{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"x","arguments":{}}]},
        {"role":"toolResult","toolCallId":"a","content":"1"},
        {"role":"tool","tool_call_id":"b","content":"2"}]"#;
    match seamline::repair(text.as_bytes(), &Options::default()).map(|repaired| repaired.is_changed()) {
        Err(Error::Body(BodyError::Split { dialects, evidence })) => {
            assert_eq!(dialects, ["openclaw", "openai_chat"]);
            assert!(evidence[0].contains("toolResult") && evidence[1].contains("`tool`"), "{evidence:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_order_that_is_not_clear_is_asked_for() {
    let text = r#"[{"role":"user","content":"a"},
        {"role":"assistant","content":"","tool_calls":[{"call_id":"c","name":"x","arguments":{}}]},
        {"role":"user","content":"b"}]"#;
    let error = seamline::check(text.as_bytes(), &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "cannot tell whether this history of Opal is stored oldest first or newest first");
    for (order, at) in [(Order::OldestFirst, 2), (Order::NewestFirst, 1)] {
        let options = Options { order: Some(order), ..Options::default() };
        let repaired = seamline::repair(text.as_bytes(), &options).unwrap();
        assert_eq!(repaired.origins.iter().position(Option::is_none), Some(at), "{order:?}");
    }
}

#[test]
fn an_aborted_turn_is_not_damage() {
    let text = r#"[{"role":"user","content":"go","timestamp":1},
        {"role":"assistant","content":[{"type":"toolCall","id":"a","name":"x","arguments":{}}],"stopReason":"aborted"},
        {"role":"assistant","content":[{"type":"toolCall","id":"b","name":"x","arguments":{}}],"stopReason":"toolUse"},
        {"role":"toolResult","toolCallId":"b","toolName":"x","content":[],"isError":false}]"#;
    assert_eq!(seamline::check(text.as_bytes(), &Options::default()).unwrap().findings, []);
}

#[test]
fn a_history_is_converted_and_the_report_points_into_it() {
    let text = r#"[{"role":"assistant","content":"done"},
        {"role":"tool_result","call_id":"c","content":"ok","is_error":true},
        {"role":"assistant","content":"","tool_calls":[{"call_id":"c","name":"x","arguments":{"p":1}}]},
        {"role":"user","content":"go"}]"#;
    let to = seamline::convert::ConvertOptions { to: "anthropic".to_owned(), ..Default::default() };
    let converted = seamline::convert(text.as_bytes(), &to).unwrap();
    assert_eq!((converted.from.dialect, converted.remaining.len()), ("opal", 0));
    let body: Value = serde_json::from_slice(&converted.body).unwrap();
    assert_eq!(
        (&body["messages"][0]["role"], &body["messages"][1]["content"][0]["input"]),
        (&json!("user"), &json!({"p": 1}))
    );
    assert!(converted.lost.iter().any(|lost| lost.pointer == "/1" && lost.what == "the mark of a failed tool"));
}
