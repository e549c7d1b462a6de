//! `seamline salvage`

use serde_json::json;

use crate::bench::{Bench, CLEAN};
use crate::session_files::{STUCK, user};

#[test]
fn a_session_becomes_markdown_and_a_request_body() {
    let bench = Bench::new();
    bench.write("s.jsonl", STUCK);
    let ran = bench.run(&["salvage", "s.jsonl"]).expect(0);
    assert!(ran.out.contains("a session log of Claude Code") && ran.out.contains("8 messages"), "{}", ran.out);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
    let markdown = bench.read("s.salvaged.md");
    for part in [
        "- title: `Fix the failing parser tests`",
        "- line 5: FILE001 glued-records",
        "## 1 · user\n\n```text\nTwo parser tests fail since this morning. Please fix them.\n```",
        "Tool call `Bash` (`toolu_01Run`):\n\n```json\n{\"command\":\"cargo test -p parser\"}\n```",
        "Result of `toolu_01Run`:\n\n```text\ntest strings::nested ... FAILED",
        "[synthetic]",
    ] {
        assert!(markdown.contains(part), "{part}\n{markdown}");
    }
    let body: serde_json::Value = serde_json::from_str(&bench.read("s.salvaged.json")).unwrap();
    assert_eq!(body["messages"][0]["role"], json!("user"));
    bench.run(&["check", "s.salvaged.json", "--provider", "anthropic"]);
    assert_eq!(bench.read("s.jsonl"), STUCK);
}

#[test]
fn records_on_a_destroyed_line_give_their_conversation() {
    let bench = Bench::new();
    let joined = (user("u1", None, "first") + &user("u2", Some("u1"), "second")).replace('\n', " ");
    bench.write("s.jsonl", format!("ssage\":{{\"role\":\"user\",\"content\":\"torn\"}}}} {joined}"));
    let ran = bench.run(&["salvage", "s.jsonl"]).expect(0);
    assert!(ran.out.contains("a session log of Claude Code") && ran.out.contains("2 messages"), "{}", ran.out);
    let body = bench.read("s.salvaged.json");
    assert!(body.contains("first") && body.contains("second"), "{body}");
    let markdown = bench.read("s.salvaged.md");
    let (_, appendix) = markdown.split_once("# Appendix").unwrap();
    assert!(appendix.contains("torn") && !appendix.contains("second"), "{markdown}");
}

#[test]
fn no_existing_file_is_replaced() {
    let bench = Bench::new();
    bench.write("s.jsonl", STUCK);
    bench.write("out/s.salvaged.md", "mine");
    let ran = bench.run(&["salvage", "s.jsonl", "--output", "out"]).expect(0);
    assert!(ran.out.contains("s.salvaged-2.md"), "{}", ran.out);
    assert_eq!(bench.names("out"), ["s.salvaged-2.md", "s.salvaged.json", "s.salvaged.md"]);
    assert_eq!(bench.read("out/s.salvaged.md"), "mine");
}

#[test]
fn records_that_are_not_sent_and_parts_of_records_are_in_the_appendix() {
    let bench = Bench::new();
    let file = user("u1", None, "first")
        + "{\"type\":\"mystery\",\"sessionId\":\"s-77\",\"secret\":42}\n"
        + &user("x1", Some("u1"), "another branch")
        + &user("u2", Some("u1"), "last words ```` with a fence")
        + "{\"type\":\"user\",\"uuid\":\"u3\",\"message\":{\"role\":\"user\",\"content\":\"torn wor";
    bench.write("s.jsonl", &file);
    bench.run(&["salvage", "s.jsonl", "--format", "markdown"]).expect(0);
    let markdown = bench.read("s.salvaged.md");
    let (conversation, appendix) = markdown.split_once("# Appendix").unwrap();
    assert!(conversation.contains("`````text\nlast words ```` with a fence\n`````"), "{markdown}");
    assert!(!conversation.contains("another branch"), "{markdown}");
    for part in ["\"secret\":42", "another branch", "torn wor", "Text (line 5, bytes "] {
        assert!(appendix.contains(part), "{part}\n{markdown}");
    }
    assert_eq!(bench.names("."), ["s.jsonl", "s.salvaged.md"]);
}

#[test]
fn a_torn_body_gives_its_complete_messages() {
    let bench = Bench::new();
    let torn = &CLEAN[..CLEAN.len() - 30];
    let ran = bench.run_on(torn, &["salvage", "-", "--output", "out"]).expect(0);
    assert!(ran.out.contains("3 messages"), "{}", ran.out);
    let body = bench.read("out/stdin.salvaged.json");
    assert!(body.contains("what is in main.rs?") && body.contains("[synthetic]"), "{body}");
    assert!(bench.read("out/stdin.salvaged.md").contains("tool_result"));
}

#[test]
fn a_file_of_an_unknown_format_gives_its_texts_and_values() {
    let bench = Bench::new();
    bench.write("notes.bin", b"hello there\n{\"a\":{\"b\":1}} and [1,2\n\0\0\0more\xff\n");
    let ran = bench.run(&["salvage", "notes.bin"]).expect(1);
    assert!(ran.out.contains("a file of an unknown format"), "{}", ran.out);
    assert!(ran.out.contains("4 B could not be read") || ran.out.contains("4 bytes could not be read"), "{}", ran.out);
    assert!(ran.out.contains("line 3, bytes 35 to 38"), "{}", ran.out);
    let markdown = bench.read("notes.salvaged.md");
    for part in ["hello there", "{\"a\":{\"b\":1}}", "and [1,2", "more", "Unreadable bytes (line 3"] {
        assert!(markdown.contains(part), "{part}\n{markdown}");
    }
    assert_eq!(bench.names("."), ["notes.bin", "notes.salvaged.md"]);
    let ran = bench.run(&["salvage", "notes.bin", "--format", "json"]).expect(2);
    assert!(ran.err.contains("no conversation was found"), "{}", ran.err);
    bench.write("empty", "");
    bench.run(&["salvage", "empty"]).expect(2);
    bench.run(&["salvage", "missing"]).expect(2);
}
