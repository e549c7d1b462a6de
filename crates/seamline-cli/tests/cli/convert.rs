//! `seamline convert`

use serde_json::json;

use crate::bench::{BROKEN, Bench, CLEAN};

#[test]
fn the_body_goes_to_standard_output_and_the_report_to_standard_error() {
    let bench = Bench::new();
    bench.write("body.json", CLEAN);
    let ran = bench.run(&["convert", "body.json", "--to", "openai", "--model", "gpt-4o"]).expect(0);
    let body = ran.json();
    assert_eq!((&body["model"], &body["messages"][2]["role"]), (&json!("gpt-4o"), &json!("tool")));
    assert_eq!(body["messages"][2]["tool_call_id"], body["messages"][1]["tool_calls"][0]["id"]);
    assert!(
        ran.err.starts_with("✓ body.json: anthropic_messages → openai_chat for openai; 3 messages\n"),
        "{}",
        ran.err
    );
    bench.run_on(&ran.out, &["check", "--provider", "openai"]).expect(0);
    assert_eq!(bench.run_on(CLEAN, &["convert", "--to", "openai", "--model", "gpt-4o"]).expect(0).out, ran.out);
    assert_eq!(bench.read("body.json"), CLEAN);
}

#[test]
fn damage_is_repaired_before_the_conversion_and_reported() {
    let bench = Bench::new();
    let ran = bench.run_on(BROKEN, &["convert", "--to", "openai_chat"]).expect(0);
    assert!(ran.out.contains("[synthetic]"), "{}", ran.out);
    assert!(ran.err.contains("PAIR001 unanswered-call"), "{}", ran.err);
    bench.run_on(&ran.out, &["check", "--dialect", "openai_chat"]).expect(0);
}

#[test]
fn a_dry_run_says_what_would_be_lost_and_writes_nothing() {
    let bench = Bench::new();
    let odd =
        CLEAN.replace("toolu_1", "hist_tool_1").replace("\"max_tokens\"", "\"service_tier\":\"auto\",\"max_tokens\"");
    bench.write("body.json", odd);
    let ran = bench.run(&["convert", "body.json", "--to", "gemini_generate", "--dry-run"]).expect(0);
    assert!(ran.out.contains("would be changed or dropped\n"), "{}", ran.out);
    assert!(ran.out.contains("dropped  setting `service_tier` at /service_tier"), "{}", ran.out);
    assert!(ran.out.contains("call  hist_tool_1  → call_1\n"), "{}", ran.out);
    assert!(!ran.out.contains("functionCall") && ran.err.is_empty(), "{ran:?}");
    assert_eq!(bench.names("."), ["body.json"]);
}

#[test]
fn the_report_has_the_documented_shape() {
    let bench = Bench::new();
    bench.write("body.json", CLEAN.replace("\"max_tokens\"", "\"service_tier\":\"auto\",\"max_tokens\""));
    let args = ["convert", "body.json", "--to", "bedrock_converse", "--report", "report.json", "--output", "new.json"];
    bench.run(&args).expect(0);
    let text = bench.read("report.json");
    let order = ["path", "from", "to", "messages", "complete", "lost", "ids", "tools", "repairs", "remaining"];
    assert!(crate::formats::in_order(&text, &order), "{text}");
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let document = &report["documents"][0];
    assert_eq!(document["from"], json!({"dialect": "anthropic_messages", "provider": null}));
    assert_eq!(document["complete"], json!(false));
    let lost = json!({"what": "setting `service_tier`", "pointer": "/service_tier", "fate": "dropped", "note": "it is not carried over"});
    assert_eq!(document["lost"][0], lost);
    let told =
        bench.run(&["convert", "body.json", "--to", "bedrock_converse", "--dry-run", "--format", "json"]).expect(0);
    assert_eq!(told.out, text);
    assert!(bench.read("new.json").contains("toolResult"));
}

#[test]
fn an_impossible_conversion_is_refused_with_the_possible_ones() {
    let bench = Bench::new();
    bench.write("body.json", CLEAN);
    let ran = bench.run(&["convert", "body.json", "--to", "antropic"]).expect(2);
    assert!(ran.err.contains("no provider and no dialect is called `antropic`"), "{}", ran.err);
    assert!(ran.err.contains("hint: did you mean `anthropic`"), "{}", ran.err);
    let ran = bench.run(&["convert", "body.json", "--to", "openai", "--output", "body.json"]).expect(2);
    assert!(ran.err.contains("would overwrite the body"), "{}", ran.err);
    assert_eq!(bench.read("body.json"), CLEAN);
    bench.run(&["convert", "missing.json", "--to", "openai"]).expect(2);
    bench.run(&["convert", "body.json"]).expect(2);
    let ran = bench.run_on("{", &["convert", "--to", "openai"]).expect(2);
    assert_eq!(ran.out, "");
    bench.write("folder/a.json", CLEAN);
    bench.write("folder/b.json", CLEAN);
    bench.run(&["convert", "folder", "--to", "openai"]).expect(2);
}

#[test]
fn a_body_in_another_dialect_than_the_named_one_is_refused() {
    let bench = Bench::new();
    bench.write("body.json", CLEAN);
    for from in ["openai_chat", "openai/openai_chat"] {
        let ran = bench.run(&["convert", "body.json", "--from", from, "--to", "bedrock"]).expect(2);
        assert_eq!(ran.out, "");
        let said = "this looks like an anthropic_messages body, not an openai_chat one";
        assert!(ran.err.contains(said), "{}", ran.err);
        assert!(ran.err.contains("hint: omit `--from`, or pass `--from anthropic_messages`"), "{}", ran.err);
    }
    // A provider serves several dialects, so the body tells which one it is.
    for from in ["anthropic", "openai", "gemini", "deepseek"] {
        bench.run(&["convert", "body.json", "--from", from, "--to", "bedrock"]).expect(0);
    }
}

#[test]
fn a_target_is_a_provider_a_dialect_or_both() {
    let bench = Bench::new();
    for (to, side, is_known) in [
        ("deepseek", json!({"dialect": "openai_chat", "provider": "deepseek"}), true),
        ("deepseek/openai_responses", json!({"dialect": "openai_responses", "provider": "deepseek-responses"}), true),
        ("groq/openai_responses", json!({"dialect": "openai_responses", "provider": "groq"}), false),
    ] {
        let ran = bench.run_on(CLEAN, &["convert", "--to", to, "--dry-run", "--format", "json"]).expect(0);
        assert_eq!(ran.json()["documents"][0]["to"], side, "{to}");
        assert_eq!(!ran.err.contains("are not known"), is_known, "{}", ran.err);
    }
    bench.run_on(CLEAN, &["convert", "--to", "groq/klingon"]).expect(2);
}

#[test]
fn remaining_findings_are_shown_and_end_with_status_one() {
    let bench = Bench::new();
    let ran = bench.run_on(r#"{"messages":[]}"#, &["convert", "--to", "anthropic"]).expect(1);
    assert!(ran.err.contains("still wrong"), "{}", ran.err);
}

#[test]
fn foreign_reasoning_is_kept_as_text_on_request() {
    let bench = Bench::new();
    let body = CLEAN.replace(
        r#"[{"type":"tool_use""#,
        r#"[{"type":"thinking","thinking":"let me see","signature":"c2ln"},{"type":"tool_use""#,
    );
    assert!(!bench.run_on(&body, &["convert", "--to", "openai"]).expect(0).out.contains("let me see"));
    assert!(
        bench.run_on(&body, &["convert", "--to", "openai", "--reasoning", "text"]).expect(0).out.contains("let me see")
    );
}
