//! The errors and hints of `seamline session …`.

use futures_executor::block_on;
use seamline::session::{OpenOptions, Session};
use seamline::store::{Effect, Operation};

use crate::bench::{BROKEN, Bench};
use crate::sessions::{CALL, HELLO};

#[test]
fn hints_can_be_pasted_with_the_store_and_the_name_that_were_given() {
    let bench = Bench::new();
    let store = ["--store", "sqlite:my store.db"];
    let session = |args: &[&str]| bench.session(&[args, &store].concat());
    session(&["new", "s-1"]).expect(0);
    bench.run_on(HELLO, &[&["session", "append", "s-1"], &store[..]].concat()).expect(0);
    let path = format!("sqlite:{}", bench.path("my store.db").display());
    block_on(async {
        let store = seamline::open_store(&path).await.unwrap();
        let options = OpenOptions { recover: false, ..OpenOptions::default() };
        let mut session = Session::open(store, "s-1".parse().unwrap(), options).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[CALL], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        session.close().await.unwrap();
    });
    let named = "s-1 --store 'sqlite:my store.db'`";
    let hinted = |args: &[&str], command: &str| {
        let ran = session(args);
        let all = format!("{}{}", ran.out, ran.err);
        assert!(all.contains(&format!("`seamline session {command} {named}")), "{command} in {all}");
    };
    hinted(&["recover", "s-1", "--dry-run"], "recover");
    hinted(&["repair", "s-1"], "recover");
    hinted(&["rollback", "s-1", "ckpt_99"], "checkpoints");
    hinted(&["erase", "s-1"], "export");
    session(&["recover", "s-1"]).expect(0);
    bench.write("body.json", BROKEN);
    session(&["append", "s-1", "body.json", "--body"]).expect(0);
    hinted(&["check", "s-1"], "repair --all");
    hinted(&["repair", "s-1"], "request");
    hinted(&["repair", "s-1", "--all"], "undo");
    bench.write("request.json", BROKEN);
    hinted(&["request", "s-1", "--envelope", "request.json"], "append --body");
    for _ in 0..6 {
        session(&["checkpoint", "s-1"]).expect(0);
        session(&["rollback", "s-1"]).expect(0);
    }
    hinted(&["show", "s-1"], "incidents");
}

#[test]
fn stores_that_do_not_outlive_the_command_are_refused() {
    let bench = Bench::new();
    for args in [&["new", "s-1"][..], &["list"], &["verify"], &["show", "s-1"]] {
        let ran = bench.session(&[args, &["--store", "memory:"]].concat()).expect(2);
        assert!(ran.err.contains("forgets everything") && ran.err.contains("hint: a store is `sqlite:"), "{}", ran.err);
    }
    let ran = bench.session(&["list", "--store", "sqlite:nowhere.db"]).expect(2);
    assert!(ran.err.contains("there is no store") && !bench.path("nowhere.db").exists(), "{}", ran.err);
    let ran = bench.session(&["list", "--store", "postgres://user:secret@localhost:1/x"]).expect(2);
    assert!(ran.err.contains("hint: check that the server runs") && !ran.err.contains("secret"), "{}", ran.err);
}

