//! Inputs of another kind than the command reads.

use crate::bench::{BROKEN, Bench};

const CHUNK: &str = r#"{"id":"c1","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}"#;

fn stream() -> String {
    format!("data: {CHUNK}\n\ndata: [DONE]\n\n")
}

#[track_caller]
fn refused(bench: &Bench, args: &[&str], message: &str, hint: &str) {
    let ran = bench.run(args).expect(2);
    assert_eq!(ran.out, "");
    assert!(ran.err.contains(message), "{}", ran.err);
    assert!(ran.err.lines().any(|line| line.starts_with("hint: ") && line.contains(hint)), "{}", ran.err);
}

#[test]
fn an_input_that_is_not_a_response_is_named_under_every_dialect() {
    let bench = Bench::new();
    let utf16: Vec<u8> = stream().encode_utf16().flat_map(u16::to_le_bytes).collect();
    let in_log = stream().replace("data: ", "12:00 DEBUG data: ");
    let table = format!("\tmessage\t{CHUNK}\t12:00\n");
    let har = serde_json::json!({"log": {"entries": [{"response": {"content": {"text": stream()}}}]}}).to_string();
    let text = serde_json::json!(stream()).to_string();
    let messages = r#"[{"role":"user","content":"hi"},{"type":"message","role":"assistant","content":"ho"}]"#;
    for (bytes, message, hint) in [
        (&b""[..], "the file is empty", "the body of a response"),
        (b" \n\n", "the file is empty", "the body of a response"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00", "compressed with gzip", "gunzip"),
        (&utf16, "written in UTF-16", "iconv -f UTF-16"),
        (b"\x89PNG\r\n\x1a\n", "not text", "the body of a response"),
        (BROKEN.as_bytes(), "a request body", "`seamline check`"),
        (messages.as_bytes(), "a request body", "`seamline check`"),
        (har.as_bytes(), "a HAR file", "jq -r"),
        (text.as_bytes(), "one JSON string", "jq -r ."),
        (in_log.as_bytes(), "every line of the stream has a prefix", "sed "),
        (table.as_bytes(), "in a table", "grep -o"),
    ] {
        bench.write("input", bytes);
        refused(&bench, &["assemble", "input"], message, hint);
        refused(&bench, &["assemble", "input", "--dialect", "openai_chat"], message, hint);
        refused(&bench, &["assemble", "input", "--provider", "openai"], message, hint);
    }
    bench.write("input", r#"{"weather":"fine"}"#);
    refused(&bench, &["assemble", "input"], "not a response of a provider", "jq .response");
}

#[test]
fn headers_before_a_response_are_skipped() {
    let bench = Bench::new();
    let ran = bench.run_on(format!("HTTP/2 200 \r\na: b\r\n\r\n[{CHUNK}]"), &["assemble"]).expect(0);
    assert_eq!(ran.err, "");
    let error = r#"{"type":"error","error":{"type":"rate_limit_error","message":"Too many requests"}}"#;
    let response = format!("HTTP/2 429 \r\nretry-after: 17\r\n\r\n{error}");
    let ran = bench.run_on(&response, &["assemble"]).expect(1);
    assert_eq!(ran.err, "seamline: standard input: the response has status 429\n");
    assert!(ran.out.contains("\n  wait         17 s, as the provider asks\n"), "{}", ran.out);
    let told = bench.run_on(&response, &["assemble", "--format", "json"]).expect(1).json();
    assert_eq!(told["error"]["retry_after_ms"], 17_000);
    let response = "HTTP/1.1 429 Too Many\r\n\r\n{\"error\":{\"message\":\"slow down\"}}";
    let told = bench.run_on(response, &["assemble", "--dialect", "openai_chat", "--format", "json"]).expect(1).json();
    assert_eq!(told["error"]["class"], "transient", "the status decides, because the text does not");
}

#[test]
fn assemble_and_explain_read_a_response_the_same_way() {
    let bench = Bench::new();
    let quota = r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    let gone = r#"{"error":{"message":"gone","type":"not_found_error"}}"#;
    for (head, body, class, name, wait) in [
        ("HTTP/1.1 429 X\r\nretry-after: 9\r\n", quota, "fatal", "out-of-quota", None),
        ("HTTP/1.1 404 X\r\nx-should-retry: true\r\nretry-after: 30\r\n", gone, "fatal", "not-found", Some(30_000)),
    ] {
        let response = format!("{head}\r\n{body}");
        let assembled =
            bench.run_on(&response, &["assemble", "--format", "json", "--dialect", "openai_chat"]).expect(1);
        let explained = bench.run_on(&response, &["explain", "--error", "-", "--format", "json"]).expect(0);
        let (assembled, explained) = (assembled.json()["error"].clone(), explained.json());
        assert_eq!((&assembled["name"], &explained["known"]["name"]), (&name.into(), &name.into()));
        for told in [&assembled, &explained] {
            assert_eq!((&told["class"], told["retry_after_ms"].as_u64()), (&class.into(), wait), "{told}");
        }
    }
}

#[test]
fn an_invalid_byte_spoils_one_frame_of_a_stream() {
    let bench = Bench::new();
    let mut bytes = b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n\n".to_vec();
    bytes.extend_from_slice(stream().as_ref());
    let told = bench.run_on(&bytes, &["assemble", "--format", "json"]).expect(1).json();
    assert_eq!((&told["ending"], &told["findings"][0]["name"]), (&"complete".into(), &"frame-not-json".into()));
}

#[test]
fn a_stream_in_another_dialect_than_the_named_one_is_refused() {
    let bench = Bench::new();
    bench.write("chat.sse", stream());
    refused(
        &bench,
        &["assemble", "chat.sse", "--dialect", "openai_responses"],
        "this looks like an openai_chat stream, not openai_responses",
        "omit `--dialect`",
    );
    let told = bench.run(&["assemble", "chat.sse", "--provider", "anthropic", "--format", "json"]).expect(0).json();
    assert_eq!(told["dialect"], "openai_chat");
}

#[test]
fn a_folder_is_not_a_response() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("empty")).unwrap();
    std::fs::create_dir(bench.path("full")).unwrap();
    std::fs::write(bench.path("full/a.json"), CHUNK).unwrap();
    for folder in ["empty", "full"] {
        refused(&bench, &["assemble", folder], "takes one response", "name a file, not a folder");
    }
}

