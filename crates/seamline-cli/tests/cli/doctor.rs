//! `seamline doctor`

use std::path::{Path, PathBuf};

use crate::bench::{Bench, Ran};
use crate::session_files::{STUCK, age, healthy, user};

const PROJECT: &str = "home/.claude/projects/-home-mira-app";

/// A call without a result, and a cut line behind it.
fn torn() -> String {
    let call = r#"{"parentUuid":"u1","isSidechain":false,"cwd":"/srv/mira/app","sessionId":"torn-1","type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"toolu_9","name":"Bash","input":{"command":"make"}}]},"uuid":"a1","timestamp":"2026-10-30T09:00:01Z"}"#;
    let cut = r#"{"parentUuid":"u2","type":"user","message":{"role":"user","content":"lost wor"#;
    user("u1", None, "build it").replace("s-77", "torn-1")
        + call
        + "\n"
        + &user("u2", Some("a1"), "what happened?").replace("s-77", "torn-1")
        + cut
}

/// A home folder with two healthy and two broken sessions, and a file without a session.
fn home() -> Bench {
    let bench = Bench::new();
    for (name, text) in [
        ("6f1d2c3b-4a5e-4f60-8a7b-9c0d1e2f3a4b.jsonl", STUCK),
        ("torn-1.jsonl", &torn()),
        ("s-77.jsonl", &healthy()),
        ("s-78.jsonl", &healthy().replace("s-77", "s-78")),
        ("notes.jsonl", "{\"note\":1}\n"),
    ] {
        age(&bench.write(format!("{PROJECT}/{name}"), text));
    }
    bench
}

fn doctor(bench: &Bench, args: &[&str]) -> Ran {
    bench.run(&[&["doctor", "--home", "home"], args].concat())
}

/// The files below a folder with their bytes.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn every_broken_session_is_found_and_described() {
    let bench = home();
    let before = files(&bench.path("home"));
    let ran = doctor(&bench, &[]).expect(1);
    let said = ran.on_one_line();
    for part in [
        "Claude Code 4 2 2 2 unanswered-call, 1 glued-records, 1 torn-line; can be repaired",
        "✗ Claude Code · “Fix the failing parser tests” · 1 hour ago",
        "folder /srv/mira/parser",
        "you asked Stop, you are on the wrong branch.",
        "open call Bash {\"command\":\"cargo test -p parser\"}",
        "wrong FILE001 glued-records (line 5), PAIR001 unanswered-call (line 8)",
        "repair glued-records: put each record on a line of its own; unanswered-call: answered with a synthetic result",
        "lost nothing",
        "then cd /srv/mira/parser && claude --resume 6f1d2c3b-4a5e-4f60-8a7b-9c0d1e2f3a4b",
        "you asked what happened?",
        "lost 77 B of incomplete records, which are kept beside the backup",
        "✗ 2 of 4 sessions are broken; `seamline doctor --home home --fix` repairs all of them",
    ] {
        assert!(said.contains(part), "{part}\n{}", ran.out);
    }
    let is_path = |line: &str| line.starts_with("  file ") || line.starts_with("  then ");
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80 || is_path(line)), "{}", ran.out);
    assert_eq!(files(&bench.path("home")), before, "it only reads");
    assert_eq!(bench.names("."), ["home"]);
}

#[test]
fn fix_repairs_what_is_broken_and_nothing_else() {
    let bench = home();
    let before = files(&bench.path("home"));
    let ran = doctor(&bench, &["--fix"]).expect(0);
    let said = ran.on_one_line();
    for part in
        ["✓ repaired 2 of 2 broken sessions", "continue cd /srv/mira/app && claude --resume torn-1", "quarantine "]
    {
        assert!(said.contains(part), "{part}\n{}", ran.out);
    }
    let after = files(&bench.path("home"));
    let changed = before.iter().zip(&after).filter(|(one, other)| one != other).count();
    assert_eq!((before.len(), changed), (after.len(), 2));
    let ran = doctor(&bench, &[]).expect(0);
    assert!(ran.out.ends_with("✓ 4 sessions, none is broken\n"), "{}", ran.out);
    bench.run(&["undo", "home"]).expect(0);
    assert_eq!(files(&bench.path("home")), before);
}

#[test]
fn a_session_in_use_is_left_alone() {
    let bench = home();
    bench.write(format!("{PROJECT}/torn-1.jsonl"), torn());
    let ran = doctor(&bench, &["--fix"]).expect(1);
    let said = ran.on_one_line();
    assert!(
        said.contains("not written it changed") && said.contains("repaired 1 of 2 broken sessions; 1 is still broken"),
        "{}",
        ran.out
    );
    assert_eq!(bench.read(format!("{PROJECT}/torn-1.jsonl")), torn());
    doctor(&bench, &["--fix", "--force"]).expect(0);
}

