//! `seamline check` and `seamline fix` on session files of programs.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::bench::Bench;

/// A session of Claude Code with a glued line and a call without a result.
pub(crate) const STUCK: &str = include_str!("../../../../examples/stuck-claude-code.jsonl");

/// One record of a user, with a parent.
pub(crate) fn user(id: &str, parent: Option<&str>, content: &str) -> String {
    let parent = parent.map_or_else(|| "null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"cwd":"/srv/mira/app","sessionId":"s-77","type":"user","message":{{"role":"user","content":"{content}"}},"uuid":"{id}","timestamp":"2026-10-30T09:00:00Z"}}"#
    ) + "\n"
}

/// A healthy session.
pub(crate) fn healthy() -> String {
    user("u1", None, "hello") + &user("u2", Some("u1"), "are you there?")
}

/// Lets a file look as if its program had ended an hour ago.
pub(crate) fn age(path: &Path) -> SystemTime {
    let then = SystemTime::now() - Duration::from_hours(1);
    let times = std::fs::FileTimes::new().set_modified(then).set_accessed(then);
    std::fs::File::options().append(true).open(path).unwrap().set_times(times).unwrap();
    path.metadata().unwrap().modified().unwrap()
}

/// A bench with a stuck session that its program has left.
fn stuck() -> Bench {
    let bench = Bench::new();
    age(&bench.write("s.jsonl", STUCK));
    bench
}

#[test]
fn a_file_without_a_complete_record_is_left_for_salvage() {
    let bench = Bench::new();
    let torn = r#"{"timestamp":"2026-03-01T10:00:00.000Z","type":"session_meta","payload":{"id":"0199a213-81c0-7800"#;
    let cut = healthy().lines().map(|line| &line[..line.len() - 2]).collect::<Vec<_>>().join("\n") + "\n";
    for (name, text) in [("torn.jsonl", torn), ("cut.jsonl", &cut)] {
        age(&bench.write(name, text));
        let ran = bench.run(&["fix", name]).expect(1);
        assert!(ran.on_one_line().contains("not repaired: no complete record is in the file"), "{}", ran.out);
        assert!(ran.on_one_line().contains("`seamline salvage "), "{}", ran.out);
        assert_eq!(bench.read(name), text);
    }
}

#[test]
fn a_damaged_file_in_the_folder_of_an_agent_is_told_as_a_session() {
    let bench = Bench::new();
    for (name, bytes, part) in [
        ("home/.claude/projects/-a/1.jsonl", &b""[..], "Claude Code keeps its sessions here, but this file is empty"),
        ("home/.claude/projects/-a/2.jsonl", b"{\"ty", "but this file is damaged and cannot be recognised"),
    ] {
        age(&bench.write(name, bytes));
        for command in ["check", "fix"] {
            let told = bench.run(&[command, name]).expect(2).err.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains(part) && !told.contains("request body"), "{command} {name}: {told}");
        }
    }
}

#[test]
fn a_message_that_goes_to_quarantine_is_not_called_unchanged() {
    let bench = Bench::new();
    let torn = user("u2", Some("u1"), "lost");
    age(&bench.write("s.jsonl", user("u1", None, "hello") + &torn[..torn.len() - 40]));
    let ran = bench.run(&["fix", "s.jsonl"]).expect(0);
    assert!(ran.on_one_line().contains("1 line") && !ran.out.contains("the conversation stays"), "{}", ran.out);
    assert!(ran.on_one_line().contains("of incomplete records (no program can read it) is in"), "{}", ran.out);
}

