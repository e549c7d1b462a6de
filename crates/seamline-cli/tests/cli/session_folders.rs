//! Sessions that are spread over the files of a folder.

use std::path::{Path, PathBuf};

use crate::bench::Bench;
use crate::session_files::age;

const STORAGE: &str = "home/.local/share/opencode/storage";
const CONVERSATION: &str = "home/.openhands/conversations/0a1b2c";

/// Writes the files of the older storage of opencode, with a call that has no result.
fn opencode(bench: &Bench) {
    for (name, text) in [
        (
            "session/p1/ses_7f.json",
            r#"{"id":"ses_7f","projectID":"p1","directory":"/srv/app","title":"Fix tests","time":{"created":1,"updated":9}}"#,
        ),
        ("message/ses_7f/msg_01.json", r#"{"id":"msg_01","sessionID":"ses_7f","role":"user","time":{"created":1}}"#),
        (
            "message/ses_7f/msg_02.json",
            r#"{"id":"msg_02","sessionID":"ses_7f","role":"assistant","time":{"created":2},"modelID":"m"}"#,
        ),
        (
            "part/msg_01/prt_01.json",
            r#"{"id":"prt_01","sessionID":"ses_7f","messageID":"msg_01","type":"text","text":"fix the tests"}"#,
        ),
        (
            "part/msg_02/prt_02.json",
            "{\n  \"id\": \"prt_02\",\n  \"sessionID\": \"ses_7f\",\n  \"messageID\": \"msg_02\",\n  \"type\": \"tool\",\n  \"callID\": \"c1\",\n  \"tool\": \"bash\",\n  \"state\": {\"status\":\"running\",\"input\":{\"command\":\"make\"},\"time\":{\"start\":2}}\n}\n",
        ),
        (
            "part/msg_02/prt_03.json",
            r#"{"id":"prt_03","sessionID":"ses_7f","messageID":"msg_02","type":"tool","callID":"c2","tool":"bash","state":{"status":"pending","input":{}}}"#,
        ),
    ] {
        age(&bench.write(format!("{STORAGE}/{name}"), text));
    }
}

/// Writes the events of a conversation; the last call may have no result.
fn openhands(bench: &Bench, is_whole: bool) {
    let start = r#""timestamp":"2026-01-21T20:40:08","source":"agent""#;
    let call = r#""tool_call":{"id":"c1","name":"bash","arguments":"{}"},"tool_call_id":"c1""#;
    let mut files = vec![
        ("base_state.json", r#"{"id":"0a-1b-2c","agent":{},"workspace":{}}"#.to_owned()),
        (
            "events/event-00000-a.json",
            format!(r#"{{"id":"a",{start},"llm_message":{{"role":"user","content":"list"}},"kind":"MessageEvent"}}"#),
        ),
        ("events/event-00001-b.json", format!(r#"{{"id":"b",{start},{call},"kind":"ActionEvent"}}"#)),
        (
            "events/event-00003-d.json",
            format!(r#"{{"id":"d",{start},"llm_message":{{"role":"user","content":"go"}},"kind":"MessageEvent"}}"#),
        ),
    ];
    let result = format!(
        r#"{{"id":"c",{start},"tool_call_id":"c1","observation":{{"content":"ok"}},"action_id":"b","kind":"ObservationEvent"}}"#
    );
    if is_whole {
        files.push(("events/event-00002-c.json", result));
    }
    for (name, text) in files {
        age(&bench.write(format!("{CONVERSATION}/{name}"), text));
    }
}

/// The files below a folder with their bytes and the times of their last change.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            let modified = path.metadata().unwrap().modified().unwrap();
            all.push((path.clone(), std::fs::read(&path).unwrap(), modified));
        }
    }
    all.sort();
    all
}

#[test]
fn the_files_of_opencode_are_one_session() {
    let bench = Bench::new();
    opencode(&bench);
    let home = bench.path("home");
    let before = files(&home);
    for what in [vec!["doctor", "--home", "home"], vec!["doctor", "--home", "home", "ses_7f"], vec!["doctor", "home"]] {
        let ran = bench.run(&what).expect(1);
        let said = ran.on_one_line();
        for part in [
            "✗ opencode · “Fix tests”",
            "session ses_7f",
            "you asked fix the tests",
            "open call bash {\"command\":\"make\"}",
        ] {
            assert!(said.contains(part), "{part}\n{}", ran.out);
        }
        assert!(said.contains("✗ the session is broken;"), "{}", ran.out);
    }
    for folder in [STORAGE.to_owned(), format!("{STORAGE}/message/ses_7f")] {
        let ran = bench.run(&["check", &folder]).expect(1);
        assert!(ran.out.contains("storage/part/msg_02/prt_02.json"), "{}", ran.out);
        assert!(
            ran.on_one_line().ends_with(&format!("1 error; it can be fixed with `seamline fix {folder}`")),
            "{}",
            ran.out
        );
    }
    assert_eq!(files(&home), before);

    let ran = bench.run(&["doctor", "--home", "home", "--fix"]).expect(0);
    assert!(ran.on_one_line().ends_with("✓ repaired 1 of 1 broken session"), "{}", ran.out);
    let after = files(&home);
    let changed = before.iter().zip(&after).filter(|(one, other)| one.1 != other.1).count();
    assert_eq!((before.len(), changed), (after.len(), 2), "only the parts of the calls change");
    assert!(before.iter().zip(&after).all(|(one, other)| one.2 == other.2), "the times stay");
    bench.run(&["check", STORAGE]).expect(0);
    bench.run(&["undo", &format!("{STORAGE}/message/ses_7f")]).expect(0);
    assert_eq!(files(&home), before);
}

#[test]
fn a_session_that_a_program_writes_is_left_alone() {
    let bench = Bench::new();
    opencode(&bench);
    let name = format!("{STORAGE}/part/msg_01/prt_01.json");
    bench.write(&name, bench.read(&name));
    let before = files(&bench.path("home"));
    let ran = bench.run(&["fix", STORAGE]).expect(2);
    assert!(ran.err.contains("nothing was changed"), "{}", ran.err);
    assert_eq!(files(&bench.path("home")), before);
    let ran = bench.run(&["doctor", "--home", "home", "--fix"]).expect(0);
    assert!(ran.on_one_line().contains("may still be running"), "{}", ran.out);
    assert_eq!(files(&bench.path("home")), before);
    bench.run(&["fix", STORAGE, "--force"]).expect(0);
}

#[test]
fn the_events_of_openhands_are_one_conversation() {
    let bench = Bench::new();
    openhands(&bench, true);
    for what in [vec!["doctor", "--home", "home"], vec!["doctor", "home"], vec!["doctor", CONVERSATION]] {
        let ran = bench.run(&what).expect(0);
        assert!(ran.out.ends_with("✓ the session is not broken\n"), "{}", ran.out);
    }
    let ran = bench.run(&["check", CONVERSATION]).expect(0);
    assert!(ran.on_one_line().contains("nothing wrong (OpenHands, 5 records, 4 messages, 1 call;"), "{}", ran.out);

    let bench = Bench::new();
    openhands(&bench, false);
    let before = files(&bench.path("home"));
    let ran = bench.run(&["doctor", "--home", "home", "--fix"]).expect(1);
    let said = ran.on_one_line();
    for part in
        ["OpenHands", "unanswered-call (event-00001-b.json)", "does not write them", "openhands --resume 0a-1b-2c"]
    {
        assert!(said.contains(part), "{part}\n{}", ran.out);
    }
    let ran = bench.run(&["fix", CONVERSATION]).expect(1);
    assert!(ran.on_one_line().contains("not repaired: Seamline reads the sessions of this program"), "{}", ran.out);
    assert_eq!(files(&bench.path("home")), before);
}

#[test]
fn empty_and_missing_files_are_found() {
    let bench = Bench::new();
    opencode(&bench);
    bench.run(&["fix", STORAGE]).expect(0);
    age(&bench.write(format!("{STORAGE}/part/msg_01/prt_01.json"), ""));
    let ran = bench.run(&["check", STORAGE]).expect(1);
    assert!(ran.out.contains("FILE005") && ran.out.contains("prt_01.json"), "{}", ran.out);

    openhands(&bench, true);
    age(&bench.write(format!("{CONVERSATION}/base_state.json"), ""));
    let ran = bench.run(&["check", CONVERSATION]).expect(1);
    assert!(ran.out.contains("FILE005") && ran.out.contains("base_state.json"), "{}", ran.out);

    openhands(&bench, true);
    std::fs::remove_file(bench.path(CONVERSATION).join("events/event-00002-c.json")).unwrap();
    let ran = bench.run(&["check", CONVERSATION]).expect(1);
    assert!(ran.out.contains("FILE011") && ran.out.contains("event-00003-d.json"), "{}", ran.out);
}

#[test]
fn one_record_alone_is_not_judged() {
    let bench = Bench::new();
    opencode(&bench);
    openhands(&bench, true);
    let session = format!("{STORAGE}/message/ses_7f");
    for (name, folder) in [
        (format!("{STORAGE}/part/msg_02/prt_02.json"), session.as_str()),
        (format!("{STORAGE}/message/ses_7f/msg_01.json"), &session),
        (format!("{STORAGE}/session/p1/ses_7f.json"), &session),
        (format!("{CONVERSATION}/events/event-00001-b.json"), CONVERSATION),
        (format!("{CONVERSATION}/base_state.json"), CONVERSATION),
    ] {
        for command in ["check", "fix", "doctor"] {
            let ran = bench.run(&[command, &name]).expect(2);
            assert!(ran.err.contains("this is one record of a session of "), "{}", ran.err);
            assert!(ran.err.contains(&format!("hint: pass the folder: `seamline check {folder}`")), "{}", ran.err);
        }
    }
}

#[test]
fn a_session_in_a_folder_is_converted_salvaged_and_watched() {
    let bench = Bench::new();
    opencode(&bench);
    let ran = bench.run(&["convert", STORAGE, "--to", "openai"]).expect(0);
    assert!(ran.out.contains("fix the tests") && ran.out.contains("\"tool_calls\""), "{}", ran.out);
    let ran = bench.run(&["convert", STORAGE, "--to-agent", "claude-code"]).expect(0);
    assert!(ran.out.contains("\"cwd\":\"/srv/app\"") && ran.err.contains("opencode → Claude Code"), "{ran:?}");
    let ran = bench.run(&["salvage", STORAGE, "--output", "rescued"]).expect(0);
    assert!(ran.out.contains("written to rescued"), "{}", ran.out);
    openhands(&bench, false);
    let ran = bench.run(&["convert", CONVERSATION, "--to", "anthropic"]).expect(0);
    assert!(ran.out.contains("\"tool_result\""), "{}", ran.out);
    let part = format!("{CONVERSATION}/events/event-00001-b.json");
    let ran = bench.run(&["convert", &part, "--to", "anthropic"]).expect(2);
    assert!(ran.err.contains("one record of a session of OpenHands"), "{}", ran.err);
    let ran = bench.run(&["watch", CONVERSATION, "--once"]).expect(1);
    assert!(ran.out.contains("event-00001-b.json: PAIR001"), "{}", ran.out);
}

#[test]
fn the_oldest_storage_of_opencode_is_read_and_repaired() {
    let bench = Bench::new();
    let storage = "home/.local/share/opencode/project/app/storage";
    for (name, text) in [
        ("info/ses_1.json", r#"{"id":"ses_1","title":"Old tests","time":{"created":1,"updated":9}}"#),
        ("message/ses_1/msg_01.json", r#"{"id":"msg_01","sessionID":"ses_1","role":"user","time":{"created":1}}"#),
        (
            "message/ses_1/msg_02.json",
            r#"{"id":"msg_02","sessionID":"ses_1","role":"assistant","time":{"created":2},"modelID":"m"}"#,
        ),
        (
            "part/ses_1/msg_01/prt_01.json",
            r#"{"id":"prt_01","sessionID":"ses_1","messageID":"msg_01","type":"text","text":"fix the old tests"}"#,
        ),
        (
            "part/ses_1/msg_02/prt_02.json",
            r#"{"id":"prt_02","sessionID":"ses_1","messageID":"msg_02","type":"tool","callID":"c1","tool":"bash","state":{"status":"running","input":{"command":"make"},"time":{"start":2}}}"#,
        ),
    ] {
        age(&bench.write(format!("{storage}/session/{name}"), text));
    }
    for folder in [storage.to_owned(), format!("{storage}/session"), format!("{storage}/session/message/ses_1")] {
        let ran = bench.run(&["check", &folder]).expect(1);
        assert!(ran.out.contains("part/ses_1/msg_02/prt_02.json"), "{}", ran.out);
    }
    let ran = bench.run(&["doctor", "--home", "home"]).expect(1);
    assert!(ran.on_one_line().contains("✗ opencode · “Old tests”"), "{}", ran.out);
    bench.run(&["doctor", "--home", "home", "--fix"]).expect(0);
    bench.run(&["check", storage]).expect(0);
    let ran = bench.run(&["convert", storage, "--to", "openai"]).expect(0);
    assert!(ran.out.contains("fix the old tests"), "{}", ran.out);
}
