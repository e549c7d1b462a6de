//! `seamline assemble`

use crate::bench::Bench;

/// A complete response with one call.
const WHOLE: &str = "event: message_start\n\
    data: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}}\n\n\
    event: content_block_start\n\
    data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"read\",\"input\":{}}}\n\n\
    event: content_block_delta\n\
    data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"path\\\":\\\"main.rs\\\"}\"}}\n\n\
    event: content_block_stop\n\
    data: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
    event: message_delta\n\
    data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n\
    event: message_stop\n\
    data: {\"type\":\"message_stop\"}\n\n";

/// A call with input at its start and other pieces after it.
const TWO_INPUTS: &str = "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"glob\",\"input\":{\"pattern\":\"*.c\"}}}\n\n\
    data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\",\\\"path\\\":\\\"src\\\"}\"}}\n\n\
    data: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
    data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n\
    data: {\"type\":\"message_stop\"}\n\n";

const OVERLOADED: &str = "event: error\n\
    data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";

#[test]
fn a_complete_response_is_shown_to_people_and_programs() {
    let bench = Bench::new();
    let ran = bench.run_on(WHOLE, &["assemble"]).expect(0);
    assert!(ran.out.starts_with("✓ standard input: complete, the provider finished the response\n"), "{}", ran.out);
    assert!(ran.out.contains("  call         read  toolu_1\n"), "{}", ran.out);
    assert!(ran.out.contains("\n               may run\n"), "{}", ran.out);
    bench.write("whole.sse", WHOLE);
    let told = bench.run(&["assemble", "whole.sse", "--format", "json"]).expect(0).json();
    assert_eq!((&told["version"], &told["path"]), (&1.into(), &"whole.sse".into()));
    assert_eq!((&told["ending"], &told["cut"]), (&"complete".into(), &serde_json::Value::Null));
    assert_eq!((&told["stop_reason"], &told["dialect"]), (&"tool_use".into(), &"anthropic_messages".into()));
    let call = serde_json::json!({
        "id": "toolu_1", "name": "read", "arguments": "{\"path\":\"main.rs\"}", "free": false, "executable": true,
        "why_not": null
    });
    assert_eq!(told["calls"], serde_json::json!([call]));
    assert_eq!(told["message"]["content"][0]["input"], serde_json::json!({"path": "main.rs"}));
    let kept = serde_json::json!([{"role": "assistant", "content": told["message"]["content"]}]);
    assert_eq!(told["messages"], kept, "the messages of a history, without members that only responses have");
    assert_eq!((&told["findings"], &told["error"]), (&serde_json::json!([]), &serde_json::Value::Null));
}

#[test]
fn a_response_cut_anywhere_is_not_complete() {
    let bench = Bench::new();
    let end = WHOLE.find("event: message_stop").unwrap();
    for cut in [40, 300, end, end + "event: message_stop".len()] {
        let told = bench.run_on(&WHOLE[..cut], &["assemble", "--dialect", "anthropic_messages", "--format", "json"]);
        let told = told.expect(1).json();
        assert_eq!((&told["ending"], &told["cut"]), (&"truncated".into(), &"stream".into()));
        let calls = told["calls"].as_array().unwrap();
        assert!(calls.iter().all(|call| call["executable"] == false), "{told}");
    }
}

#[test]
fn the_bundled_example_shows_a_call_that_must_not_be_run() {
    let bench = Bench::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cut-stream.sse");
    bench.write("cut-stream.sse", std::fs::read(example).unwrap());
    let ran = bench.run(&["assemble", "cut-stream.sse"]).expect(1);
    assert!(ran.out.starts_with("✗ cut-stream.sse: truncated,\n  the stream ended before"), "{}", ran.out);
    assert!(ran.out.contains("{\"command\": \"rm -rf target\n"), "{}", ran.out);
    assert!(ran.out.contains("2 calls, none may run\n"), "{}", ran.out);
    assert!(!ran.out.contains("  may run"), "{}", ran.out);
    assert!(ran.out.contains("STREAM006"), "{}", ran.out);
}

#[test]
fn an_error_inside_a_stream_is_shown_with_its_advice() {
    let bench = Bench::new();
    let stream = [&WHOLE[..WHOLE.find("event: content_block_stop").unwrap()], OVERLOADED].concat();
    let told = bench.run_on(&stream, &["assemble", "--format", "json"]).expect(1).json();
    assert_eq!((&told["ending"], &told["calls"][0]["executable"]), (&"failed".into(), &false.into()));
    assert_eq!((&told["error"]["class"], &told["error"]["text"]), (&"transient".into(), &"Overloaded".into()));
    let ran = bench.run_on(&stream, &["assemble"]).expect(1);
    assert!(ran.out.contains("\n  error        transient · overloaded\n"), "{}", ran.out);
    assert!(ran.out.contains("\n  what to do   "), "{}", ran.out);
}

#[test]
fn the_source_of_arguments_can_be_chosen() {
    let bench = Bench::new();
    let run = |source| {
        let args = ["assemble", "--arg-source", source, "--format", "json"];
        bench.run_on(TWO_INPUTS, &args).expect(1).json()
    };
    for (source, arguments, executable) in [
        ("delta_wins", ",\"path\":\"src\"}", false),
        ("merge_heuristic", "{\"pattern\":\"*.c\",\"path\":\"src\"}", true),
        ("parsable_wins", "{\"pattern\":\"*.c\"}", true),
    ] {
        let told = run(source);
        assert_eq!(told["calls"][0]["arguments"], arguments, "{source}");
        assert_eq!(told["calls"][0]["executable"], executable, "{source}");
        assert_eq!(told["findings"][0]["code"], "STREAM005", "{source}");
        assert_eq!(told["findings"][0]["call_id"], "toolu_1", "{source}");
    }
}

#[test]
fn an_input_that_is_not_a_response_is_refused() {
    let bench = Bench::new();
    bench.write("whole.sse", WHOLE);
    bench.write("page.html", "<html>Bad gateway</html>");
    for args in [
        &["assemble", "missing.sse"][..],
        &["assemble", "page.html"],
        &["assemble", "whole.sse", "--dialect", "morse"],
        &["assemble", "whole.sse", "--provider", "unknown"],
        &["assemble", "whole.sse", "--framing", "xml"],
        &["assemble", "whole.sse", "page.html"],
    ] {
        let ran = bench.run(args).expect(2);
        assert!(ran.out.is_empty() && !ran.err.is_empty(), "{ran:?}");
    }
    // A provider serves several dialects.
    bench.run(&["assemble", "whole.sse", "--provider", "openai", "--dialect", "anthropic_messages"]).expect(0);
    let ran = bench.run(&["assemble", "page.html"]).expect(2);
    assert!(ran.err.starts_with("seamline: page.html: cannot detect the dialect of the stream"), "{}", ran.err);
    assert!(ran.err.contains("`--dialect`"), "{}", ran.err);
}

#[test]
fn control_characters_become_visible() {
    let bench = Bench::new();
    let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"\\u001b[31mred\\u0007\"}}]}\n\n";
    let ran = bench.run_on(stream, &["assemble"]).expect(1);
    assert!(!ran.out.contains('\u{1b}') && !ran.out.contains('\u{7}'), "{:?}", ran.out);
    assert!(ran.out.contains("red"), "{}", ran.out);
}

#[test]
fn every_flaw_of_a_stream_is_explained_and_listed() {
    let bench = Bench::new();
    let by_code = bench.run(&["explain", "STREAM005"]).expect(0);
    assert_eq!(by_code, bench.run(&["explain", "two-inputs"]));
    assert!(by_code.out.starts_with("# STREAM005 `two-inputs`\n\nstream · warning · fix: none\n"), "{}", by_code.out);
    let ran = bench.run(&["explain", "twoinputs"]).expect(2);
    assert!(ran.err.ends_with("hint: did you mean STREAM005 (two-inputs)?\n"), "{}", ran.err);
    let listed = bench.run(&["rules", "--format", "json"]).expect(0).json();
    let streams = listed["rules"].as_array().unwrap().iter().filter(|rule| rule["group"] == "stream").count();
    assert_eq!(streams, seamline::stream::FLAWS.len());
}

/// A response in Anthropic's dialect with these blocks and this stop reason.
fn ended(blocks: &[serde_json::Value], word: &str) -> String {
    let mut events = vec![serde_json::json!({"type": "message_start", "message": {"id": "msg_1", "type": "message",
        "role": "assistant", "content": []}})];
    for (index, block) in blocks.iter().enumerate() {
        events.push(serde_json::json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.push(serde_json::json!({"type": "content_block_stop", "index": index}));
    }
    events.push(serde_json::json!({"type": "message_delta", "delta": {"stop_reason": word}}));
    events.push(serde_json::json!({"type": "message_stop"}));
    let frames: Vec<_> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    frames.concat()
}

#[test]
fn every_ending_has_its_advice() {
    let bench = Bench::new();
    let text = serde_json::json!({"type": "text", "text": "Let me"});
    let call = serde_json::json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}});
    for (blocks, word, advice) in [
        (vec![text.clone()], "max_tokens", "keep it, and raise the limit or let the model continue"),
        (vec![text.clone()], "model_context_window_exceeded", "shorten the conversation"),
        (vec![text.clone()], "pause_turn", "send the response back unchanged"),
        (vec![text.clone(), call.clone()], "max_tokens", "keep it without the tool call that was cut"),
        (vec![text.clone(), call.clone()], "max_tokens", "tell the model that the last one was cut off"),
        (vec![call], "model_context_window_exceeded", "shorten the conversation"),
        (vec![text.clone()], "refusal", "the same request is filtered again"),
    ] {
        let ran = bench.run_on(ended(&blocks, word), &["assemble"]);
        let (_, step) = ran.out.split_once("  what to do   ").unwrap_or_default();
        let step = step.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(step.contains(advice), "{word}: {}", ran.out);
    }
    // Half a response is dropped, as the page about guards says.
    let cut = ended(&[text], "end_turn");
    let ran = bench.run_on(&cut[..cut.find("data: {\"delta\"").unwrap()], &["assemble"]).expect(1);
    assert!(ran.out.contains("  what to do   drop it and send the request again\n"), "{}", ran.out);
    let blocked = r#"data: {"candidates":[{"content":{"parts":[{"text":"So"}]},"finishReason":"RECITATION"}]}"#;
    let ran = bench.run_on(format!("{blocked}\n\n"), &["assemble"]).expect(1);
    let said = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("a retry may pass") && !said.contains("filtered again"), "{said}");
}

