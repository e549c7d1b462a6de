//! `seamline fix`

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use serde_json::{Value, json};

use crate::bench::{BROKEN, Bench, CAUTIOUS, CLEAN, Ran, TWICE};

#[test]
fn a_body_is_repaired_in_place_and_settles() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    let ran = bench.run(&["fix", "body.json"]).expect(0);
    assert!(ran.out.starts_with("✓ body.json: repaired; 1 finding fixed\n"), "{}", ran.out);
    assert!(ran.out.contains("`seamline undo body.json` undoes it"), "{}", ran.out);
    bench.run(&["check", "body.json"]).expect(0);
    assert_eq!(bench.names("."), ["body.json", "state"]);
}

#[test]
fn a_clean_body_is_not_touched() {
    let bench = Bench::new();
    let path = bench.write("body.json", CLEAN);
    let before = std::fs::metadata(&path).unwrap();
    let ran = bench.run(&["fix", "body.json"]).expect(0);
    assert_eq!(ran.out, "✓ body.json: nothing wrong, nothing changed\n");
    let after = std::fs::metadata(&path).unwrap();
    assert_eq!((before.modified().unwrap(), before.ino()), (after.modified().unwrap(), after.ino()));
    assert_eq!(bench.names("."), ["body.json"], "nothing to keep, nothing kept");
}

