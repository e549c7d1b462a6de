//! Bodies that are too long or too deep for most programs.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};

use crate::bench::{Bench, Ran};

/// A provider that ignores members it does not know.
const TOLERANT: &str = "anthropic-compatible";

/// An unanswered call, with something in the user's message.
const HEAD: &str = r#"{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"#;
const TAIL: &str = r#"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]},{"role":"user","content":"never mind"}]}"#;

/// Fails unless the command judged the body; unreadable does not count.
#[track_caller]
fn answers(ran: &Ran) {
    let shown: String = ran.err.chars().take(500).collect();
    assert!(matches!(ran.code, Some(0 | 1)), "{:?} {shown}", ran.code);
}

#[test]
fn a_body_of_two_hundred_megabytes_is_repaired() {
    const CHUNK: usize = 1 << 20;
    let bench = Bench::new();
    let mut file = BufWriter::new(File::create(bench.path("big.json")).unwrap());
    file.write_all(HEAD.as_bytes()).unwrap();
    file.write_all(b"\"").unwrap();
    let chunk = vec![b'x'; CHUNK];
    for _ in 0..200 {
        file.write_all(&chunk).unwrap();
    }
    file.write_all(b"\"").unwrap();
    file.write_all(TAIL.as_bytes()).unwrap();
    file.into_inner().unwrap();
    let ran = bench.run(&["check", "big.json"]).expect(1);
    assert!(ran.out.contains("`toolu_1`"), "{}", ran.out);
    assert!(ran.out.len() < CHUNK, "the whole text is shown");
    bench.run(&["fix", "big.json", "--output", "mended.json"]).expect(0);
    let (before, after) = (length(&bench, "big.json"), length(&bench, "mended.json"));
    assert!(after > before && after < before + 1000, "{before} {after}");
}

fn length(bench: &Bench, name: &str) -> u64 {
    std::fs::metadata(bench.path(name)).unwrap().len()
}