#[test]
fn a_check_names_the_line_the_error_and_the_fix() {
    let bench = stuck();
    let ran = bench.run(&["check", "s.jsonl"]).expect(1);
    for part in [
        "s.jsonl: a session log of Claude Code, session",
        "“Fix the failing parser tests”",
        "error[FILE001] glued-records: 2 complete records are on this line\n  ╭─ s.jsonl:5\n",
        "error[PAIR001] unanswered-call: no result answers tool call `toolu_03Run`\n  ╭─ s.jsonl:8 · message 5",
        "│ ╰──✗              result no result for toolu_03Run",
        "the provider would return: messages.5: `tool_use` ids were found",
        "╰ fix: answer tool call `toolu_03Run` with a synthetic result (safe)",
        "✗ 2 errors; all can be fixed with `seamline fix s.jsonl`\n",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
    let from_input = bench.run_on(STUCK, &["check", "--format", "json"]).expect(1);
    assert_eq!(from_input.json()["documents"][0]["findings"].as_array().unwrap().len(), 2);
    assert_eq!(bench.read("s.jsonl"), STUCK);
}

#[test]
fn a_healthy_session_is_clean_and_stays_as_it_is() {
    let bench = Bench::new();
    let before = age(&bench.write("s.jsonl", healthy()));
    let ran = bench.run(&["check", "s.jsonl"]).expect(0);
    let about =
        "✓ s.jsonl: nothing wrong (Claude Code, 2 records, 2 messages, 0 calls; anthropic_messages for anthropic)";
    assert_eq!(ran.on_one_line(), about);
    let ran = bench.run(&["fix", "s.jsonl"]).expect(0);
    assert_eq!(ran.out, "✓ s.jsonl: nothing wrong, nothing changed\n");
    assert_eq!((bench.read("s.jsonl"), bench.names(".")), (healthy(), vec!["s.jsonl".to_owned()]));
    assert_eq!(bench.path("s.jsonl").metadata().unwrap().modified().unwrap(), before);
}

#[test]
fn programs_get_the_lines_of_the_file() {
    let bench = stuck();
    let json = bench.run(&["check", "s.jsonl", "--format", "json"]).expect(1).json();
    let document = &json["documents"][0];
    let about = [&document["program"], &document["session"], &document["dialect"]];
    assert_eq!(about, ["Claude Code", "6f1d2c3b-4a5e-4f60-8a7b-9c0d1e2f3a4b", "anthropic_messages"]);
    assert_eq!((&document["records"], &document["messages"]), (&Value::from(10), &Value::from(7)));
    let lines: Vec<_> = document["findings"].as_array().unwrap().iter().map(|finding| &finding["line"]).collect();
    assert_eq!(lines, [5, 8]);

    let sarif = bench.run(&["check", "s.jsonl", "--format", "sarif"]).expect(1).json();
    let run = &sarif["runs"][0];
    let region = &run["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region, &serde_json::json!({ "startLine": 5 }));
    for result in run["results"].as_array().unwrap() {
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
    }
    let github = bench.run(&["check", "s.jsonl", "--format", "github"]).expect(1).out;
    assert!(github.starts_with("::error file=s.jsonl,line=5,title=FILE001 glued-records::"), "{github}");
}

#[test]
fn a_diff_shows_the_conversation_and_the_lines_and_changes_nothing() {
    let bench = stuck();
    let ran = bench.run(&["fix", "--diff", "s.jsonl"]).expect(0);
    for part in [
        "✓ s.jsonl: 2 findings; all would be fixed\n",
        "  +   6  user       result toolu_03Run [synthetic]",
        "  FILE001 glued-records    line 5  put each record on a line of its own\n",
        "  PAIR001 unanswered-call  line 8  toolu_03Run: answered with a synthetic result\n",
        "  2 lines changed, 2 lines added\n",
        "nothing was changed; to change it, omit `--diff`",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    assert_eq!((bench.read("s.jsonl").as_str(), bench.names(".")), (STUCK, vec!["s.jsonl".to_owned()]));
}

#[test]
fn a_session_is_repaired_and_its_report_says_how_to_go_on() {
    let bench = stuck();
    let ran = bench.run(&["fix", "s.jsonl", "--report", "r.json"]).expect(0);
    for part in [
        "✓ s.jsonl: repaired; 2 findings fixed\n",
        "  `seamline undo s.jsonl` undoes it\n",
        "  continue with\n    `cd /srv/mira/parser && claude --resume 6f1d2c3b-4a5e-4f60-8a7b-9c0d1e2f3a4b`\n",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    bench.run(&["check", "s.jsonl"]).expect(0);
    let report: Value = serde_json::from_str(&bench.read("r.json")).unwrap();
    let document = &report["documents"][0];
    assert_eq!(document["lines"], serde_json::json!({ "changed": 2, "added": 2, "removed": 0 }));
    assert_eq!([&document["changed"], &document["lossless"]], [true, true]);
    let again = bench.run(&["fix", "s.jsonl"]).expect(0);
    assert_eq!(again.out, "✓ s.jsonl: nothing wrong, nothing changed\n");
}

#[test]
fn standard_input_is_filtered() {
    let bench = Bench::new();
    let ran = bench.run_on(STUCK, &["fix"]).expect(0);
    assert!(ran.err.contains("PAIR001 unanswered-call"), "{}", ran.err);
    assert_eq!(bench.run_on(&ran.out, &["fix"]).expect(0).out, ran.out);
    bench.run_on(&ran.out, &["check"]).expect(0);
    assert_eq!(ran.out.lines().count(), STUCK.lines().count() + 2);
    assert_eq!(bench.names("."), Vec::<String>::new());
    bench.write("s.jsonl", STUCK);
    bench.run(&["fix", "s.jsonl", "--output", "new.jsonl"]).expect(0);
    assert_eq!((bench.read("new.jsonl"), bench.read("s.jsonl").as_str()), (ran.out, STUCK));
}

#[test]
fn a_policy_that_only_reports_leaves_the_file_alone() {
    let bench = stuck();
    let ran = bench.run(&["fix", "s.jsonl", "--policy", "strict"]).expect(1);
    assert!(ran.out.starts_with("✗ s.jsonl: not repaired; policy `strict` only reports\n"), "{}", ran.out);
    assert_eq!(bench.read("s.jsonl"), STUCK);
}

#[test]
fn bytes_that_belong_to_no_record_are_kept_beside_the_old_ones() {
    let bench = Bench::new();
    let cut = r#"{"parentUuid":"u2","type":"user","uuid":"u3","message":{"role":"user","content":"half of a que"#;
    let whole = healthy() + cut;
    age(&bench.write("s.jsonl", &whole));
    let planned = bench.run(&["fix", "--diff", "s.jsonl"]).expect(0);
    assert!(
        planned.on_one_line().contains("no program can read it) would be kept beside the old bytes"),
        "{planned:?}"
    );
    let ran = bench.run(&["fix", "s.jsonl", "--report", "r.json"]).expect(0);
    assert_eq!(bench.read("s.jsonl"), healthy());
    let report: Value = serde_json::from_str(&bench.read("r.json")).unwrap();
    let quarantine = &report["documents"][0]["quarantine"];
    let path = quarantine["path"].as_str().unwrap();
    assert_eq!(
        (std::fs::read_to_string(path).unwrap().as_str(), &quarantine["parts"][0]["line"]),
        (cut, &Value::from(3))
    );
    assert!(ran.out.split_whitespace().collect::<String>().contains(path), "{}", ran.out);
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&Path::new(path).metadata().unwrap().permissions()) & 0o777,
        0o600
    );
    let folder = bench.names("state/seamline/repairs").remove(0);
    let hash = path.rsplit('/').next().unwrap();
    assert!(bench.read(format!("state/seamline/repairs/{folder}/1")).contains(hash));
    bench.run(&["undo", "--prune", "--older-than", "1d"]).expect(0);
    assert!(Path::new(path).is_file(), "a prune keeps what a record names");
    bench.run(&["undo", "s.jsonl"]).expect(0);
    assert_eq!(bench.read("s.jsonl"), whole);
}

#[test]
fn the_defects_of_files_are_explained_and_listed() {
    let bench = Bench::new();
    for name in ["FILE001", "file001", "glued-records"] {
        let ran = bench.run(&["explain", name]).expect(0);
        assert!(ran.out.contains("FILE001") && ran.out.contains("# Why is this bad?"), "{}", ran.out);
    }
    let ran = bench.run(&["explain", "glued-record"]).expect(2);
    assert!(ran.err.contains("FILE001 (glued-records)"), "{}", ran.err);
    let rules = bench.run(&["rules", "--format", "json"]).expect(0).json();
    let listed = rules["rules"].as_array().unwrap().iter().filter(|rule| rule["group"] == "file").count();
    assert_eq!(listed, seamline::files::DEFECTS.len());
}

#[test]
fn an_export_of_opencode_is_imported_again() {
    let bench = Bench::new();
    let user = r#"{"info":{"id":"msg_01","sessionID":"ses_7f","role":"user","time":{"created":1}},"parts":[{"id":"prt_01","sessionID":"ses_7f","messageID":"msg_01","type":"text","text":"go"}]}"#;
    let call = r#"{"info":{"id":"msg_02","sessionID":"ses_7f","role":"assistant","time":{"created":2},"modelID":"claude-sonnet-4-5","providerID":"anthropic"},"parts":[{"id":"prt_02","sessionID":"ses_7f","messageID":"msg_02","type":"tool","callID":"toolu_1","tool":"bash","state":{"status":"running","input":{},"time":{"start":2}}}]}"#;
    let export = format!(r#"{{"info":{{"id":"ses_7f","title":"Fix","time":{{}}}},"messages":[{user},{call}]}}"#);
    age(&bench.write("export.json", &export));
    let ran = bench.run(&["check", "export.json", "--format", "json"]).expect(1);
    assert_eq!((&ran.json()["documents"][0]["provider"], ran.err.as_str()), (&Value::from("anthropic"), ""));
    let ran = bench.run(&["fix", "export.json"]).expect(0);
    let next = "continue with `opencode import export.json && opencode --session ses_7f`";
    assert!(ran.on_one_line().ends_with(next), "{}", ran.out);
}

#[test]
fn a_fix_that_puts_bytes_into_quarantine_does_not_say_that_nothing_is_lost() {
    let bench = Bench::new();
    age(&bench.write("s.jsonl", healthy() + "{\"parentUuid\":\"u2\",\"type\":\"user\",\"mess"));
    let said = bench.run(&["fix", "s.jsonl"]).expect(0).on_one_line();
    assert!(said.contains("every complete record is kept") && !said.contains("is lost"), "{said}");
    let nul = healthy().replace("are you there?", "are \0\0you there?");
    age(&bench.write("s.jsonl", &nul));
    let said = bench.run(&["fix", "s.jsonl"]).expect(0).on_one_line();
    assert!(said.contains("no content is lost"), "{said}");
    assert_eq!(bench.read("s.jsonl"), healthy());
}

#[test]
fn the_command_that_continues_a_session_can_be_pasted_into_a_shell() {
    let bench = Bench::new();
    age(&bench.write("s.jsonl", STUCK.replace("6f1d2c3b-4a5e-4f60-8a7b-9c0d1e2f3a4b", "x; touch it's #")));
    let said = bench.run(&["fix", "s.jsonl"]).expect(0).on_one_line();
    assert!(said.contains(r"&& claude --resume 'x; touch it'\''s #'`"), "{said}");
}

#[test]
fn the_drafts_of_a_killed_repair_are_removed_by_the_next_one() {
    let bench = stuck();
    bench.write(".s.jsonl.aB3xYz.seamline", "half of it");
    bench.run(&["fix", "s.jsonl"]).expect(0);
    assert!(!bench.path(".s.jsonl.aB3xYz.seamline").exists());
    // The repair was complete, and only the second name of the old file is left.
    bench.write(".s.jsonl.aB3xYz.seamline", STUCK);
    age(&bench.path("s.jsonl"));
    bench.run(&["fix", "s.jsonl"]).expect(0);
    assert!(!bench.path(".s.jsonl.aB3xYz.seamline").exists());
}