#[test]
fn from_standard_input_only_the_body_goes_to_standard_output() {
    let bench = Bench::new();
    let ran = bench.run_on(BROKEN, &["fix"]).expect(0);
    assert!(ran.out.starts_with(r#"{"model":"claude-sonnet-4-5","#) && ran.out.ends_with('}'), "{}", ran.out);
    bench.run_on(&ran.out, &["check"]).expect(0);
    assert!(ran.err.contains("PAIR001 unanswered-call"), "{}", ran.err);
    let again = bench.run_on(&ran.out, &["fix", "-"]).expect(0);
    assert_eq!(again.out, ran.out);
    for format in ["json", "sarif", "github"] {
        assert_eq!(bench.run_on(BROKEN, &["fix", "--format", format]).expect(0).out, ran.out);
    }
    let failed = bench.run_on("{", &["fix"]).expect(2);
    assert_eq!(failed.out, "");
    assert_eq!(bench.names("."), Vec::<String>::new());
}

#[test]
fn a_clean_body_is_written_byte_for_byte() {
    let bench = Bench::new();
    let odd = format!(" {}\r\n\t", CLEAN.replace(":[", " : [ "));
    assert_eq!(bench.run_on(&odd, &["fix"]).expect(0).out, odd);
    bench.write("odd.json", &odd);
    assert_eq!(bench.run(&["fix", "odd.json", "--stdout"]).expect(0).out, odd);
    bench.run(&["fix", "odd.json", "--output", "copy.json"]).expect(0);
    assert_eq!(bench.read("copy.json"), odd);
}

#[test]
fn a_diff_changes_nothing_and_shows_what_would_remain() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    let ran = bench.run(&["fix", "--diff", "body.json"]).expect(0);
    assert!(ran.out.contains("  +   2  user       result toolu_1 [synthetic]"), "{}", ran.out);
    assert!(ran.out.contains("    2 3  user       text   never mind\n"), "{}", ran.out);
    assert_eq!(bench.read("body.json"), BROKEN);
    assert_eq!(bench.names("."), ["body.json"]);
    bench.write("cautious.toml", CAUTIOUS);
    bench.run(&["fix", "--diff", "--policy", "cautious.toml", "body.json"]).expect(1);
    bench.run(&["fix", "--diff", "--policy", "cautious.toml", "--unsafe", "body.json"]).expect(0);
    let ran = bench.run_on(BROKEN, &["fix", "--diff"]).expect(0);
    assert!(ran.out.contains("  +   2  user") && ran.err.is_empty(), "{ran:?}");
}

#[test]
fn remaining_findings_are_shown_with_the_effect_of_unsafe() {
    let bench = Bench::new();
    bench.write("cautious.toml", CAUTIOUS);
    bench.write("body.json", BROKEN);
    let ran = bench.run(&["fix", "body.json", "--policy", "cautious.toml"]).expect(1);
    assert!(ran.out.starts_with("✗ body.json: not repaired\n"), "{}", ran.out);
    assert!(ran.out.contains("still wrong: 1 error\n"), "{}", ran.out);
    assert!(ran.out.contains("fix: remove tool call `toolu_1` (unsafe)\n"), "{}", ran.out);
    assert!(ran.out.contains("`--unsafe` would fix 1 of them"), "{}", ran.out);
    assert_eq!(bench.read("body.json"), BROKEN);
    bench.write("twice.json", TWICE);
    let ran = bench.run(&["fix", "twice.json", "--policy", "cautious.toml"]).expect(1);
    assert!(ran.out.starts_with("✗ twice.json: repaired in part\n"), "{}", ran.out);
    bench.run(&["fix", "twice.json", "--policy", "cautious.toml", "--unsafe"]).expect(0);
    bench.run(&["check", "twice.json"]).expect(0);
}

#[test]
fn the_mode_stays_and_links_are_followed() {
    let bench = Bench::new();
    let path = bench.write("real/body.json", BROKEN);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("real/body.json", bench.path("link.json")).unwrap();
    bench.run(&["fix", "link.json"]).expect(0);
    assert!(bench.path("link.json").is_symlink());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
    bench.run(&["check", "real/body.json"]).expect(0);
    bench.run(&["undo", "real/body.json"]).expect(0);
    assert_eq!(bench.read("link.json"), BROKEN);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
}

#[test]
fn without_a_folder_for_the_old_bytes_nothing_is_replaced() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    let mut command = bench.command(&["fix", "body.json"]);
    let ran = Ran::of(command.env_remove("XDG_STATE_HOME")).expect(2);
    assert!(ran.err.contains("XDG_STATE_HOME") && ran.err.contains("\nhint: "), "{}", ran.err);
    bench.write("file", "");
    let mut command = bench.command(&["fix", "body.json"]);
    let ran = Ran::of(command.env("XDG_STATE_HOME", bench.path("file"))).expect(2);
    assert!(ran.err.contains("could not keep the old bytes"), "{}", ran.err);
    assert_eq!(bench.read("body.json"), BROKEN);
    let mut command = bench.command(&["fix", "body.json"]);
    Ran::of(command.env_remove("XDG_STATE_HOME").env("HOME", bench.path("home"))).expect(0);
    assert!(bench.path("home/.local/state/seamline/objects").is_dir());
}

#[test]
fn a_folder_without_write_permission_keeps_its_file() {
    let bench = Bench::new();
    bench.write("locked/body.json", BROKEN);
    let locked = bench.path("locked");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o555)).unwrap();
    let may_write = std::fs::write(bench.path("locked/try"), "").is_ok();
    let ran = bench.run(&["fix", "locked/body.json"]);
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o755)).unwrap();
    if may_write {
        // The superuser may write everywhere.
        ran.expect(0);
    } else {
        assert!(ran.expect(2).err.contains("permission denied"));
        assert_eq!(bench.read("locked/body.json"), BROKEN);
        bench.run(&["undo", "locked/body.json"]).expect(2);
    }
}

