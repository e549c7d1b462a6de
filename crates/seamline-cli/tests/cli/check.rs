//! `seamline check`

use std::process::Stdio;

use crate::bench::{BROKEN, Bench, CAUTIOUS, CLEAN};

#[test]
fn the_exit_status_depends_on_the_findings() {
    let bench = Bench::new();
    bench.write("broken.json", BROKEN);
    bench.write("clean.json", CLEAN);
    bench.run(&["check", "clean.json"]).expect(0);
    bench.run(&["check", "broken.json"]).expect(1);
    bench.run(&["check", "clean.json", "broken.json"]).expect(1);
    bench.run(&["check", "missing.json"]).expect(2);
}

#[test]
fn calls_that_may_still_be_answered_are_a_warning() {
    let bench = Bench::new();
    let open = r#"{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]}]}"#;
    bench.write("open.json", open);
    let ran = bench.run(&["check", "--policy", "clawos", "--format", "json", "open.json"]).expect(1);
    assert_eq!(ran.json()["documents"][0]["findings"][0]["severity"], "warning");
    bench.run(&["check", "--policy", "clawos", "open.json"]).expect(1);
    bench.run(&["fix", "--policy", "clawos", "--diff", "open.json"]).expect(1);
}

#[test]
fn a_clean_body_gives_one_line() {
    let bench = Bench::new();
    bench.write("clean.json", CLEAN);
    let ran = bench.run(&["check", "clean.json"]).expect(0);
    assert_eq!(ran.out, "✓ clean.json: nothing wrong (3 messages, 1 call; anthropic_messages for\n  anthropic)\n");
    assert_eq!(ran.err, "");
}

#[test]
fn a_finding_is_shown_with_its_place_and_the_pair() {
    let bench = Bench::new();
    bench.write("broken.json", BROKEN);
    let ran = bench.run(&["check", "broken.json"]).expect(1);
    for piece in [
        "error[PAIR001] unanswered-call: no result answers tool call `toolu_1`\n",
        "╭─ broken.json:1:137 · message 1 · block 0 · /messages/1/content/0\n",
        "╭──▸ 1 assistant  call   read toolu_1 {\"path\":\"main.rs\"}\n",
        "╰──✗",
        "the provider would return: messages.1: `tool_use` ids were found",
        "╰ fix: answer tool call `toolu_1` with a synthetic result (safe)\n",
        "✗ 1 error; it can be fixed with `seamline fix broken.json`\n",
    ] {
        assert!(ran.out.contains(piece), "{piece}\n{}", ran.out);
    }
    assert!(!ran.out.contains('\u{1b}'), "styles reach terminals only");
}

#[test]
fn standard_input_is_the_default() {
    let bench = Bench::new();
    for args in [&["check", "--format", "json"][..], &["check", "-", "--format", "json"]] {
        let ran = bench.run_on(BROKEN, args).expect(1);
        assert_eq!(ran.json()["documents"][0]["path"], "-");
    }
}

#[test]
fn dialect_provider_and_policy_can_be_named() {
    let bench = Bench::new();
    bench.write("broken.json", BROKEN);
    bench.write("mine.toml", "preset = \"minimal\"\nunanswered_call = \"synthesize\"\n");
    let ran = bench.run(&["check", "broken.json", "--provider", "anthropic", "--format", "json"]).expect(1);
    assert_eq!(ran.json()["documents"][0]["provider"], "anthropic");
    let fix = |policy: &str| {
        let ran = bench.run(&["check", "broken.json", "--policy", policy, "--format", "json"]).expect(1);
        ran.json()["documents"][0]["findings"][0]["fix"]["safety"].clone()
    };
    assert_eq!(fix("lossless"), "safe");
    assert_eq!(fix("minimal"), "unsafe");
    assert_eq!(fix("mine.toml"), "safe");
}

#[test]
fn unknown_names_are_reported_once_with_the_known_ones() {
    let bench = Bench::new();
    bench.write("broken.json", BROKEN);
    bench.write("bad.toml", "unanswered_call = \"guess\"\n");
    for (option, value, hint) in [
        ("--provider", "unknown", "`seamline providers` lists them all"),
        ("--provider", "antropic", "did you mean `anthropic`?"),
        ("--dialect", "openai_chats", "did you mean `openai_chat`?"),
        ("--policy", "loseless", "did you mean `lossless`?"),
        ("--dialect", "klingon", "anthropic_messages"),
        ("--policy", "nothing", "lossless"),
        ("--policy", "bad.toml", "remove_call"),
    ] {
        let ran = bench.run(&["check", "broken.json", "broken.json", option, value]).expect(2);
        assert_eq!(ran.out, "");
        assert!(ran.err.contains(hint) && ran.err.contains("\nhint: "), "{}", ran.err);
    }
}