#[test]
fn a_session_that_may_wait_for_its_tool_is_not_called_broken() {
    let bench = Bench::new();
    let torn = torn();
    let call: String = torn.split_inclusive('\n').take(2).collect();
    let name = format!("{PROJECT}/torn-1.jsonl");
    let path = bench.write(&name, &call);
    let ran = doctor(&bench, &["--fix"]).expect(0);
    assert!(ran.on_one_line().contains("may still be running"), "{}", ran.out);
    assert_eq!(bench.read(&name), call);
    let json = doctor(&bench, &["--format", "json"]).expect(0).json();
    assert_eq!(json["sessions"][0]["may_be_running"], true, "{json}");
    age(&path);
    doctor(&bench, &[]).expect(1);
    doctor(&bench, &["--fix"]).expect(0);
    assert!(bench.read(&name).contains("tool_result"));
}

#[test]
fn a_session_is_found_by_the_name_of_its_folder() {
    let bench = Bench::new();
    let tasks = "home/.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks";
    let history = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"Hello."}]"#;
    for task in ["1761000000001", "1762000000002"] {
        age(&bench.write(format!("{tasks}/{task}/api_conversation_history.json"), history));
    }
    let ran = doctor(&bench, &["1761"]).expect(0);
    assert!(ran.out.contains("1761000000001") && !ran.out.contains("1762000000002"), "{}", ran.out);
}

#[test]
fn programs_get_one_object() {
    let bench = home();
    let json = doctor(&bench, &["--format", "json"]).expect(1).json();
    let of =
        |name: &str| json["programs"].as_array().unwrap().iter().find(|program| program["program"] == name).unwrap();
    let claude = of("Claude Code");
    assert_eq!([&claude["sessions"], &claude["healthy"], &claude["broken"], &claude["fixable"]], [4, 2, 2, 2]);
    let sessions = json["sessions"].as_array().unwrap();
    let torn = sessions.iter().find(|session| session["session"] == "torn-1").unwrap();
    assert_eq!(
        [&torn["last_request"], &torn["open_calls"][0], &torn["resume"]],
        ["what happened?", "Bash {\"command\":\"make\"}", "cd /srv/mira/app && claude --resume torn-1"]
    );
    assert_eq!(
        [&torn["repair"]["lost_bytes"], &torn["repair"]["errors_left"], &torn["findings"][1]["line"]],
        [77, 0, 4]
    );
    assert!(json["searched"].as_array().unwrap().len() > 10);
    let json = doctor(&bench, &["--fix", "--format", "json"]).expect(0).json();
    assert!(json["sessions"].as_array().unwrap().iter().all(|session| session["fixed"]["written"] == true));
}

#[test]
fn sessions_are_found_by_id_by_file_and_by_folder() {
    let bench = home();
    let ran = doctor(&bench, &["6f1d2c3b"]).expect(1);
    assert!(ran.out.starts_with("✗ Claude Code · “Fix the failing parser tests”"), "{}", ran.out);
    let ran = doctor(&bench, &["s-77"]).expect(0);
    assert!(ran.out.starts_with("✓ Claude Code") && ran.out.ends_with("✓ the session is not broken\n"), "{}", ran.out);
    let ran = doctor(&bench, &["s-7"]).expect(2);
    assert!(
        ran.err.contains("`s-7` is part of the ids of 2 sessions") && ran.err.contains("s-78.jsonl"),
        "{}",
        ran.err
    );
    let ran = doctor(&bench, &["s-99"]).expect(2);
    assert!(ran.err.contains("no session has `s-99` in its id"), "{}", ran.err);
    // The name of the file need not tell the id.
    std::fs::rename(bench.path(format!("{PROJECT}/torn-1.jsonl")), bench.path(format!("{PROJECT}/other.jsonl")))
        .unwrap();
    let ran = doctor(&bench, &["torn-1"]).expect(1);
    assert!(ran.on_one_line().contains("you asked what happened?"), "{}", ran.out);
    let path = format!("{PROJECT}/other.jsonl");
    let ran = bench.run(&["doctor", &path]).expect(1);
    assert!(
        ran.on_one_line().ends_with(&format!("✗ the session is broken; `seamline doctor {path} --fix` repairs it")),
        "{}",
        ran.out
    );
    let ran = bench.run(&["doctor", "home"]).expect(1);
    assert!(ran.on_one_line().contains("2 of 4 sessions are broken"), "{}", ran.out);
    bench.write("body.json", crate::bench::CLEAN);
    let ran = bench.run(&["doctor", "body.json"]).expect(2);
    assert!(ran.err.contains("body.json: this is not a session file of a known program"), "{}", ran.err);
    bench.run(&["doctor", "no/such.jsonl"]).expect(2);
}

#[test]
fn sessions_are_chosen_by_agent_and_by_time() {
    let bench = home();
    let ran = doctor(&bench, &["--agent", "claude-code"]).expect(1);
    assert!(ran.out.contains("Claude Code"), "{}", ran.out);
    let ran = doctor(&bench, &["--agent", "codex"]).expect(0);
    assert!(ran.out.starts_with("no sessions found; these places were searched:\n  Codex  "), "{}", ran.out);
    let ran = doctor(&bench, &["--agent", "unheard"]).expect(2);
    assert!(
        ran.err.contains("no agent is called `unheard`") && ran.err.contains("`claude-code`, `cline`, "),
        "{}",
        ran.err
    );
    assert!(doctor(&bench, &["--since", "30m"]).expect(0).out.starts_with("no sessions found"));
    doctor(&bench, &["--since", "2h"]).expect(1);
    doctor(&bench, &["--since", "soon"]).expect(2);
}