#[test]
fn a_body_can_be_written_elsewhere() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    bench.run(&["fix", "body.json", "--output", "whole.json"]).expect(0);
    bench.run(&["check", "whole.json"]).expect(0);
    let ran = bench.run(&["fix", "body.json", "--stdout"]).expect(0);
    assert_eq!(ran.out, bench.read("whole.json"));
    assert_eq!(bench.read("body.json"), BROKEN);
    // A device is written to, not replaced.
    let ran = bench.run(&["fix", "body.json", "--output", "/dev/stdout", "--format", "github"]).expect(0);
    assert_eq!(ran.out, bench.read("whole.json"));
    let ran = bench.run(&["fix", "body.json", "--output", "body.json/x"]).expect(2);
    assert!(ran.err.contains("body.json/x: could not write"), "{}", ran.err);
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    let bench = Bench::new();
    bench.write("a.json", BROKEN);
    bench.write("b.json", BROKEN);
    for args in [
        &["fix", "a.json", "--diff", "--stdout"][..],
        &["fix", "a.json", "--stdout", "--output", "c.json"],
        &["fix", "a.json", "--diff", "--output", "c.json"],
        &["fix", "a.json", "--diff", "--format", "json"],
        &["fix", "a.json", "b.json", "--stdout"],
        &["fix", "a.json", "b.json", "--output", "c.json"],
    ] {
        let ran = bench.run(args).expect(2);
        assert_eq!(ran.out, "");
    }
    assert_eq!((bench.read("a.json"), bench.read("b.json")), (BROKEN.to_owned(), BROKEN.to_owned()));
}

#[test]
fn the_report_has_the_documented_shape() {
    let bench = Bench::new();
    bench.write("broken.json", BROKEN);
    bench.write("clean.json", CLEAN);
    bench.write("cut.json", "{");
    bench.run(&["fix", "broken.json", "clean.json", "cut.json", "--report", "report.json"]).expect(2);
    let text = bench.read("report.json");
    let report: Value = serde_json::from_str(&text).unwrap();
    let documents = report["documents"].as_array().unwrap();
    let order = ["path", "changed", "passes", "lossless", "actions", "dropped", "remaining", "prefix"];
    assert!(crate::formats::in_order(&text, &order), "{text}");
    let action = documents[0]["actions"][0].as_object().unwrap();
    let keys: Vec<_> = action.keys().map(String::as_str).collect();
    let documented =
        ["action", "after_hash", "before_hash", "call_id", "code", "message_index", "pointer", "synthetic"];
    assert_eq!(keys, documented);
    assert_eq!(
        (&action["code"], &action["call_id"], &action["synthetic"]),
        (&json!("PAIR001"), &json!("toolu_1"), &json!(true))
    );
    assert_eq!(
        documents[1],
        json!({"path": "clean.json", "changed": false, "passes": 0, "lossless": true, "actions": [], "dropped": [],
               "remaining": [], "prefix": {"unchanged_bytes": CLEAN.len(), "first_changed_message": null, "around_changed": false, "invalidates": []}})
    );
    assert_eq!(documents[2]["path"], "cut.json");
    assert!(documents[2]["error"]["message"].is_string());
}

#[test]
fn a_report_that_cannot_be_written_is_a_failure() {
    let bench = Bench::new();
    bench.write("file", "");
    let ran = bench.run_on(BROKEN, &["fix", "--report", "file/report.json"]).expect(2);
    assert!(ran.err.contains("file/report.json: could not write"), "{}", ran.err);
}

#[test]
fn many_bodies_are_repaired_at_once() {
    let bench = Bench::new();
    for index in 0..30 {
        bench.write(format!("all/{index:02}.json"), if index % 2 == 0 { BROKEN } else { CLEAN });
    }
    let ran = bench.run(&["fix", "all"]).expect(0);
    assert!(ran.out.ends_with("\n✓ repaired 15 of 30 bodies; no findings remain\n"), "{}", ran.out);
    bench.run(&["check", "all"]).expect(0);
    bench.run(&["undo", "all/00.json"]).expect(0);
    assert_eq!(bench.read("all/00.json"), BROKEN);
}