#[test]
fn an_input_that_is_not_a_request_body_is_named_with_the_command_that_reads_it() {
    let bench = Bench::new();
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let message = r#"{"type":"message","role":"assistant","content":[],"stop_reason":"end_turn"}"#;
    let stream = stream();
    for (bytes, what, hint) in [
        (&b"\x1f\x8b\x08\x00\x00\x00\x00\x00"[..], "compressed with gzip", "gunzip"),
        (stream.as_bytes(), "a streamed response", "`seamline assemble FILE`"),
        (CHUNK.as_bytes(), "a response", "`seamline assemble FILE`"),
        (message.as_bytes(), "a response", "`seamline assemble FILE`"),
        (error.as_bytes(), "a provider's error", "`seamline explain --error - < FILE`"),
    ] {
        bench.write("input.json", bytes);
        for command in ["check", "fix"] {
            refused(&bench, &[command, "input.json"], what, hint);
        }
        refused(&bench, &["convert", "input.json", "--to", "anthropic"], what, hint);
    }
}

#[test]
fn an_error_text_in_place_of_a_rule_gets_a_hint() {
    let bench = Bench::new();
    bench.write("error.txt", "Overloaded");
    refused(&bench, &["explain", "messages.1: tool_use ids were found"], "no rule", "--error TEXT");
    refused(&bench, &["explain", "error.txt"], "no rule", "`seamline explain --error - < error.txt`");
}

#[test]
fn a_response_without_a_body_is_classified_by_its_status() {
    let bench = Bench::new();
    let response = "HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 500 X\r\n\r\n";
    let told = bench.run_on(response, &["assemble", "--provider", "openai", "--format", "json"]).expect(1).json();
    assert_eq!((&told["ending"], &told["error"]["class"]), (&"failed".into(), &"transient".into()));
    let ran = bench.run_on("HTTP/1.1 200 OK\r\n\r\n", &["assemble", "--provider", "openai"]).expect(2);
    assert!(ran.err.contains("the file is empty"), "{}", ran.err);
}

#[test]
fn a_page_or_a_sentence_in_place_of_a_response_is_classified_by_its_status() {
    let bench = Bench::new();
    for (response, class) in [
        ("HTTP/1.1 401 Unauthorized\r\nContent-Type: text/plain\r\n\r\nUnauthorized", "fatal"),
        ("HTTP/1.1 502 Bad Gateway\r\n\r\n<html><body>502: Bad Gateway</body></html>", "transient"),
    ] {
        let told = bench.run_on(response, &["assemble", "--provider", "openai", "--format", "json"]).expect(1).json();
        assert_eq!((&told["ending"], &told["error"]["class"]), (&"failed".into(), &class.into()), "{response}");
    }
}