#[test]
fn a_million_messages_are_checked_and_repaired() {
    const PAIRS: usize = 499_999;
    let bench = Bench::new();
    let mut file = BufWriter::new(File::create(bench.path("long.json")).unwrap());
    file.write_all(HEAD.as_bytes()).unwrap();
    file.write_all(b"\"0\"").unwrap();
    for _ in 0..PAIRS {
        file.write_all(br#"},{"role":"assistant","content":"a"},{"role":"user","content":"u""#).unwrap();
    }
    file.write_all(TAIL.as_bytes()).unwrap();
    file.into_inner().unwrap();
    let json = bench.run(&["check", "long.json", "--format", "json"]).expect(1).json();
    assert_eq!(json["documents"][0]["messages"], 2 * PAIRS + 3);
    assert_eq!(json["documents"][0]["findings"].as_array().unwrap().len(), 1);
    bench.run(&["fix", "long.json", "--output", "mended.json"]).expect(0);
    bench.run(&["check", "mended.json"]).expect(0);
}

#[test]
fn a_hundred_thousand_findings_are_repaired() {
    const ORPHANS: usize = 100_000;
    let bench = Bench::new();
    let mut body = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"go"}"#.to_owned();
    for number in 0..ORPHANS {
        write!(body, r#",{{"role":"tool","tool_call_id":"call_{number}","content":"{number}"}}"#).unwrap();
    }
    bench.write("orphans.json", body + "]}");
    bench.run(&["fix", "orphans.json", "--output", "mended.json"]).expect(0);
    bench.run(&["check", "mended.json"]).expect(0);
}

#[test]
fn numbers_beyond_every_range_are_carried_unchanged() {
    let bench = Bench::new();
    let digits = "9".repeat(10_000);
    for number in ["1e999", "-1e999", "1E+99999999999", "0.1e-99999", "-0", "123456789012345678901234567890.5", &digits]
    {
        let body = format!(
            r#"{{"temperature":{number},{}"hi","at":{number}{},"seen":[{number}]}}"#,
            &HEAD[1..],
            TAIL.strip_suffix('}').unwrap().replace(r#""input":{}"#, &format!(r#""input":{{"n":{number}}}"#))
        );
        let name = "numbers.json";
        bench.write(name, &body);
        for format in ["text", "json", "sarif", "github"] {
            bench.run(&["check", name, "--format", format]).expect(1);
        }
        bench.run(&["fix", name, "--provider", TOLERANT]).expect(0);
        let mended = bench.read(name);
        assert_eq!(mended.matches(number).count(), body.matches(number).count(), "{number}");
        bench.run(&["undo", name]).expect(0);
        assert_eq!(bench.read(name), body);
    }
}

#[test]
fn a_number_in_place_of_a_message_text_or_id_is_reported() {
    let bench = Bench::new();
    for odd in ["1e999", "99999999999999999999999999"] {
        for body in [
            format!(r#"{{"messages":[{{"role":"user","content":"x"}},{odd}]}}"#),
            format!(r#"{{"messages":[{{"role":{odd},"content":{odd}}}]}}"#),
            format!(r#"{{"messages":[{{"role":"tool","tool_call_id":{odd},"content":{odd}}}]}}"#),
            format!(r#"{{"messages":[{{"role":"assistant","tool_calls":{odd}}}]}}"#),
            format!(r#"{{"messages":[{{"role":"user","content":[{{"type":"tool_result","content":{odd}}}]}}]}}"#),
        ] {
            answers(&bench.run_on(&body, &["check", "--format", "json"]));
            let ran = bench.run_on(&body, &["fix"]);
            answers(&ran);
            assert!(ran.out.contains(odd), "{body} became {}", ran.out);
        }
    }
}

#[test]
fn a_key_may_occur_a_hundred_thousand_times() {
    let bench = Bench::new();
    let many = |key: &str, value: &str| vec![format!(r#""{key}":{value}"#); 100_000].join(",");
    for (name, body) in [
        ("content.json", format!(r#"{{"messages":[{{"role":"user",{}}}]}}"#, many("content", "\"x\""))),
        ("id.json", format!(r#"{{"messages":[{{"role":"tool","content":"x",{}}}]}}"#, many("tool_call_id", "\"A\""))),
        ("messages.json", format!("{{{}}}", many("messages", r#"[{"role":"user","content":"x"}]"#))),
        ("stranger.json", format!(r#"{{{},"messages":[{{"role":"user","content":"x"}}]}}"#, many("x", "1"))),
    ] {
        bench.write(name, body);
        for command in [&["check", name][..], &["check", name, "--format", "json"], &["fix", name, "--unsafe"]] {
            answers(&bench.run(command));
        }
    }
}

#[test]
fn nesting_of_a_hundred_thousand_levels_is_refused() {
    let bench = Bench::new();
    let lists = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
    for deep in [&lists, &objects] {
        let body = format!(r#"{HEAD}"x","extra":{deep}{TAIL}"#);
        bench.write("beside.json", &body);
        bench.run(&["check", "beside.json"]).expect(1);
        bench.run(&["fix", "beside.json", "--provider", TOLERANT]).expect(0);
        assert!(bench.read("beside.json").contains(deep.as_str()), "the deep value is missing");
        bench.write("content.json", format!("{HEAD}{deep}{TAIL}"));
        bench.write(
            "input.json",
            format!(r#"{HEAD}"x"{}"#, TAIL.replace(r#""input":{}"#, &format!(r#""input":{deep}"#))),
        );
        bench.write("bare.json", deep);
        for name in ["content.json", "input.json"] {
            answers(&bench.run(&["check", name, "--format", "json"]));
            answers(&bench.run(&["fix", name, "--unsafe"]));
        }
        // A list of nested lists is a conversation of one irregular message; an object is not a conversation.
        assert!(bench.run(&["check", "bare.json"]).code.is_some_and(|code| code <= 2));
    }
    let open = "[".repeat(100_000);
    bench.run_on(open, &["check"]).expect(2);
}

#[test]
fn a_turn_of_a_hundred_thousand_calls_is_converted() {
    const CALLS: usize = 100_000;
    let bench = Bench::new();
    let listed = |item: fn(usize) -> String| (0..CALLS).map(item).collect::<Vec<_>>().join(",");
    let calls = listed(|number| {
        format!(r#"{{"id":"call_{number}","type":"function","function":{{"name":"f{number}","arguments":"{{}}"}}}}"#)
    });
    let results =
        listed(|number| format!(r#"{{"role":"tool","tool_call_id":"call_{number}","content":"result {number}"}}"#));
    let chat = format!(
        r#"{{"model":"gpt-4o","messages":[{{"role":"user","content":"go"}},{{"role":"assistant","content":null,"tool_calls":[{calls}]}},{results}]}}"#
    );
    let calls = listed(|number| {
        format!(r#"{{"type":"function_call","call_id":"call_{number}","name":"f{number}","arguments":"{{}}"}}"#)
    });
    let results = listed(|number| {
        format!(r#"{{"type":"function_call_output","call_id":"call_{number}","output":"result {number}"}}"#)
    });
    let responses = format!(r#"{{"model":"gpt-5","input":[{{"role":"user","content":"go"}},{calls},{results}]}}"#);
    let calls =
        listed(|number| format!(r#"{{"functionCall":{{"id":"call_{number}","name":"f{number}","args":{{}}}}}}"#));
    let results = listed(|number| {
        let number = CALLS - 1 - number;
        format!(
            r#"{{"functionResponse":{{"id":"call_{number}","name":"f{number}","response":{{"output":"result {number}"}}}}}}"#
        )
    });
    let gemini = format!(
        r#"{{"contents":[{{"role":"user","parts":[{{"text":"go"}}]}},{{"role":"model","parts":[{calls}]}},{{"role":"user","parts":[{results}]}}]}}"#
    );
    for (body, to) in [(chat, "anthropic"), (responses, "openai"), (gemini, "anthropic")] {
        bench.write("turn.json", body);
        bench.run(&["convert", "turn.json", "--to", to, "--output", "converted.json"]).expect(0);
        assert_eq!(bench.read("converted.json").matches("\"result ").count(), CALLS, "{to}");
    }
}
