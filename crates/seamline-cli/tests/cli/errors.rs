//! `seamline explain --error`

use std::collections::BTreeSet;

use crate::bench::{BROKEN, Bench, CLEAN, TWICE};

/// The error that the provider returns for [`BROKEN`].
const ERROR: &str = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. \
                     Each `tool_use` block must have a corresponding `tool_result` block in the next message.";

#[test]
fn a_known_error_is_explained_to_people() {
    let bench = Bench::new();
    let ran = bench.run(&["explain", "--error", ERROR]).expect(0);
    let expected = "\
corruption unanswered-call  known as ANT-5

  the error   messages.1: `tool_use` ids were found without `tool_result` blocks
              immediately after: toolu_1. Each `tool_use` block must have a
              corresponding `tool_result` block in the next message.
  means       a tool call has no tool result in the place that the provider
              requires
  place       message 1 (the provider's messages.1) · toolu_1
  rules       PAIR001 unanswered-call, PAIR004 displaced-result, PAIR007
              split-results, ORDER001 text-before-results, PAIR005
              misaddressed-result, ORDER006 text-after-results; see seamline
              explain PAIR001
  what to do  repair the conversation and send it again; the same bytes get the
              same error
              seamline fix --diff request.json
              seamline doctor if the session of an agent is stuck
";
    assert_eq!((ran.out.as_str(), ran.err.as_str()), (expected, ""));
}

#[test]
fn an_error_is_read_from_standard_input_in_any_wrapping() {
    let bench = Bench::new();
    let raw = serde_json::json!({"type": "error", "error": {"type": "invalid_request_error", "message": ERROR}});
    let outer = serde_json::json!({"error": {"message": "Provider returned error", "code": 400,
        "metadata": {"raw": raw.to_string(), "provider_name": "Anthropic"}}});
    let ran = bench.run_on(outer.to_string(), &["explain", "--error", "-", "--provider", "openrouter"]).expect(0);
    assert_eq!(ran, bench.run(&["explain", "--error", ERROR]));
}

#[test]
fn the_findings_that_caused_an_error_are_shown() {
    let bench = Bench::new();
    bench.write("twice.json", TWICE);
    let text = "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1";
    let ran = bench.run(&["explain", "--error", text, "--body", "twice.json"]).expect(0);
    assert!(ran.out.contains("\n1 finding in twice.json that this error is about:\n\nerror[PAIR001]"), "{}", ran.out);
    assert!(ran.out.contains("  rules       PAIR001 unanswered-call; see"), "{}", ran.out);
    assert!(ran.out.contains("              seamline fix --diff twice.json\n"), "{}", ran.out);
    assert!(!ran.out.contains("PAIR002"), "the other finding is not what the error is about: {}", ran.out);
}

#[test]
fn a_body_that_does_not_explain_the_error_is_reported() {
    let bench = Bench::new();
    bench.write("clean.json", CLEAN);
    bench.write("broken.json", BROKEN);
    let ran = bench.run(&["explain", "--error", ERROR, "--body", "clean.json"]).expect(0);
    assert!(ran.out.contains("clean.json meets every known demand of anthropic"), "{}", ran.out);
    let text = "messages: text content blocks must be non-empty";
    let ran = bench.run(&["explain", "--error", text, "--body", "broken.json"]).expect(0);
    let expected = "1 finding in broken.json, none of which is a known cause of this error";
    assert!(ran.on_one_line().contains(expected), "{}", ran.out);
}

#[test]
fn the_body_may_come_from_standard_input() {
    let bench = Bench::new();
    let ran = bench.run_on(BROKEN, &["explain", "--error", ERROR, "--body", "-"]).expect(0);
    assert!(ran.out.contains("error[PAIR001]"), "{}", ran.out);
    bench.run(&["explain", "--error", "-", "--body", "-"]).expect(2);
}

#[test]
fn programs_get_one_object() {
    let bench = Bench::new();
    bench.write("broken.json", BROKEN);
    let args = ["explain", "--error", ERROR, "--status", "400", "--body", "broken.json", "--format", "json"];
    let whole = bench.run(&args).expect(0).json();
    let fields: BTreeSet<_> = whole.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "advice",
        "body",
        "certainty",
        "class",
        "known",
        "meaning",
        "members",
        "place",
        "retry_after_ms",
        "rules",
        "said",
        "status",
        "version",
    ];
    assert_eq!(fields, BTreeSet::from(expected));
    assert_eq!(whole["class"], "corruption");
    assert_eq!(whole["known"], serde_json::json!({"name": "unanswered-call", "source": "ANT-5", "usual_status": 400}));
    let place =
        serde_json::json!({"message_index": 1, "block_index": null, "notation": "messages.1", "ids": ["toolu_1"]});
    assert_eq!((&whole["place"], &whole["members"]), (&place, &serde_json::json!([])));
    assert_eq!(whole["rules"][0], serde_json::json!({"code": "PAIR001", "name": "unanswered-call"}));
    assert_eq!(whole["body"]["findings"][0]["code"], "PAIR001");
    assert_eq!((&whole["said"], &whole["status"]), (&ERROR.into(), &400.into()));
}

