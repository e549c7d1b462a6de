//! Histories of programs are read and repaired in their own shape.

use crate::bench::Bench;

const CLEAN: &str = r#"[{"role":"assistant","content":"done","id":"m4"},
 {"role":"tool_result","call_id":"c1","content":"ok","is_error":false,"id":"m3"},
 {"role":"assistant","content":"","tool_calls":[{"call_id":"c1","name":"read","arguments":{"p":1}}],"id":"m2"},
 {"role":"user","content":"go","id":"m1"}]
"#;

const BROKEN: &str = r#"{"messages": [
  {"role":"user","content":"go"},
  {"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"timestamp":5},
  {"role":"user","content":"and?"}
]}
"#;

#[test]
fn a_clean_history_is_clean_and_names_its_program() {
    let bench = Bench::new();
    bench.write("h.json", CLEAN);
    let ran = bench.run(&["check", "h.json", "--format", "json"]).expect(0);
    assert!(ran.out.contains(r#""dialect":"opal""#), "{}", ran.out);
    for policy in ["lossless", "opal", "clawos", "llxprt"] {
        bench.run(&["fix", "h.json", "--policy", policy]).expect(0);
        assert_eq!(std::fs::read_to_string(bench.path("h.json")).unwrap(), CLEAN, "{policy}");
    }
}

#[test]
fn a_broken_history_is_repaired_in_place_and_restored() {
    let bench = Bench::new();
    bench.write("h.json", BROKEN);
    let ran = bench.run(&["check", "h.json"]).expect(1);
    assert!(ran.out.contains("/messages/1/content/0"), "{}", ran.out);
    let ran = bench.run(&["fix", "--diff", "h.json"]).expect(0);
    assert!(ran.out.contains("c1"), "{}", ran.out);
    bench.run(&["fix", "h.json"]).expect(0);
    let fixed = std::fs::read_to_string(bench.path("h.json")).unwrap();
    let lines: Vec<&str> = fixed.lines().collect();
    assert!(lines[3].starts_with(r#"  {"role":"toolResult","toolCallId":"c1","toolName":"read","#), "{fixed}");
    let others: Vec<&str> = [0, 1, 2, 4, 5].map(|at| lines[at]).to_vec();
    assert_eq!(others, BROKEN.lines().collect::<Vec<_>>());
    bench.run(&["check", "h.json"]).expect(0);
    bench.run(&["undo", "h.json"]).expect(0);
    assert_eq!(std::fs::read_to_string(bench.path("h.json")).unwrap(), BROKEN);
}

#[test]
fn a_history_is_converted_for_a_provider() {
    let bench = Bench::new();
    bench.write("h.json", CLEAN);
    let ran = bench.run(&["convert", "h.json", "--to", "anthropic", "--model", "claude-sonnet-4-5"]).expect(0);
    assert!(ran.out.contains(r#""type":"tool_use""#) && ran.out.contains(r#""tool_use_id""#), "{}", ran.out);
    assert!(ran.err.contains("opal"), "{}", ran.err);
    bench.run(&["convert", "h.json", "--from", "opal", "--to", "openai"]).expect(0);
}

#[test]
fn an_unclear_order_is_asked_for_and_taken() {
    let bench = Bench::new();
    let text = r#"[{"role":"user","content":"a"},
 {"role":"assistant","content":"","tool_calls":[{"call_id":"c","name":"x","arguments":{}}]},
 {"role":"user","content":"b"}]"#;
    bench.write("h.json", text);
    let ran = bench.run(&["fix", "h.json"]).expect(2);
    assert!(ran.err.contains("--order newest-first"), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(bench.path("h.json")).unwrap(), text);
    bench.run(&["fix", "h.json", "--order", "newest-first"]).expect(0);
    let fixed = std::fs::read_to_string(bench.path("h.json")).unwrap();
    assert!(fixed.find("tool_result").unwrap() < fixed.find("tool_calls").unwrap(), "{fixed}");
}