#[test]
fn a_wrong_policy_file_is_reported_with_its_line_the_nearest_name_and_the_allowed_values() {
    let bench = Bench::new();
    bench.write("clean.json", CLEAN);
    for (text, told) in [
        (
            "preset = \"opal\"\n\norphan_results = \"remove\"\n",
            "line 3: the policy has no knob `orphan_results`; did you mean `orphan_result`? the knobs are `safety`",
        ),
        (
            "[guard]\nretrys_max = 3\n",
            "line 2: `[guard]` has no knob `retrys_max`; did you mean `retries_max`? the knobs are `retries_max`",
        ),
        (
            "[gaurd]\nretries_max = 3\n",
            "line 1: the policy has no section `[gaurd]`; did you mean `guard`? the sections are `repair`, `session`",
        ),
        (
            "[session]\npersist_repairs = \"al\"\n",
            "line 2: `persist_repairs` does not take `al`; did you mean `all`? it takes `\"never\"`, `\"real_moves_only\"`, `\"all\"`",
        ),
        ("retries_max = \"two\"\n", "line 1: `retries_max` does not take `two`; it takes a whole number"),
        (
            "on_invalid = \"repair\"\nauto_repair = false\n",
            "line 2: `auto_repair = false` contradicts `on_invalid = \"repair\"` in line 1: both set `on_invalid`; keep one of the two",
        ),
        ("[provider.gork]\nretries_max = 3\n", "line 1: no provider is called `gork`; "),
        ("retries_max = \n", "not a policy: TOML parse error at line 1, column 15"),
    ] {
        bench.write("mine.toml", text);
        let ran = bench.run(&["check", "clean.json", "--policy", "mine.toml"]).expect(2);
        assert_eq!(ran.out, "");
        assert!(ran.err.starts_with("seamline: policy `mine.toml`"), "{}", ran.err);
        assert!(ran.err.contains(told) && ran.err.contains("\nhint: `seamline policies lossless`"), "{}", ran.err);
    }
}

#[test]
fn many_bodies_are_reported_in_the_order_given() {
    let bench = Bench::new();
    let names: Vec<_> = (0..40).map(|index| format!("{:02}.json", (index * 7) % 40)).collect();
    for (index, name) in names.iter().enumerate() {
        bench.write(name, if index % 3 == 0 { BROKEN } else { CLEAN });
    }
    let mut args = vec!["check", "--format", "json"];
    args.extend(names.iter().map(String::as_str));
    let ran = bench.run(&args).expect(1);
    let told: Vec<_> = ran.json()["documents"].as_array().unwrap().iter().map(|one| one["path"].clone()).collect();
    assert_eq!(told, names);
    args[2] = "text";
    let ran = bench.run(&args).expect(1);
    assert!(ran.out.ends_with("✗ 14 errors in 14 of 40 bodies; all can be fixed with `seamline fix`\n"), "{}", ran.out);
}

#[test]
fn a_folder_means_the_bodies_below_it() {
    let bench = Bench::new();
    bench.write("logs/b.json", CLEAN);
    bench.write("logs/a/c.json", BROKEN);
    bench.write("logs/a/notes.txt", "not a body");
    let ran = bench.run(&["check", "logs", "logs/b.json", "--format", "json"]).expect(1);
    let documents = ran.json()["documents"].as_array().unwrap().clone();
    let paths: Vec<_> = documents.iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["logs/a/c.json", "logs/b.json"]);
    assert_eq!(ran.err, "seamline: logs: 2 files\n");
}

#[test]
fn a_terminal_is_not_flooded() {
    let bench = Bench::new();
    let mut body = String::from(r#"{"model":"claude-sonnet-4-5","max_tokens":64,"messages":["#);
    for index in 0..100 {
        body += r#"{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"t"#;
        body += &index.to_string();
        body += r#"","name":"read","input":{}}]},"#;
    }
    body += r#"{"role":"user","content":"x"}]}"#;
    bench.write("long.json", &body);
    let ran = bench.run(&["check", "long.json"]).expect(1);
    assert_eq!(ran.out.matches("error[PAIR001]").count(), 50);
    assert!(ran.out.contains("… and 50 more: 50 PAIR001 unanswered-call"), "{}", ran.out);
    let ran = bench.run(&["check", "long.json", "--all"]).expect(1);
    assert_eq!(ran.out.matches("error[PAIR001]").count(), 100);
}

#[test]
fn control_characters_in_messages_do_not_reach_the_terminal() {
    let bench = Bench::new();
    bench.write("evil.json", BROKEN.replace("never mind", r"\u001b]0;owned\u0007\u001b[31m"));
    let ran = bench.run(&["check", "evil.json"]).expect(1);
    assert!(!ran.out.contains(['\u{1b}', '\u{7}']), "{}", ran.out);
    let mut coloured = bench.command(&["check", "evil.json"]);
    let ran = crate::bench::Ran::of(coloured.env("CLICOLOR_FORCE", "1")).expect(1);
    assert!(ran.out.contains("\u{1b}[") && !ran.out.contains("\u{1b}]0;owned"), "{}", ran.out);
    assert!(ran.out.contains("␛]0;owned␇␛[31m"), "{}", ran.out);
}

#[test]
fn a_closed_output_is_not_a_failure() {
    let bench = Bench::new();
    bench.write("broken.json", BROKEN);
    let mut command = bench.command(&["rules"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr), (Some(0), Vec::new()));
    let mut command = bench.command(&["check", "broken.json", "--format", "sarif"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert!(ended.stderr.is_empty() && ended.status.code().is_some_and(|code| code < 2), "{ended:?}");
}

#[test]
fn findings_that_only_unsafe_fixes_repair_are_counted() {
    let bench = Bench::new();
    bench.write("broken.json", BROKEN);
    bench.write("cautious.toml", CAUTIOUS);
    let ran = bench.run(&["check", "broken.json", "--policy", "cautious.toml"]).expect(1);
    let summary = "✗ 1 error; it can be fixed with\n  `seamline fix broken.json --policy cautious.toml --unsafe`\n";
    assert!(ran.out.ends_with(summary), "{}", ran.out);
}

#[test]
fn unreadable_bodies_are_counted() {
    let bench = Bench::new();
    bench.write("clean.json", CLEAN);
    bench.write("cut.json", "{");
    let ran = bench.run(&["check", "clean.json", "cut.json"]).expect(2);
    assert_eq!(ran.out, "✗ nothing wrong in 1 body (3 messages, 1 call); 1 body could not be read\n");
}
