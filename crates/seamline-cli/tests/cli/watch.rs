//! `seamline watch`

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::bench::Bench;
use crate::session_files::{STUCK, healthy, user};

const CALL: &str = r#"{"parentUuid":"u2","isSidechain":false,"cwd":"/srv/mira/app","sessionId":"s-77","type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"toolu_9","name":"read","input":{}}]},"uuid":"a1","timestamp":"2026-10-30T09:00:00Z"}"#;

/// A running watch, and the lines that it prints.
struct Watching {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn start(bench: &Bench) -> Self {
        let mut command = bench.command(&["watch", "s.jsonl", "--interval", "10", "--format", "json"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Waits for the next line: its event, and the name of its finding.
    fn next(&mut self) -> (String, String) {
        let line: Value = serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&line["event"]), text(&line["finding"]["name"]))
    }

    /// Interrupts it as Ctrl-C does.
    fn interrupt(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

fn event(event: &str, name: &str) -> (String, String) {
    (event.to_owned(), name.to_owned())
}

fn append(bench: &Bench, text: &str) {
    let mut file = std::fs::File::options().append(true).open(bench.path("s.jsonl")).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[cfg(unix)]
#[test]
fn a_session_is_followed_as_it_breaks_and_heals() {
    let bench = Bench::new();
    bench.write("s.jsonl", healthy());
    let mut watching = Watching::start(&bench);
    assert_eq!(watching.next(), event("watching", ""));
    // An open call is normal until the session goes on without its result.
    append(&bench, &format!("{CALL}\n"));
    append(&bench, &user("u3", Some("a1"), "never mind"));
    assert_eq!(watching.next(), event("broken", "unanswered-call"));
    // The file is replaced by a healthy one.
    bench.write("new.jsonl", healthy());
    std::fs::rename(bench.path("new.jsonl"), bench.path("s.jsonl")).unwrap();
    assert_eq!(watching.next(), event("healed", "unanswered-call"));
    append(&bench, "{\"type\":\"us");
    assert_eq!(watching.next(), event("broken", "torn-line"));
    // The file is cut.
    bench.write("s.jsonl", user("u1", None, "hello"));
    assert_eq!(watching.next(), event("healed", "torn-line"));
    std::fs::remove_file(bench.path("s.jsonl")).unwrap();
    assert_eq!(watching.next(), event("gone", ""));
    bench.write("s.jsonl", STUCK);
    let mut found = [watching.next(), watching.next()];
    found.sort();
    assert_eq!(found, [event("broken", "glued-records"), event("broken", "unanswered-call")]);
    assert_eq!(watching.interrupt(), Some(1));
}

#[cfg(unix)]
#[test]
fn a_healthy_session_ends_with_status_0() {
    let bench = Bench::new();
    let before = healthy() + CALL + "\n";
    bench.write("s.jsonl", &before);
    let mut watching = Watching::start(&bench);
    assert_eq!(watching.next(), event("watching", ""));
    assert_eq!(watching.interrupt(), Some(0));
    assert_eq!((bench.read("s.jsonl"), bench.names(".")), (before, vec!["s.jsonl".to_owned()]));
}

#[test]
fn one_look_tells_whether_a_session_is_broken() {
    let bench = Bench::new();
    bench.write("s.jsonl", STUCK);
    let ran = bench.run(&["watch", "s.jsonl", "--once"]).expect(1);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", ran.out);
    assert!(lines[0].contains("watching s.jsonl (Claude Code, 7 messages)"), "{}", ran.out);
    assert!(lines[1].contains("✗ line 5: FILE001 glued-records: "), "{}", ran.out);
    assert!(lines[2].contains("✗ line 8: PAIR001 unanswered-call: "), "{}", ran.out);
    bench.write("s.jsonl", healthy());
    bench.run(&["watch", "s.jsonl", "--once"]).expect(0);
}

#[test]
fn a_request_body_and_a_missing_file_are_refused_with_the_reason() {
    let bench = Bench::new();
    bench.write("body.json", crate::bench::CLEAN);
    let ran = bench.run(&["watch", "body.json", "--once"]).expect(2);
    assert!(ran.err.contains("not a session file") && ran.err.contains("hint:"), "{}", ran.err);
    let ran = bench.run(&["watch", "missing.jsonl"]).expect(2);
    assert!(ran.err.contains("no such file"), "{}", ran.err);
}