#[test]
fn the_variables_of_programs_are_respected() {
    let bench = home();
    let run = |variable: &str, value: PathBuf| {
        Ran::of(bench.command(&["doctor"]).env("HOME", bench.path("empty")).env(variable, value))
    };
    let ran = run("CLAUDE_CONFIG_DIR", bench.path("home/.claude")).expect(1);
    assert!(ran.on_one_line().contains("2 of 4 sessions are broken"), "{}", ran.out);
    let ran = run("HOME", bench.path("home")).expect(1);
    assert!(ran.out.contains("  file         ~/.claude/projects/-home-mira-app/"), "{}", ran.out);
    let ran = run("HOME", bench.path("empty")).expect(0);
    assert!(ran.out.contains("~/.claude/projects\n"), "{}", ran.out);
}

#[test]
fn each_agent_is_listed_once_under_names_of_one_word() {
    let bench = Bench::new();
    let list = bench.run(&["doctor", "--list"]).expect(0).out;
    assert_eq!(list.matches("Gemini CLI").count(), 1, "{list}");
    let none = doctor(&bench, &[]).expect(0).out;
    assert_eq!(none.matches("Gemini CLI").count(), 1, "{none}");
    let hint = doctor(&bench, &["--agent", "zzz"]).expect(2).err;
    let names: Vec<_> = hint.split('`').skip(1).step_by(2).filter(|name| *name != "zzz").collect();
    assert!(names.len() > 10 && names.contains(&"roo-code"), "{hint}");
    for name in names {
        assert!(!name.contains([' ', ',']), "{name}");
        doctor(&bench, &["--agent", name]).expect(0);
    }
}

#[test]
fn the_table_counts_repairs_and_names_the_files_with_warnings() {
    let bench = home();
    let warned = user("u1", Some("gone"), "hello");
    age(&bench.write(format!("{PROJECT}/warned.jsonl"), &warned));
    let ran = doctor(&bench, &["--fix"]).expect(0);
    let said = ran.on_one_line();
    assert!(
        said.starts_with("program sessions healthy broken repaired what is wrong Claude Code 5 3 2 2 "),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("warnings, which `seamline check FILE` shows, are in:\n  home/.claude/"), "{}", ran.out);
    assert!(ran.out.contains("warned.jsonl\n"), "{}", ran.out);
}

#[test]
fn a_task_of_cline_says_how_to_continue() {
    let bench = Bench::new();
    let call = r#"{"type":"tool_use","id":"toolu_1","name":"execute_command","input":{"command":"make"}}"#;
    let history = format!(
        r#"[{{"role":"user","content":[{{"type":"text","text":"<task>\nbuild\n</task>"}}],"ts":1}},{{"role":"assistant","content":[{call}],"ts":2}},{{"role":"user","content":[{{"type":"text","text":"go on"}}],"ts":3}}]"#
    );
    let name = "home/.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json";
    age(&bench.write(name, history));
    let ran = doctor(&bench, &["--fix"]).expect(0);
    assert!(ran.on_one_line().contains("continue reload the editor, open History in the extension"), "{}", ran.out);
}

#[test]
fn a_damaged_file_that_cannot_be_recognised_is_listed() {
    let bench = Bench::new();
    age(&bench.write(format!("{PROJECT}/s-77.jsonl"), healthy()));
    age(&bench.write(format!("{PROJECT}/s-78.jsonl"), "\0".repeat(300)));
    let ran = doctor(&bench, &[]).expect(2);
    assert!(ran.err.contains("s-78.jsonl") && ran.err.contains("cannot be recognised"), "{}", ran.err);
    assert!(ran.on_one_line().contains("1 file could not be read"), "{}", ran.out);
    let json = doctor(&bench, &["--format", "json"]).expect(2).json();
    assert_eq!(json["failed"].as_array().unwrap().len(), 1);
}

#[test]
fn a_damaged_first_line_does_not_hide_a_session() {
    let bench = Bench::new();
    age(&bench.write(format!("{PROJECT}/s-77.jsonl"), "\0".repeat(300) + &healthy()));
    let said = doctor(&bench, &[]).expect(1).on_one_line();
    assert!(said.contains("wrong FILE003 nul-run (line 1)"), "{said}");
    doctor(&bench, &["--fix"]).expect(0);
    assert_eq!(bench.read(format!("{PROJECT}/s-77.jsonl")), healthy());
}

#[cfg(unix)]
#[test]
fn a_place_that_cannot_be_read_is_named() {
    let bench = Bench::new();
    bench.write("home/.claude/settings.json", "{}");
    // No user can read a link to itself.
    std::os::unix::fs::symlink("projects", bench.path("home/.claude/projects")).unwrap();
    let ran = bench.run(&["doctor", "--home", "home"]).expect(2);
    assert!(ran.err.contains(".claude/projects: could not read: "), "{}", ran.err);
}