#[test]
fn the_messages_of_a_response_can_be_appended_to_a_session_unchanged() {
    let bench = Bench::new();
    let text = serde_json::json!({"type": "text", "text": "Let me"});
    let call = serde_json::json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}});
    bench.session(&["new", "s-1"]).expect(0);
    let told = bench.run_on(ended(&[text, call], "max_tokens"), &["assemble", "--format", "json"]).expect(1).json();
    assert_eq!(told["messages"].as_array().unwrap().len(), 1);
    assert!(!told["messages"].to_string().contains("toolu_1"), "half a call is not kept: {told}");
    bench.append("s-1", &told["messages"].to_string()).expect(0);
}

#[test]
fn the_model_reads_what_was_wrong_with_a_malformed_call() {
    let broken = WHOLE.replace("{\\\"path\\\":\\\"main.rs\\\"}", "{\\\"path\\\": main.rs}");
    for policy in ["lossless", "minimal", "strict", "opal", "clawos", "llxprt", "kilroy", "libr-agent"] {
        let bench = Bench::new();
        bench.session(&["new", "s-1", "--policy", policy]).expect(0);
        bench.append("s-1", r#"{"role":"user","content":"go"}"#).expect(0);
        let told = bench.run_on(&broken, &["assemble", "--policy", policy, "--format", "json"]).expect(1).json();
        assert_eq!(told["messages"][1]["content"][0]["tool_use_id"], "toolu_1", "{policy}: {told}");
        bench.append("s-1", &told["messages"].to_string()).expect(0);
        let request = bench.session(&["request", "s-1"]).out;
        assert!(request.contains("did not run: the call is incomplete, or its arguments"), "{policy}: {request}");
        assert!(!request.contains("Whether it ran is unknown"), "{policy}: {request}");
    }
}

#[test]
fn text_with_a_layout_keeps_its_layout() {
    let bench = Bench::new();
    let code = serde_json::json!({"type": "text", "text": "  fn a() {\n      b(1,   2)\n\n  }\n"});
    let ran = bench.run_on(ended(&[code], "end_turn"), &["assemble"]).expect(0);
    let expected = "  text           fn a() {\n                     b(1,   2)\n                 }\n";
    assert!(ran.out.contains(expected), "{}", ran.out);
    let input = "{\\n  \\\"a\\\":  1\\n}";
    let stream = WHOLE.replace("{\\\"path\\\":\\\"main.rs\\\"}", input);
    let ran = bench.run_on(&stream, &["assemble"]).expect(0);
    let expected = "\n               {\n                 \"a\":  1\n               }\n               may run\n";
    assert!(ran.out.contains(expected), "{}", ran.out);
}

#[test]
fn a_shortened_text_says_where_to_find_all_of_it() {
    let bench = Bench::new();
    let text = serde_json::json!({"type": "text", "text": "line\n".repeat(9)});
    let ran = bench.run_on(ended(&[text], "end_turn"), &["assemble"]).expect(0);
    assert_eq!(ran.out.matches("line\n").count(), 6);
    assert!(ran.out.contains("… (45 characters; `--format json` shows all of it)\n"), "{}", ran.out);
}

#[test]
fn equal_findings_are_one_line() {
    let bench = Bench::new();
    let stream =
        ["data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n", &"data: {\"choi\n\n".repeat(6)].concat();
    let ran = bench.run_on(&stream, &["assemble"]).expect(1);
    assert_eq!(ran.out.matches("STREAM001  frame-not-json").count(), 1, "{}", ran.out);
    assert!(ran.on_one_line().contains(", 6 times, first in frame 2 "), "{}", ran.out);
    let ran = bench.run_on(stream.split_inclusive("\n\n").take(2).collect::<String>(), &["assemble"]).expect(1);
    assert!(ran.out.contains("was skipped, in frame 2\n"), "{}", ran.out);
    let told = bench.run_on(&stream, &["assemble", "--format", "json"]).expect(1).json();
    assert_eq!(told["findings"].as_array().map(Vec::len), Some(6));
}

#[test]
fn no_line_is_wider_than_the_screen() {
    let bench = Bench::new();
    let name = format!("{}.sse", "a".repeat(60));
    bench.write(&name, &WHOLE[..WHOLE.find("event: message_stop").unwrap()]);
    let ran = bench.run(&["assemble", &name]).expect(1);
    let expected = format!("✗ {name}: truncated,\n  the stream ended before the provider finished the response\n");
    assert!(ran.out.starts_with(&expected), "{}", ran.out);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
}

#[test]
fn an_error_about_the_conversation_names_the_command_that_repairs_it() {
    let bench = Bench::new();
    let said = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1";
    let error = serde_json::json!({"type": "error", "error": {"type": "invalid_request_error", "message": said}});
    let ran = bench.run_on(error.to_string(), &["assemble"]).expect(1);
    assert!(
        ran.on_one_line().contains("see seamline check request.json, then seamline fix --diff request.json"),
        "{}",
        ran.out
    );
}

#[cfg(unix)]
#[test]
fn reading_stops_once_the_ending_is_final() {
    let bench = Bench::new();
    let told = bench.run(&["assemble", "/dev/zero"]).expect(2);
    assert!(told.err.contains("/dev/zero"), "{}", told.err);
    let told = bench.run(&["assemble", "/dev/zero", "--dialect", "bedrock_converse"]).expect(1);
    assert!(told.out.contains("the checksum of a message is wrong"), "{}", told.out);
}
