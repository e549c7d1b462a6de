//! Every knob has an effect: each of its values gives another outcome. Knobs that only sessions read are tried in
//! `sessions/knobs.rs`; `docs/policies.md` names a test for each knob.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a policy that cannot be read fails its test")]

use std::collections::BTreeSet;
use std::time::Duration;

use seamline::classify::{Failure, Verdict};
use seamline::guards::{
    Advice, Breaker, CallInRound, CheckedCall, Emitted, Outcome, Retry, StallGuard, StallNotice, ToolSchemas,
};
use seamline::policy::KnobKind;
use seamline::stream::{ResponseStream, StreamOptions};
use seamline::{Options, Policy, repair};

fn policy(text: &str) -> Policy {
    Policy::from_toml(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Every value of a knob, as a policy file writes it.
fn values(knob: &str) -> Vec<String> {
    let knobs = Policy::default().knobs();
    let listed = knobs.iter().find(|listed| listed.name == knob).unwrap();
    match listed.kind {
        KnobKind::Word(words) => words.iter().map(|word| format!("'{}'", word.name)).collect(),
        KnobKind::Flag => vec!["true".to_owned(), "false".to_owned()],
        kind => panic!("{knob}: {kind:?}"),
    }
}

fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}"}}"#)
}

fn calls(ids: &[&str]) -> String {
    let call = |id: &&str| format!(r#"{{"id":"{id}","type":"function","function":{{"name":"t","arguments":"{{}}"}}}}"#);
    let calls: Vec<_> = ids.iter().map(call).collect();
    format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, calls.join(","))
}

fn result(id: &str, text: &str) -> String {
    format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#)
}