#[test]
fn the_field_that_a_rejection_names_is_shown() {
    let bench = Bench::new();
    let text = "messages.3.content.0.foo: Extra inputs are not permitted";
    let ran = bench.run(&["explain", "--error", text]).expect(0);
    assert!(ran.out.contains("  fields      foo is unknown at /messages/3/content/0/foo\n"), "{}", ran.out);
    let place = "  place       message 3 · block 0 (the provider's messages.3.content.0)\n";
    assert!(ran.out.contains(place), "{}", ran.out);
    let whole = bench.run(&["explain", "--error", text, "--format", "json"]).expect(0).json();
    let member = serde_json::json!([{"name": "foo", "pointer": "/messages/3/content/0/foo", "fault": "unknown"}]);
    assert_eq!(whole["members"], member);
}

#[test]
fn a_position_is_shown_in_our_counting_with_the_provider_s_beside_it() {
    let bench = Bench::new();
    let text = "Function call is missing a thought_signature in functionCall parts. Additional data, function call \
                `default_api:Bash` , position 2.";
    let ran = bench.run(&["explain", "--error", text]).expect(0);
    assert!(ran.out.contains("  place       message 1 (the provider's position 2)"), "{}", ran.out);
}

#[test]
fn the_complaint_of_a_chat_template_is_not_transient() {
    let bench = Bench::new();
    let text = r#"{"error":{"code":500,"message":"Error: Jinja Exception: This model likes Tuesdays.","type":"server_error"}}"#;
    let ran = bench.run(&["explain", "--error", text, "--status", "500"]).expect(0);
    assert!(ran.out.starts_with("fatal template-failed  known as Jinja templates\n"), "{}", ran.out);
}

#[test]
fn an_unknown_error_is_classified_by_its_status() {
    let bench = Bench::new();
    for (status, class, certainty) in [
        ("503", "transient", "status"),
        ("401", "fatal", "status"),
        ("413", "overflow", "status"),
        ("400", "fatal", "guess"),
    ] {
        let args = ["explain", "--error", "never heard of it", "--status", status, "--format", "json"];
        let whole = bench.run(&args).expect(1).json();
        assert_eq!((&whole["class"], &whole["certainty"]), (&class.into(), &certainty.into()));
        assert_eq!(whole["known"], serde_json::Value::Null);
    }
    let ran = bench.run(&["explain", "--status", "503"]).expect(1);
    assert!(
        ran.out.starts_with("transient overloaded  classified by its status 503; the text is unknown\n"),
        "{}",
        ran.out
    );
}

#[test]
fn the_wait_that_the_provider_asks_for_is_shown() {
    let bench = Bench::new();
    let text = "Rate limit reached for gpt-5 in organization org-1. Please try again in 1.2s.";
    let ran = bench.run(&["explain", "--error", text]).expect(0);
    assert!(ran.out.contains("\n  wait        1.2 s, as the provider asks\n"), "{}", ran.out);
    let whole = bench.run(&["explain", "--error", text, "--format", "json"]).expect(0).json();
    assert_eq!(whole["retry_after_ms"], 1200);
}

#[test]
fn the_headers_of_a_response_that_curl_printed_are_read() {
    let bench = Bench::new();
    let printed = "HTTP/2 429 \r\ncontent-type: application/json\r\nretry-after: 17\r\n\r\n{\"error\":\"slow down\"}";
    let whole = bench.run_on(printed, &["explain", "--error", "-", "--format", "json"]).expect(1).json();
    assert_eq!((&whole["class"], &whole["status"]), (&"transient".into(), &429.into()));
    assert_eq!((&whole["retry_after_ms"], &whole["said"]), (&17000.into(), &"slow down".into()));
    let whole = bench.run_on(printed, &["explain", "--error", "-", "--status", "401", "--format", "json"]).json();
    assert_eq!(whole["status"], 401, "the status of the option counts");
}

#[test]
fn an_unknown_provider_gets_a_list_with_every_name_once() {
    let bench = Bench::new();
    let ran = bench.run(&["explain", "--error", ERROR, "--provider", "nope"]).expect(2);
    let (providers, families) = ran.err.split_once("; the families of errors are also ").unwrap();
    let providers = providers.split_once("the providers are ").unwrap().1;
    let names: Vec<_> = providers.split(", ").chain(families.split(", ")).map(str::trim).collect();
    let once: BTreeSet<_> = names.iter().collect();
    assert_eq!(names.len(), once.len(), "{}", ran.err);
    assert!(names.contains(&"zai") && names.contains(&"volcengine"), "{}", ran.err);
    for family in families.split(", ") {
        bench.run_on(CLEAN, &["check", "--provider", family.trim()]).expect(2);
    }
}

