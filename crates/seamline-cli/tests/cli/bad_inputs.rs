//! Every bad input gets a clear error.

use crate::bench::{BROKEN, Bench, CLEAN};

/// The error that every unreadable input gets.
#[track_caller]
fn complains(bench: &Bench, name: &str, what: &str) {
    for command in ["check", "fix"] {
        let ran = bench.run(&[command, name]).expect(2);
        assert!(ran.err.starts_with(&format!("seamline: {name}: ")), "{}", ran.err);
        assert!(ran.err.contains(what), "{}", ran.err);
        assert_eq!(ran.out, "");
    }
}

#[test]
fn bytes_that_are_not_a_body_are_refused_with_their_place() {
    let bench = Bench::new();
    for (name, bytes, what) in [
        ("empty.json", &b""[..], "line 1 column 1"),
        ("text.json", b"hello", "line 1 column 1"),
        ("cut.json", b"{\n \"messages\": [", "line 2 column 15"),
        ("nul.json", b"{\"messages\":[\"a\0b\"]}", "line 1 column 16"),
        ("utf.json", b"{\n\"a\": \"\xff\"}", "line 2 column 7"),
        ("envelope.json", br#"{"messages": 3}"#, "`messages` is a number, not a list"),
        ("envelope.json", br#"{"messages": 3}"#, "\nhint: give an object with a list of messages"),
        ("lines.json", b"{\"role\":\"user\"}\n{\"role\":\"user\"}", "`jq -s . FILE`"),
        ("python.json", b"{'messages': []}", "\nhint: quote strings and keys with `\"`"),
        ("comma.json", br#"{"messages": [],}"#, "\nhint: look right before it"),
        ("escape.json", br#"{"messages": ["C:\dir"]}"#, "\nhint: write a backslash in a string as"),
        ("zero.json", br#"{"messages": [], "temperature": .5}"#, "\nhint: write `0.5`, not `.5`"),
        ("number.json", b"7", "not a request body"),
    ] {
        bench.write(name, bytes);
        complains(&bench, name, what);
    }
}

#[test]
fn a_name_cannot_control_the_terminal() {
    let bench = Bench::new();
    for args in
        [&["che\u{1b}[2J\u{9b}\u{202e}ck"][..], &["check", "--form\u{9b}at"], &["check", "--provider", "\u{2066}x"]]
    {
        let ran = bench.run(args).expect(2);
        let is_obeyed = |char: char| char.is_control() && char != '\n' || ('\u{2028}'..'\u{2070}').contains(&char);
        assert!(!ran.err.is_empty() && !ran.err.contains(is_obeyed), "{}", ran.err);
    }
    bench.write("a\u{9b}\u{202e}.json", CLEAN);
    for format in ["json", "sarif"] {
        let ran = bench.run(&["check", "a\u{9b}\u{202e}.json", "--format", format]).expect(0);
        assert!(!ran.out.contains(['\u{9b}', '\u{202e}']), "{}", ran.out);
    }
}

#[test]
fn a_provider_takes_bodies_of_every_dialect() {
    let bench = Bench::new();
    let call = r#"{"type":"function_call","call_id":"call_1","name":"x","arguments":"{}"}"#;
    let hook = r#"{"type":"message","role":"developer","content":"a hook ran"}"#;
    let output = r#"{"type":"function_call_output","call_id":"call_1","output":"ok"}"#;
    bench.write("responses.json", format!(r#"{{"input":[{call},{hook},{output}]}}"#));
    let checked = |provider: &str, code: i32| {
        let ran = bench.run(&["check", "responses.json", "--provider", provider, "--format", "json"]).expect(code);
        let document = ran.json()["documents"][0].clone();
        assert_eq!(document["dialect"], "openai_responses", "{document}");
        (
            document["provider"].as_str().unwrap().to_owned(),
            document["note"].is_string() && ran.err.contains("not known"),
        )
    };
    assert_eq!(checked("openai", 0), ("openai-responses".to_owned(), false));
    assert_eq!(checked("azure", 0), ("azure-responses".to_owned(), false));
    assert_eq!(checked("deepseek", 1), ("deepseek-responses".to_owned(), false));
    assert_eq!(checked("groq", 0), ("groq".to_owned(), true));
    assert_eq!(checked("llama.cpp", 0), ("llama-cpp".to_owned(), true));
    let ran = bench.run(&["check", "responses.json", "--provider", "deepseek"]).expect(1);
    assert!(ran.out.contains("No tool output found for tool call call_1."), "{ran:?}");
    bench.write("chat.json", r#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#);
    let ran = bench.run(&["check", "chat.json", "--provider", "anthropic"]).expect(1);
    assert!(ran.err.contains("the demands of `anthropic` in openai_chat are not known"), "{ran:?}");
    bench.run(&["check", "chat.json", "--provider", "anthropic", "--dialect", "anthropic_messages"]).expect(1);
}

#[test]
fn a_session_log_is_refused_with_a_hint() {
    let bench = Bench::new();
    bench.write("log.json", r#"[{"type":"user","message":{"role":"user","content":"hi"}}]"#);
    let ran = bench.run(&["fix", "log.json", "--unsafe"]).expect(2);
    assert!(ran.err.contains("looks like a session log"), "{ran:?}");
}

#[test]
fn deep_nesting_is_refused() {
    let bench = Bench::new();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    bench.write("deep.json", format!(r#"{{"messages":[{{"role":"user","content":"x","extra":{deep}}}]}}"#));
    bench.write("deeper.json", format!(r#"{{"messages":[{{"role":"user","content":{deep}}}]}}"#));
    bench.write("list.json", format!(r#"[{{"role":"user","content":"x"}},{deep}]"#));
    for name in ["deep.json", "deeper.json", "list.json"] {
        for format in ["text", "json", "sarif", "github"] {
            let ran = bench.run(&["check", name, "--format", format]);
            assert!(ran.code.is_some_and(|code| code < 2), "{ran:?}");
        }
        let ran = bench.run(&["fix", name, "--diff", "--unsafe"]);
        assert!(ran.code.is_some_and(|code| code < 2), "{ran:?}");
    }
}

#[test]
fn missing_paths_are_refused() {
    let bench = Bench::new();
    bench.write("file", CLEAN);
    std::fs::create_dir(bench.path("folder")).unwrap();
    complains(&bench, "missing.json", "no such file");
    complains(&bench, "file/below.json", "could not read");
    complains(&bench, "folder", "no `*.json` file");
}

#[test]
fn one_unreadable_body_does_not_stop_the_others() {
    let bench = Bench::new();
    bench.write("a.json", BROKEN);
    bench.write("b.json", "{");
    bench.write("c.json", BROKEN);
    bench.run(&["fix", "a.json", "b.json", "c.json", "missing.json"]).expect(2);
    bench.run(&["check", "a.json", "c.json"]).expect(0);
    assert_eq!(bench.read("b.json"), "{");
}

#[test]
fn a_body_without_read_permission_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    let path = bench.write("secret.json", CLEAN);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        // The superuser may read everything.
        bench.run(&["check", "secret.json"]).expect(0);
    } else {
        complains(&bench, "secret.json", "permission denied");
    }
}

#[test]
fn a_path_need_not_be_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let bench = Bench::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.json");
    bench.write(name, BROKEN);
    let mut command = bench.command(&["fix"]);
    let ran = crate::bench::Ran::of(command.arg(name)).expect(0);
    assert!(ran.out.contains("caf\u{fffd}.json: repaired"), "{}", ran.out);
    let mut command = bench.command(&["undo"]);
    crate::bench::Ran::of(command.arg(name)).expect(0);
    assert_eq!(bench.read(name), BROKEN);
}

#[test]
fn a_pipe_can_be_checked_but_not_repaired_in_place() {
    let bench = Bench::new();
    let ran = bench.run_on(BROKEN, &["fix", "/dev/stdin"]).expect(2);
    assert!(ran.err.contains("not a regular file"), "{}", ran.err);
    bench.run_on(BROKEN, &["check", "/dev/stdin"]).expect(1);
}

#[test]
fn a_body_with_signs_of_two_dialects_is_not_changed() {
    let bench = Bench::new();
    let body = r#"{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"f"}}]},{"role":"assistant","content":[{"type":"text","text":"hi"}]}]}"#;
    bench.write("body.json", body);
    for args in [&["check", "body.json"][..], &["fix", "body.json"], &["fix", "body.json", "--unsafe"]] {
        let ran = bench.run(args).expect(2);
        assert!(ran.err.contains("looks like openai_chat and like anthropic_messages"), "{ran:?}");
        assert!(ran.err.contains("a block of type `file`"), "{ran:?}");
        assert!(ran.err.contains("--dialect anthropic_messages"), "{ran:?}");
    }
    let ran = bench.run(&["convert", "body.json", "--to", "gemini"]).expect(2);
    assert!(ran.err.contains("--from anthropic_messages"), "{ran:?}");
    assert_eq!(bench.read("body.json"), body);
    let ran = bench.run(&["check", "body.json", "--dialect", "anthropic_messages"]);
    assert!(ran.code.is_some_and(|code| code < 2), "{ran:?}");
}