#[test]
fn a_wrong_message_and_a_wrong_envelope_are_refused_with_a_hint() {
    let bench = Bench::greeted("s-1");
    let ran = bench.append("s-1", r#"{"foo":1}"#).expect(2);
    assert!(ran.err.contains("neither `role` nor `type`"), "{}", ran.err);
    let ran = bench.append("s-1", r#"{"id":"c1","choices":[{"message":{}}]}"#).expect(2);
    assert!(ran.err.contains("whole response") && ran.err.contains(".choices[0].message"), "{}", ran.err);
    let ran = bench.run_on(r#"{"candidates":[]}"#, &["session", "append", "s-1", "--inbox", "m-1"]).expect(2);
    assert!(ran.err.contains("whole response"), "{}", ran.err);
    assert_eq!(bench.messages("s-1"), format!("{HELLO}\n"));
    let envelope = r#"{"model":"m","messages":[{"role":"user","content":"other"}]}"#;
    let ran = bench.run_on(envelope, &["session", "request", "s-1", "--envelope", "-"]).expect(2);
    assert!(ran.err.contains("it contains `messages`") && ran.err.contains("hint: omit it"), "{}", ran.err);
}

#[test]
fn names_that_are_used_already_are_refused() {
    let bench = Bench::greeted("s-1");
    let ran = bench.session(&["new", "s-1"]).expect(2);
    assert!(ran.err.contains("already") && ran.err.contains("hint: choose another name"), "{}", ran.err);
    bench.session(&["erase", "s-1", "--yes"]).expect(0);
    for args in [["new", "s-1"], ["show", "s-1"]] {
        let ran = bench.session(&args).expect(2);
        assert!(ran.err.contains("was erased") && ran.err.contains("choose another name"), "{}", ran.err);
    }
}

#[test]
fn every_type_of_incident_can_be_requested() {
    let bench = Bench::greeted("s-1");
    let mut policy = seamline::Policy::default();
    policy.session.verbose = true;
    let store = bench.store();
    block_on(async {
        let options = OpenOptions { policy: Some(policy), ..OpenOptions::default() };
        let mut session = Session::open(store, "s-1".parse().unwrap(), options).await.unwrap();
        session.create_checkpoint(Operation::Manual).await.unwrap();
        session.close().await.unwrap();
    });
    let listed = bench.session(&["incidents", "s-1", "--format", "json"]).expect(0).json();
    let kind = listed["incidents"][0]["type"].as_str().unwrap();
    assert_eq!(kind, "checkpoint_created");
    for kind in [kind, "checkpoint_committed", "other"] {
        let found = bench.session(&["incidents", "s-1", "--type", kind]).expect(0).out;
        assert_eq!(found.contains("no incidents"), kind != "checkpoint_created", "{found}");
    }
}

/// The commands about sessions of a page: those of the block that creates one.
#[cfg(unix)]
fn commands(page: &str) -> Vec<String> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let block = blocks.into_iter().find(|block| block.starts_with("seamline session new")).unwrap();
    block.lines().map(str::to_owned).collect()
}

#[cfg(unix)]
#[test]
fn the_commands_of_the_pages_work_one_after_the_other() {
    let bench = Bench::new();
    let example = include_str!("../../../../examples/stuck-agent.json");
    bench.write("examples/stuck-agent.json", example);
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_seamline")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    // One shell for all of them, as for a user who follows the pages; each line reports its status.
    let lines = [commands("README.md"), commands("docs/sessions.md")].concat();
    let script: Vec<String> = lines.iter().map(|line| format!("{line}\necho \"ended $?\" >&3")).collect();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("exec 3>ends\n{}", script.join("\n"))]).current_dir(&bench.folder);
    shell.env("PATH", path).env("XDG_STATE_HOME", bench.path("state")).env_remove("SEAMLINE_STORE");
    let ran = crate::bench::Ran::of(&mut shell);
    let ends = bench.read("ends");
    assert!(lines.len() > 15 && ends.lines().count() == lines.len(), "{ends} {ran:?}");
    for (line, end) in lines.iter().zip(ends.lines()) {
        let expected = if line.contains("exit 1:") { "ended 1" } else { "ended 0" };
        assert_eq!((end, line), (expected, line), "{}", ran.err);
    }
}

#[test]
fn a_session_whose_beginning_is_lost_is_written_once_its_dialect_is_named() {
    let bench = Bench::greeted("s-1");
    let path = bench.path("state/seamline/sessions.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(8).position(|window| window == b"{\"begin\"").unwrap();
    bytes[at + 2] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let ran = bench.append("s-1", HELLO).expect(2);
    assert!(
        ran.err.contains("it names the dialect") && ran.err.contains("`--dialect` names the dialect"),
        "{}",
        ran.err
    );
    let ran = bench.run_on(HELLO, &["session", "append", "s-1", "--dialect", "latin"]).expect(2);
    assert!(ran.err.contains("no dialect is called `latin`"), "{}", ran.err);
    bench.run_on(HELLO, &["session", "append", "s-1", "--dialect", "openai_chat"]).expect(0);
    // The incident is in the log.
    bench.append("s-1", HELLO).expect(0);
    let exported = bench.session(&["export", "s-1", "--messages"]).expect(1).out;
    assert_eq!(exported, format!("{HELLO}\n{HELLO}\n{HELLO}\n"));
}

#[test]
fn a_session_stores_the_policy_that_it_was_made_with() {
    let bench = Bench::new();
    bench.session(&["new", "s-1", "--policy", "clawos"]).expect(0);
    let shown = bench.session(&["show", "s-1"]).expect(0).out;
    assert!(shown.lines().any(|line| line.trim_start().starts_with("policy") && line.ends_with("clawos")), "{shown}");
    let shown = bench.session(&["show", "s-1", "--format", "json"]).expect(0).json();
    assert_eq!(shown["policy"]["repair"]["on_invalid"], "offer");
    let ran = bench.session(&["new", "s-2", "--policy", "clawoz"]).expect(2);
    assert!(ran.err.contains("clawos"), "{}", ran.err);
}

#[test]
fn plain_output_fits_eighty_columns() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    bench.session(&["new", "s-1"]).expect(0);
    bench.session(&["append", "s-1", "body.json", "--body"]).expect(0);
    for args in [
        &["check", "body.json"][..],
        &["fix", "--diff", "body.json"],
        &["convert", "body.json", "--to", "openai", "--dry-run"],
        &["explain", "--error", "overloaded"],
        &["policies"],
        &["policies", "clawos"],
        &["providers"],
        &["providers", "anthropic"],
        &["rules"],
        &["session", "show", "s-1"],
        &["session", "show", "s-1", "--records"],
        &["session", "check", "s-1"],
        &["session", "repair", "s-1", "--dry-run"],
        &["session", "repair", "s-1"],
        &["session", "list"],
        &["session", "incidents", "s-1"],
        &["session", "checkpoints", "s-1"],
        &["session", "recover", "s-1"],
        &["session", "verify"],
    ] {
        let ran = bench.run(args);
        let wide: Vec<&str> = ran.out.lines().filter(|line| line.chars().count() > 80).collect();
        assert_eq!(wide, [""; 0], "{args:?}");
    }
}