#[test]
fn the_examples_are_broken_and_can_be_repaired() {
    let bench = Bench::new();
    for name in ["stuck-agent.json", "stuck-agent-openai.json"] {
        let path = format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
        bench.write(name, std::fs::read(path).unwrap());
        bench.run(&["check", name]).expect(1);
        bench.run(&["fix", "--diff", name]).expect(0);
        bench.run(&["fix", name]).expect(0);
        bench.run(&["check", name]).expect(0);
    }
}

#[test]
fn neither_a_report_nor_a_copy_may_overwrite_a_body() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    std::os::unix::fs::symlink(bench.path("body.json"), bench.path("link.json")).unwrap();
    for option in ["--report", "--output"] {
        for target in ["body.json", "./body.json", "link.json"] {
            let ran = bench.run(&["fix", "body.json", option, target]).expect(2);
            assert!(ran.err.contains("would overwrite a body"), "{}", ran.err);
            assert_eq!(bench.read("body.json"), BROKEN);
        }
    }
}

#[test]
fn a_diff_shows_members_that_are_removed_and_added() {
    let bench = Bench::new();
    let body = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"hi"},
        {"role":"assistant","content":"hello","tool_calls":[]},{"role":"user","content":"bye"}]}"#;
    bench.write("body.json", body);
    let ran = bench.run(&["fix", "--diff", "--unsafe", "body.json"]);
    assert!(ran.out.contains("field"), "{}", ran.out);
    assert!(ran.out.contains("tool_calls: []"), "{}", ran.out);
    assert!(ran.out.contains("the list of tool calls removed"), "{}", ran.out);
}

#[test]
fn a_diff_shows_a_signature_that_is_added() {
    let bench = Bench::new();
    let body = r#"{"model":"gemini-3-pro-preview","contents":[{"role":"user","parts":[{"text":"hi"}]},
        {"role":"model","parts":[{"functionCall":{"name":"x","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"x","response":{"output":"ok"}}}]}]}"#;
    bench.write("body.json", body);
    let ran = bench.run(&["fix", "--diff", "body.json", "--provider", "gemini"]);
    assert!(ran.out.contains("thoughtSignature: "), "{}", ran.out);
}

#[cfg(unix)]
#[test]
fn a_copy_of_a_private_body_stays_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    let path = bench.write("body.json", BROKEN);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let mode = |name: &str| bench.path(name).metadata().unwrap().permissions().mode() & 0o777;
    bench.run(&["fix", "body.json", "--output", "fixed.json", "--report", "report.json"]).expect(0);
    bench.run(&["convert", "body.json", "--to", "openai", "--output", "new.json", "--report", "lost.json"]);
    for name in ["fixed.json", "report.json", "new.json", "lost.json"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    bench.run(&["fix", "body.json"]).expect(0);
    std::fs::remove_file(&path).unwrap();
    bench.run(&["undo", "--force", "body.json"]).expect(0);
    assert_eq!((mode("body.json"), bench.read("body.json")), (0o600, BROKEN.to_owned()));
}

#[cfg(unix)]
#[test]
fn a_folder_means_the_files_in_it_and_not_those_behind_its_links() {
    let bench = Bench::new();
    bench.write("logs/a.json", BROKEN);
    bench.write("outside.json", BROKEN);
    std::os::unix::fs::symlink(bench.path("outside.json"), bench.path("logs/link.json")).unwrap();
    std::os::unix::fs::symlink("a.json", bench.path("logs/inside.json")).unwrap();
    let ran = bench.run(&["fix", "logs"]).expect(0);
    assert!(ran.err.contains("logs: 1 link out of the folder not followed"), "{}", ran.err);
    assert_eq!(bench.read("outside.json"), BROKEN);
    assert_ne!(bench.read("logs/a.json"), BROKEN);
    // A link that is named itself is meant.
    bench.run(&["fix", "logs/link.json"]).expect(0);
    assert_ne!(bench.read("outside.json"), BROKEN);
}

#[test]
fn the_draft_of_a_killed_process_is_removed_by_the_next_one() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    let old = std::time::SystemTime::now() - std::time::Duration::from_mins(1);
    let draft = bench.write(".other.json.aB3xYz.seamline", "half");
    let live = bench.write(".other.json.live00.seamline", "half");
    let held = std::fs::OpenOptions::new().append(true).open(&live).unwrap();
    held.lock().unwrap();
    for path in [&draft, &live] {
        std::fs::OpenOptions::new().append(true).open(path).unwrap().set_modified(old).unwrap();
    }
    bench.run(&["fix", "body.json"]).expect(0);
    assert_eq!(bench.names(""), [".other.json.live00.seamline", "body.json", "state"]);
}

#[test]
fn a_member_that_the_error_names_is_removed_and_other_unknown_members_stay() {
    let bench = Bench::new();
    let body = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"hi","zz_trace":1,"zz_other":2}]}"#;
    bench.write("body.json", body);
    bench.write("error.txt", "Unknown parameter: 'messages[0].zz_trace'.");
    bench.run(&["fix", "body.json"]).expect(0);
    assert_eq!(bench.read("body.json"), body, "without an error an unknown member stays");
    bench.run(&["fix", "body.json", "--after-error", "error.txt"]).expect(0);
    let fixed = bench.read("body.json");
    assert!(!fixed.contains("zz_trace") && fixed.contains(r#""zz_other":2"#), "{fixed}");
}

/// A message without content, and an empty message that is removed.
const REMOVED: &str = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Go."},{"role":"user","prompt":"ONE"},{"role":"assistant","content":null,"id":"msg_1"},{"role":"user","content":"Well?"}]}"#;

/// A call and a result that each get another id, another form and lose a member.
const RENAMED: &str = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"t","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":{"a":1}}}]},{"role":"tool","tool_call_id":"c1","content":{"k":"v"},"is_error":true},{"role":"assistant","content":"n"},{"role":"user","content":"n"}]}"#;