#[test]
fn contradictory_options_are_refused() {
    let bench = Bench::new();
    bench.write("broken.json", BROKEN);
    bench.write("text.json", "hello");
    for args in [
        &["explain"][..],
        &["explain", "PAIR001", "--error", ERROR],
        &["explain", "PAIR001", "--body", "broken.json"],
        &["explain", "--body", "broken.json"],
        &["explain", "--error", ERROR, "--status", "99"],
        &["explain", "--error", ERROR, "--provider", "unknown"],
        &["explain", "--error", ERROR, "--body", "missing.json"],
        &["explain", "--error", ERROR, "--body", "text.json"],
    ] {
        let ran = bench.run(args).expect(2);
        assert!(ran.out.is_empty() && !ran.err.is_empty(), "{ran:?}");
    }
}

#[test]
fn control_characters_become_visible() {
    let bench = Bench::new();
    let ran = bench.run_on(b"\x1b[31mterrible\x07 \xff", &["explain", "--error", "-"]).expect(1);
    assert!(!ran.out.contains('\u{1b}') && !ran.out.contains('\u{7}'), "{:?}", ran.out);
}

#[test]
fn a_rule_is_explained_to_programs() {
    let bench = Bench::new();
    let whole = bench.run(&["explain", "PAIR001", "--format", "json"]).expect(0).json();
    assert_eq!((&whole["rule"]["code"], &whole["rule"]["name"]), (&"PAIR001".into(), &"unanswered-call".into()));
}

#[test]
fn the_mark_of_a_known_error_is_explained() {
    let bench = Bench::new();
    let ran = bench.run(&["explain", "ant-5"]).expect(0);
    assert!(ran.out.starts_with("# ANT-5\n"), "{}", ran.out);
    assert!(
        ran.out.contains("an error of `anthropic`, `unanswered-call`: a tool call has no tool result"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("PAIR001 `unanswered-call`, PAIR004 `displaced-result`"), "{}", ran.out);
    let whole = bench.run(&["explain", "GEM-22", "--format", "json"]).expect(0).json();
    assert_eq!(
        (&whole["mark"]["name"], &whole["mark"]["errors"][0]["name"]),
        (&"GEM-22".into(), &"rate-limited".into())
    );
    bench.run(&["explain", "ANT-9999"]).expect(2);
}

/// Whether a page has a mark, by itself or between two others.
fn is_on(page: &str, mark: &str) -> bool {
    let (provider, number) = mark.split_once('-').unwrap();
    let number: u32 = number.parse().unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    rows.flat_map(|row| row.split(", ")).any(|marks| {
        let mut ends =
            marks.split(" to ").filter_map(|end| end.strip_prefix(provider)?.strip_prefix('-')?.parse().ok());
        let first: Option<u32> = ends.next();
        first.is_some_and(|first| (first..=ends.next().unwrap_or(first)).contains(&number))
    })
}

#[test]
fn every_mark_of_an_error_has_an_explanation() {
    let bench = Bench::new();
    for (mark, meaning, advice) in [
        ("ANT-58", "the provider is overloaded", "wait"),
        ("cut streams", "the connection failed", "again"),
        ("status words", "the provider's server failed", "again"),
    ] {
        let ran = bench.run(&["explain", mark]).expect(0);
        assert!(ran.out.starts_with(&format!("# {mark}\n")) && ran.out.contains(meaning), "{}", ran.out);
        assert!(ran.out.contains("transient") && ran.out.contains(advice), "{}", ran.out);
        assert!(ran.out.contains("`seamline explain --error TEXT`"), "{}", ran.out);
        assert!(!ran.out.contains("references.md"), "the page does not have it: {}", ran.out);
    }
    let by_case = bench.run(&["explain", "Cut Streams"]).expect(0);
    assert_eq!(by_case, bench.run(&["explain", "cut streams"]));
    // If rules cite a mark, the page says what the provider demands.
    let page = include_str!("../../../../docs/design/references.md");
    let rules = bench.run(&["rules", "--format", "json"]).expect(0).json();
    let documented = rules["rules"].as_array().unwrap().iter().map(|rule| rule["documentation"].as_str().unwrap());
    let references = documented.filter_map(|text| text.split_once("# References")).map(|(_, references)| references);
    let words: BTreeSet<&str> =
        references.flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')).collect();
    let marks = words.into_iter().filter(|word| word.starts_with("ANT-") || word.starts_with("OAC-"));
    for mark in marks {
        let ran = bench.run(&["explain", mark]).expect(0);
        assert!(ran.out.contains("references.md") && is_on(page, mark), "{mark}: {}", ran.out);
    }
}