/// Repairs messages under a policy and gives the body and the findings before it.
fn outcome(text: &str, messages: &[String]) -> String {
    let options = Options { policy: policy(text), ..Options::default() };
    let model = if messages.concat().contains("\"type\":\"text\"") { "claude-sonnet-4-5" } else { "gpt-4.1" };
    let body = format!(r#"{{"model":"{model}","max_tokens":9,"messages":[{}]}}"#, messages.join(","));
    let repaired = repair(body.as_bytes(), &options).unwrap();
    let found: Vec<_> = repaired.found.iter().map(|finding| finding.name).collect();
    format!("{found:?} {} {}", repaired.sendable, String::from_utf8_lossy(&repaired.body))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of knobs and conversations")]
fn every_value_of_a_knob_of_repairs_gives_another_repair() {
    let (hi, go) = (user("hi"), user("go on"));
    let unanswered = vec![hi.clone(), calls(&["call_1"]), go.clone()];
    let orphan = vec![hi.clone(), result("call_9", "stray"), go.clone()];
    let unknown = r#"{"role":"wizard","content":"hm"}"#.to_owned();
    let text = |text: &str| format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#);
    let far_apart = vec![
        hi.clone(),
        result("call_1", "before its call"),
        calls(&["call_1"]),
        go.clone(),
        calls(&["call_2"]),
        go.clone(),
        result("call_2", "until the next assistant message"),
        calls(&["call_3"]),
        r#"{"role":"assistant","content":"yes"}"#.to_owned(),
        result("call_3", "later"),
        go.clone(),
    ];
    // The provider rejects an id that repeats in one message, and accepts it in a later one.
    let repeated = vec![
        hi.clone(),
        calls(&["call_1", "call_1"]),
        result("call_1", "one"),
        result("call_1", "two"),
        go.clone(),
        calls(&["call_1"]),
        result("call_1", "three"),
        go.clone(),
    ];
    let cases: Vec<(&str, &str, Vec<String>)> = vec![
        ("safety", "orphan_result = 'remove'", [orphan.clone(), vec![unknown, go.clone()]].concat()),
        ("unanswered_reason", "", unanswered.clone()),
        ("orphan_result", "safety = 'unsafe'", orphan),
        ("match_scope", "safety = 'unsafe'", far_apart),
        (
            "misaddressed",
            "safety = 'unsafe'",
            vec![hi.clone(), calls(&["call_1"]), result("call_7", "here"), go.clone()],
        ),
        ("displaced", "safety = 'unsafe'", vec![hi.clone(), calls(&["call_1"]), go.clone(), result("call_1", "late")]),
        ("trailing_call", "safety = 'unsafe'", vec![hi.clone(), calls(&["call_1"])]),
        (
            "duplicate_result",
            "safety = 'unsafe'",
            vec![hi.clone(), calls(&["call_1"]), result("call_1", "one"), result("call_1", "two"), go.clone()],
        ),
        ("duplicate_call_id", "safety = 'unsafe'", repeated),
        ("id_mode", "", vec![hi.clone(), calls(&["toolu_1"]), result("toolu_1", "here"), go.clone()]),
        ("merge_same_role", "", vec![text("one"), text("two")]),
        (
            "result_order",
            "",
            vec![
                hi.clone(),
                calls(&["call_1", "call_2"]),
                result("call_2", "two"),
                result("call_1", "one"),
                go.clone(),
            ],
        ),
    ];
    for (knob, base, messages) in &cases {
        let values = values(knob);
        let outcomes: BTreeSet<String> =
            values.iter().map(|value| outcome(&format!("{base}\n{knob} = {value}"), messages)).collect();
        assert_eq!(outcomes.len(), values.len(), "{knob}: {outcomes:#?}");
    }
    // Only sessions show the difference between these.
    let of = |text: &str| outcome(text, &unanswered);
    assert_eq!(of("on_invalid = 'offer'"), of(""));
    assert_eq!(BTreeSet::from([of(""), of("on_invalid = 'block'"), of("on_invalid = 'warn'")]).len(), 3);
    let unsafely = |word: &str| of(&format!("safety = 'unsafe'\nunanswered_call = '{word}'"));
    assert_eq!(unsafely("rollback"), unsafely("fail"));
    assert_eq!(BTreeSet::from([of(""), unsafely("remove_call"), unsafely("fail")]).len(), 3);
    // The assistant message has only the call that is removed.
    let removes = "safety = 'unsafe'\nunanswered_call = 'remove_call'";
    let emptied: BTreeSet<_> =
        values("emptied").iter().map(|value| of(&format!("{removes}\nemptied = {value}"))).collect();
    assert_eq!(emptied.len(), values("emptied").len(), "{emptied:#?}");
}

#[test]
fn x11_every_text_is_used_for_its_reason() {
    let unanswered = [user("hi"), calls(&["call_1"]), user("go on")];
    let texts = seamline::policy::Texts::default();
    for (reason, ..) in texts.list() {
        let text = format!("unanswered_reason = '{reason}'\n[synthetic_text]\n{reason} = 'because of {reason}'");
        assert!(outcome(&text, &unanswered).contains(&format!("[synthetic] because of {reason}")), "{reason}");
    }
}

const TWO_INPUTS: &str = "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"t\",\"input\":{\"a\":1}}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"DELTA\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n";

fn read(text: &str, stream: &str) -> seamline::stream::Response {
    let options = StreamOptions {
        dialect: Some("anthropic_messages".to_owned()),
        policy: policy(text),
        ..StreamOptions::default()
    };
    let mut reading = ResponseStream::new(&options).unwrap();
    reading.feed(stream.as_bytes());
    reading.finish().unwrap()
}

#[test]
fn x17_every_source_of_input_reads_some_stream_in_another_way() {
    let input = |word: &str, delta: &str| {
        let response = read(&format!("arg_source = '{word}'"), &TWO_INPUTS.replace("DELTA", delta));
        (response.calls[0].arguments.clone(), response.calls[0].executable)
    };
    let deltas = [r#"{\"b\":2}"#, r#"{\"b\""#, r#",\"b\":2}"#];
    let all = values("arg_source");
    let read: BTreeSet<Vec<_>> =
        all.iter().map(|word| deltas.iter().map(|delta| input(word.trim_matches('\''), delta)).collect()).collect();
    assert_eq!(read.len(), all.len(), "{read:#?}");
}

#[test]
fn every_limit_of_streams_has_an_effect() {
    let stream = TWO_INPUTS.replace("DELTA", r#"{\"b\":2}"#);
    let plain = read("", &stream);
    assert!(plain.calls[0].executable && !plain.findings.is_empty(), "{:?}", plain.findings);
    for limit in ["frame_bytes_max = 20", "message_bytes_max = 1"] {
        assert_eq!(read(limit, &stream).ending, seamline::stream::Ending::Failed, "{limit}");
    }
    let two = format!(
        "data: {{\"type\":\"content_block_start\",\"index\":7,\"content_block\":{{\"type\":\"text\",\"text\":\"x\"}}}}\n\n{stream}"
    );
    assert_eq!(read("blocks_max = 1", &two).ending, seamline::stream::Ending::Failed);
    assert!(read("findings_max = 0", &stream).findings.is_empty());
}

fn verdict(status: u16, headers: &[(&str, &str)], text: &str) -> Verdict {
    seamline::classify(&Failure { status: Some(status), headers, text, ..Failure::default() })
}

#[test]
fn every_knob_of_the_retry_guard_has_an_effect() {
    let advice = |text: &str, verdict: &Verdict| -> Vec<Advice> {
        let mut retry = Retry::new(policy(text).guard.retry);
        (0..4).map(|_| retry.handle_failure(verdict, b"{}", Emitted::Nothing)).collect()
    };
    let busy = verdict(529, &[], "Overloaded");
    let waits = |text: &str| -> Vec<u64> {
        let millis = |advice: &Advice| match advice {
            Advice::SendAgain { wait } => Some(u64::try_from(wait.as_millis()).unwrap()),
            _ => None,
        };
        advice(text, &busy).iter().filter_map(millis).collect()
    };
    assert_eq!(waits(""), [1000, 2000]);
    assert_eq!(waits("retries_max = 1"), [1000]);
    assert_eq!(waits("retry_wait_min_ms = 10"), [10, 20]);
    assert_eq!(waits("retry_wait_max_ms = 1500"), [1000, 1500]);
    let asked = verdict(529, &[("retry-after", "60")], "Overloaded");
    assert_ne!(advice("", &asked)[0], advice("retry_asked_wait_max_ms = 1000", &asked)[0]);
    let broken = verdict(
        400,
        &[],
        "messages.6: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    );
    let words = values("on_corruption");
    let advised: BTreeSet<String> =
        words.iter().map(|word| format!("{:?}", advice(&format!("on_corruption = {word}"), &broken)[0])).collect();
    assert_eq!(advised.len(), words.len(), "{advised:?}");
}

/// Gives the reaction of a breaker to rounds: each is a tool and its arguments, `ok` after a call that fits, or `turn`.
fn broken_rounds(text: &str, rounds: &[(&str, &str)]) -> Vec<&'static str> {
    let mut tools = ToolSchemas::new();
    for name in ["one", "two"] {
        tools.add(name, Some(r#"{"type":"object","required":["a"]}"#)).unwrap();
    }
    let mut breaker = Breaker::new(policy(text).guard.breaker);
    let mut told = Vec::new();
    for (name, arguments) in rounds {
        if *name == "turn" {
            breaker.handle_turn();
            continue;
        }
        let call = CallInRound { name, arguments, free: false, truncated: false };
        let (checked, stop) = breaker.handle_round(&[call], &tools);
        let (ok, text, escalated) = match &checked[0] {
            CheckedCall::Refuse { text, escalated } => (false, text.as_str(), *escalated),
            CheckedCall::Run | CheckedCall::PartlyChecked => (!arguments.contains("fails"), r#"{"ok":false}"#, false),
        };
        let stop = stop.or(breaker.handle_outcomes(&[Outcome { name, arguments, ok, text }]));
        told.push(match (stop, escalated) {
            (Some(_), _) => "stop",
            (None, true) => "escalate",
            (None, false) => "-",
        });
    }
    told
}

#[test]
fn every_knob_of_the_breaker_has_an_effect() {
    let wrong: Vec<(&str, String)> = (0..4).map(|n| ("one", format!(r#"{{"b":{n}}}"#))).collect();
    let wrong: Vec<(&str, &str)> = wrong.iter().map(|(name, arguments)| (*name, arguments.as_str())).collect();
    assert_eq!(broken_rounds("", &wrong), ["-", "-", "escalate", "escalate"]);
    assert_eq!(broken_rounds("breaker_failures_max = 2", &wrong)[1], "escalate");
    assert!(broken_rounds("breaker_ends_turn = true", &wrong).contains(&"stop"));
    let same = [("one", r#"{"b":0}"#); 6];
    let stops_at =
        |text: &str, rounds: &[(&str, &str)]| broken_rounds(text, rounds).iter().position(|told| *told == "stop");
    assert_eq!((stops_at("", &same), stops_at("breaker_rounds_max = 2", &same)), (Some(2), Some(1)));
    let alternating = [("one", r#"{"b":0}"#), ("two", r#"{"b":0}"#)].repeat(4);
    assert!(stops_at("", &alternating).is_some());
    assert_eq!(stops_at("breaker_period_max = 1", &alternating), None);
    // A call that fits and fails by its text only.
    let fits = [("one", r#"{"a":1}"#); 6];
    assert!(stops_at("", &fits).is_some());
    assert_eq!(stops_at("breaker_reads_results = false", &fits), None);
    // Two wrong calls, something in between, and a third one.
    let row = |between: (&'static str, &'static str)| {
        [("one", r#"{"b":0}"#), ("one", r#"{"b":1}"#), between, ("one", r#"{"b":2}"#)]
    };
    let escalates = |text: &str, between| broken_rounds(text, &row(between)).last() == Some(&"escalate");
    let text = |word: &str| format!("breaker_reads_results = false\nbreaker_reset = '{word}'");
    let (other, own, own_fails) = (("two", r#"{"a":1}"#), ("one", r#"{"a":1}"#), ("one", r#"{"a":"fails"}"#));
    for (word, expected) in [
        ("any_success", [false, false, true]),
        ("same_tool", [true, false, true]),
        ("same_tool_fits", [true, false, false]),
    ] {
        assert_eq!([other, own, own_fails].map(|between| escalates(&text(word), between)), expected, "{word}");
    }
}

#[test]
fn every_knob_of_the_stall_guard_has_an_effect() {
    let at = Duration::from_millis;
    let notices = |text: &str| -> Vec<String> {
        let mut guard = StallGuard::new(policy(text).guard.stall, at(0));
        let shown = |notice: Option<StallNotice>| match notice {
            Some(StallNotice::Warn { .. }) => "warn".to_owned(),
            Some(StallNotice::Stalled { .. }) => "stalled".to_owned(),
            None => "-".to_owned(),
        };
        [4_000, 11_000, 301_000].into_iter().map(|now| shown(guard.poll_notice(at(now)))).collect()
    };
    assert_eq!(notices(""), ["-", "warn", "stalled"]);
    assert_eq!(notices("stall_warn_ms = 3000")[0], "warn");
    assert_eq!(notices("stall_warn_ms = 0")[1], "-");
    assert_eq!(notices("stall_timeout_ms = 0")[2], "-");
    let tool = |text: &str| {
        let mut guard = StallGuard::new(policy(text).guard.stall, at(0));
        guard.handle_tool_begun("toolu_1", at(0));
        guard.poll_notice(at(9_000_000)).is_some()
    };
    assert_eq!([tool(""), tool("stall_tool_timeout_ms = 1000")], [false, true]);
}

/// The table of knobs and tests in `docs/policies.md`: the cells of its rows.
fn table_of_tests() -> Vec<Vec<String>> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/policies.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with('|') && line.matches('|').count() == 5);
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    rows.filter(|line| !line.starts_with("|--")).map(cells).collect()
}

fn sources(folder: &std::path::Path, found: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn the_page_about_policies_names_a_test_for_every_question_and_every_knob() {
    let rows = table_of_tests();
    let mut code = String::new();
    sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut code);
    for number in 1..=31 {
        let mark = format!("X{number}");
        assert_eq!(rows.iter().filter(|row| row[0] == mark).count(), 1, "{mark}");
    }
    for knob in Policy::default().knobs() {
        let quoted = format!("`{}`", knob.name);
        let row = rows.iter().find(|row| row[2].split(", ").any(|named| named == quoted));
        assert!(row.is_some(), "{} is not in the table", knob.name);
        assert!(knob.mark.is_empty() || row.unwrap()[0] == knob.mark, "{}: {}", knob.name, knob.mark);
    }
    for row in rows.iter().filter(|row| row[0].starts_with('X') || row[0] == "–") {
        for test in row[3].split(", ") {
            let name = test.trim_matches('`');
            assert!(code.contains(&format!("fn {name}(")), "{}: there is no test {name}", row[0]);
        }
    }
}