#[test]
fn a_diff_shows_a_removed_message_and_a_new_text_under_its_role() {
    let bench = Bench::new();
    bench.write("body.json", REMOVED);
    let ran = bench.run(&["fix", "--diff", "body.json"]).expect(0);
    let rows = "  + 1 1  user       text [synthetic] (no content)\n  - 2    assistant       empty\n";
    assert!(ran.out.contains(rows), "{}", ran.out);
}

#[test]
fn a_diff_shows_every_edit_of_a_block() {
    let bench = Bench::new();
    bench.write("body.json", RENAMED);
    let ran = bench.run(&["fix", "--diff", "--unsafe", "--provider", "mistral", "body.json"]).expect(0);
    for row in [
        r#"  -                 field  function.arguments: {"a":1}"#,
        r#"  +                 field  function.arguments: "{\"a\":1}""#,
        r#"  -                 field  content: {"k":"v"}"#,
        r#"  +                 field  content: "{\"k\":\"v\"}""#,
        r"  -                 field  is_error: true",
    ] {
        assert!(ran.out.contains(row), "{row}\n{}", ran.out);
    }
}

#[test]
fn a_rejected_member_is_removed_and_a_miss_is_said() {
    let bench = Bench::new();
    let body = r#"{"model":"gpt-5","messages":[{"role":"user","content":"Go."}],"top":1}"#;
    bench.write("body.json", body);
    bench.write("error.txt", "Unknown parameter: 'top'.");
    bench.write("other.txt", "Unknown parameter: 'messages[0].mood'.");
    let ran = bench.run(&["fix", "--after-error", "other.txt", "body.json"]).expect(1);
    assert!(ran.err.contains("the error names `/messages/0/mood`, and nothing was removed"), "{ran:?}");
    assert_eq!(bench.read("body.json"), body);
    bench.run(&["fix", "--after-error", "error.txt", "body.json"]).expect(0);
    assert_eq!(bench.read("body.json"), r#"{"model":"gpt-5","messages":[{"role":"user","content":"Go."}]}"#);
}
