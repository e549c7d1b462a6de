//! `seamline session …`

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use futures_executor::block_on;
use seamline::session::{OpenOptions, Session, SessionError, SessionOptions, ToolOutput};
use seamline::store::{Effect, Error};

use crate::bench::{BROKEN, Bench, Ran};

pub(crate) const HELLO: &str = r#"{"role":"user","content":"hello"}"#;
const ODD: &str = "{ \"role\" :\"user\",\n\t\"content\":\"caf\\u00e9\"}";
pub(crate) const CALL: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"pay","input":{}},{"type":"tool_use","id":"toolu_2","name":"mail","input":{}},{"type":"tool_use","id":"toolu_3","name":"read","input":{}}]}"#;

impl Bench {
    /// Runs `seamline session` on the default store.
    pub(crate) fn session(&self, args: &[&str]) -> Ran {
        self.run(&[&["session"], args].concat())
    }

    pub(crate) fn append(&self, name: &str, messages: &str) -> Ran {
        self.run_on(messages, &["session", "append", name])
    }

    /// A session with one message.
    pub(crate) fn greeted(name: &str) -> Self {
        let bench = Self::new();
        bench.session(&["new", name]).expect(0);
        bench.append(name, HELLO).expect(0);
        bench
    }

    /// The messages of a session, byte for byte.
    pub(crate) fn messages(&self, name: &str) -> String {
        self.session(&["export", name, "--messages"]).expect(0).out
    }

    /// The store, opened by another program than the command.
    pub(crate) fn store(&self) -> std::sync::Arc<dyn seamline::store::Store> {
        let address = format!("sqlite:{}", self.path("state/seamline/sessions.db").display());
        block_on(seamline::open_store(&address)).unwrap()
    }
}

#[test]
fn a_session_is_made_listed_and_shown() {
    let bench = Bench::new();
    let ran = bench.session(&["list"]).expect(0);
    assert!(ran.out.starts_with("no sessions in `sqlite:") && !bench.path("state").exists(), "{}", ran.out);
    let ran = bench.session(&["new", "s-1", "--provider", "openai", "--title", "fix the build"]).expect(0);
    assert_eq!(ran.out, "s-1\n");
    let made_up = bench.session(&["new"]).expect(0).out;
    assert!(made_up.len() == 37 && &made_up[14..15] == "7", "{made_up}");
    let ran = bench.session(&["list"]).expect(0);
    let lines = ran.out.lines().skip_while(|line| !line.starts_with("s-1 ")).collect::<String>();
    assert!(lines.ends_with("fix the build · openai"), "{}", ran.out);
    let listed = bench.session(&["list", "--format", "json"]).expect(0).json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(listed["sessions"][1]["dialect"], "openai_chat");
    bench.append("s-1", HELLO).expect(0);
    let shown = bench.session(&["show", "s-1"]).expect(0).out;
    for part in ["s-1  fix the build\n", "openai_chat for openai", "health     whole", "0  user          33 B  hello\n"]
    {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let shown = bench.session(&["show", "s-1", "--format", "json"]).expect(0).json();
    assert_eq!((&shown["health"], &shown["messages"][0]["role"]), (&"whole".into(), &"user".into()));
    assert_eq!(shown["messages"][0]["message"]["content"], "hello");
    let records = bench.session(&["show", "s-1", "--records"]).expect(0).out;
    assert!(
        records.contains("begin") && records.contains("message  said, 33 B") && !records.contains("hello"),
        "{records}"
    );
    let records = bench.session(&["show", "s-1", "--records", "--format", "json"]).expect(0).json();
    assert_eq!(records["records"][1]["record"]["message"]["message"]["content"], "hello");
    assert_eq!(bench.session(&["show", "s-1", "--messages"]).expect(0).out, "0  user          33 B  hello\n");
}

#[test]
fn invalid_and_unknown_names_are_refused() {
    let bench = Bench::new();
    for name in ["a/b", "../up", ".hidden", "a b", ""] {
        let ran = bench.session(&["new", name]).expect(2);
        assert!(ran.err.contains("cannot name a session") || name.is_empty(), "{}", ran.err);
        bench.session(&["erase", name, "--yes"]).expect(2);
    }
    let ran = bench.session(&["new", "s-1", "--provider", "antropic"]).expect(2);
    assert!(ran.err.contains("did you mean `anthropic`?"), "{}", ran.err);
    let ran = bench.session(&["new", "s-1", "--store", "mysql://localhost"]).expect(2);
    assert!(ran.err.contains("hint: a store is `sqlite:PATH`"), "{}", ran.err);
    let ran = bench.session(&["show", "s-1"]).expect(2);
    assert!(ran.err.contains("there is no store") && !bench.path("state").exists(), "{}", ran.err);
    bench.session(&["new", "s-1"]).expect(0);
    let ran = bench.session(&["new", "s-1"]).expect(2);
    assert!(ran.err.contains("session `s-1` exists already"), "{}", ran.err);
    let ran = bench.session(&["show", "s-12"]).expect(2);
    assert!(ran.err.contains("there is no session `s-12`") && ran.err.contains("did you mean `s-1`?"), "{}", ran.err);
}

#[test]
fn the_store_is_the_one_that_is_named() {
    let bench = Bench::new();
    bench.session(&["new", "s-1", "--store", "sqlite:here.db"]).expect(0);
    let mut command = bench.command(&["session", "list"]);
    let ran = Ran::of(command.env("SEAMLINE_STORE", "sqlite:here.db")).expect(0);
    assert!(ran.out.starts_with("s-1 ") && !bench.path("state").exists(), "{}", ran.out);
    let mut command = bench.command(&["session", "new"]);
    let ran = Ran::of(command.env_remove("XDG_STATE_HOME")).expect(2);
    assert!(ran.err.contains("hint: `--store sqlite:FILE`"), "{}", ran.err);
}

#[test]
fn messages_are_kept_byte_for_byte_in_every_form_of_input() {
    let bench = Bench::new();
    bench.session(&["new", "s-1"]).expect(0);
    let ran = bench.append("s-1", &format!("[{ODD} ,{HELLO}]")).expect(0);
    assert_eq!(ran.out, "✓ s-1: added 2 messages; 2 messages now\n");
    bench.append("s-1", &format!("{HELLO}\n{ODD}\n")).expect(0);
    bench.write("body.json", BROKEN);
    bench.session(&["append", "s-1", "body.json", "--body"]).expect(0);
    let all = bench.messages("s-1");
    let said = [ODD, HELLO, HELLO, ODD].join("\n");
    assert!(all.starts_with(&said) && all.ends_with("{\"role\":\"user\",\"content\":\"never mind\"}\n"), "{all}");
    let ran = bench.session(&["append", "s-1", "body.json"]).expect(2);
    assert!(ran.err.contains("whole request body") && ran.err.contains("hint: `--body`"), "{}", ran.err);
    for wrong in ["", "[1]", "{\"role\":\"user\"", "\u{feff}nothing", "\u{feff}"] {
        bench.append("s-1", wrong).expect(2);
    }
    assert_eq!(bench.messages("s-1"), all);
    let lines = bench.session(&["tail", "s-1", "-n", "1", "--format", "json"]).expect(0);
    assert_eq!(lines.json()["message"]["content"], "never mind");
}

#[test]
fn the_inbox_accepts_a_message_once_and_the_next_writer_adds_it() {
    let bench = Bench::greeted("s-1");
    let push = |message: &str, id: &str| bench.run_on(message, &["session", "append", "s-1", "--inbox", id]);
    push(ODD, "mail-1").expect(0);
    let ran = push(ODD, "mail-1").expect(0);
    assert_eq!(ran.out, "✓ s-1: message `mail-1` is already in the inbox\n");
    push(&format!("{HELLO}{HELLO}"), "mail-2").expect(2);
    let another = push(HELLO, "mail-1").expect(2).err;
    assert!(another.contains("under the id `mail-1`") && another.contains("hint: nothing was stored"), "{another}");
    let shown = bench.session(&["show", "s-1"]).expect(0).out;
    assert!(shown.contains("inbox      1 message waiting"), "{shown}");
    let ran = bench.append("s-1", HELLO).expect(0);
    assert_eq!(ran.out, "✓ s-1: added 1 message, and before them 1 message from the inbox; 3 messages now\n");
    assert_eq!(bench.messages("s-1"), format!("{HELLO}\n{ODD}\n{HELLO}\n"));
    push(ODD, "mail-1").expect(0);
    push(HELLO, "mail-1").expect(2);
}

#[test]
fn findings_are_repaired_and_the_repair_is_undone() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    bench.session(&["new", "s-1"]).expect(0);
    bench.session(&["append", "s-1", "body.json", "--body"]).expect(0);
    let before = bench.messages("s-1");
    let ran = bench.session(&["check", "s-1"]).expect(1);
    assert!(ran.out.contains("error[PAIR001]") && ran.out.contains("╭─ s-1 · message 1"), "{}", ran.out);
    let remedy = "✗ 1 error; each request fixes it; `seamline session repair --all s-1` stores the fix";
    assert!(ran.on_one_line().ends_with(remedy), "{}", ran.out);
    let found = bench.session(&["check", "s-1", "--format", "json"]).expect(1).json();
    assert_eq!(found["documents"][0]["findings"][0]["code"], "PAIR001");
    // A result may still arrive, so nothing is synthesized without a request.
    let ran = bench.session(&["repair", "s-1"]).expect(1);
    for part in [
        "fix: answer tool call",
        "(safe)",
        "`seamline session request s-1` prints one",
        "`seamline session repair --all s-1` adds it now and stores it",
    ] {
        assert!(ran.out.contains(part), "{part} in {}", ran.out);
    }
    let ran = bench.session(&["repair", "s-1", "--all", "--dry-run"]).expect(0);
    assert!(ran.out.contains("nothing was changed; to change it, omit `--dry-run`"), "{}", ran.out);
    assert_eq!(bench.messages("s-1"), before);
    bench.write("envelope.json", r#"{"model":"claude-sonnet-4-5","max_tokens":64}"#);
    let request = bench.session(&["request", "s-1", "--envelope", "envelope.json"]).expect(0);
    assert!(request.err.contains("1 finding fixed for this request"), "{}", request.err);
    assert_eq!(
        (request.json()["model"].as_str(), request.json()["messages"].as_array().unwrap().len()),
        (Some("claude-sonnet-4-5"), 4)
    );
    bench.run_on(&request.out, &["check"]).expect(0);
    let ran = bench.session(&["repair", "s-1", "--all"]).expect(0);
    assert!(ran.out.contains("`seamline session undo s-1` undoes it"), "{}", ran.out);
    bench.session(&["check", "s-1"]).expect(0);
    assert!(bench.session(&["show", "s-1"]).expect(0).out.contains("synthetic: a repair added it"));
    let ran = bench.session(&["undo", "s-1"]).expect(0);
    assert!(ran.out.contains("undid repair_"), "{}", ran.out);
    assert_eq!(bench.messages("s-1"), before);
    let ran = bench.session(&["undo", "s-1"]).expect(2);
    assert!(ran.err.contains("has no repair") && ran.err.contains("hint: `seamline session incidents"), "{}", ran.err);
    bench.run_on("[]", &["session", "request", "s-1", "--envelope", "-"]).expect(2);
}

#[test]
fn checkpoints_are_committed_rolled_back_to_and_pruned() {
    let bench = Bench::greeted("s-1");
    let first = bench.session(&["checkpoint", "s-1", "--operation", "api_call"]).expect(0).out.trim().to_owned();
    bench.append("s-1", ODD).expect(0);
    bench.session(&["commit", "s-1", &first]).expect(0);
    let ran = bench.session(&["rollback", "s-1"]).expect(2);
    assert!(ran.err.contains("has no open checkpoint"), "{}", ran.err);
    let second = bench.session(&["checkpoint", "s-1"]).expect(0).out.trim().to_owned();
    bench.append("s-1", HELLO).expect(0);
    let ran = bench.session(&["rollback", "s-1", "--reason", "it went wrong"]).expect(0);
    assert_eq!(ran.out, format!("✓ s-1: back at {second}; 1 message hidden, 2 messages left\n"));
    let listed = bench.session(&["checkpoints", "s-1"]).expect(0).out;
    assert!(listed.contains("committed") && listed.contains("rolled back"), "{listed}");
    let ran = bench.session(&["rollback", "s-1", &first]).expect(0);
    assert!(ran.out.contains("1 message hidden, 1 message left"), "{}", ran.out);
    let ran = bench.session(&["rollback", "s-1", "ckpt_77"]).expect(2);
    assert!(ran.err.contains("Checkpoint not found: ckpt_77"), "{}", ran.err);
    assert!(ran.err.contains("hint: `seamline session checkpoints s-1` lists them"), "{}", ran.err);
    let third = bench.session(&["checkpoint", "s-1"]).expect(0).out.trim().to_owned();
    bench.session(&["commit", "s-1", &third]).expect(0);
    let ran = bench.session(&["prune", "s-1", "--keep", "0"]).expect(0);
    assert!(ran.out.contains("removed 1 checkpoint"), "{}", ran.out);
    let incidents = bench.session(&["incidents", "s-1", "--type", "rollback", "--since", "1h"]).expect(0).out;
    assert!(incidents.lines().count() == 2 && incidents.contains("it went wrong"), "{incidents}");
    let incidents = bench.session(&["incidents", "s-1", "--format", "json"]).expect(0).json();
    assert_eq!(incidents["incidents"][0]["type"], "rollback");
    assert_eq!(bench.session(&["incidents", "s-1", "--since", "2999-01-01"]).expect(0).out, "no incidents\n");
    bench.session(&["incidents", "s-1", "--type", "rolback"]).expect(2);
}

#[test]
fn a_reset_session_is_archived_as_a_separate_session() {
    let bench = Bench::greeted("s-1");
    let ran = bench.session(&["reset", "s-1", "--archive", "--yes"]).expect(0);
    assert_eq!(ran.out, "✓ s-1: started over; 1 message kept as session s-1.archive-1, 0 messages left\n");
    assert_eq!((bench.messages("s-1"), bench.messages("s-1.archive-1")), (String::new(), format!("{HELLO}\n")));
    let ran = bench.session(&["fork", "s-1.archive-1", "s-2"]).expect(0);
    assert_eq!(ran.out, "✓ s-2: 1 message of s-1.archive-1\n");
    assert!(bench.session(&["show", "s-2"]).expect(0).out.contains("from       s-1.archive-1 at record 2"));
}

#[test]
fn calls_that_a_crash_left_open_are_listed_and_closed() {
    let bench = Bench::greeted("s-1");
    let store = bench.store();
    block_on(async {
        let options = OpenOptions { recover: false, ..OpenOptions::default() };
        let mut session = Session::open(store, "s-1".parse().unwrap(), options).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[CALL], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_2".into()).await.unwrap();
        let output = ToolOutput { output: "sent".to_owned(), is_error: false };
        session.finish_call(&cycle, &"toolu_2".into(), &output).await.unwrap();
        session.close().await.unwrap();
    });
    let ran = bench.session(&["repair", "s-1"]).expect(2);
    assert!(ran.err.contains("hint: `seamline session recover s-1`"), "{}", ran.err);
    for command in ["check", "request"] {
        let ran = bench.session(&[command, "s-1"]).expect(0);
        assert!(ran.err.contains("an open cycle has tool calls that ran or may have run"), "{}", ran.err);
    }
    for command in [&["rollback", "s-1"][..], &["reset", "s-1", "--archive", "--yes"]] {
        let ran = bench.session(command).expect(2);
        assert!(ran.err.contains("this would roll it back") && ran.err.contains("session recover s-1"), "{}", ran.err);
    }
    let ran = bench.session(&["fork", "s-1", "s-9"]).expect(0);
    assert!(ran.err.contains("an open cycle has tool calls that ran or may have run"), "{}", ran.err);
    let shown = bench.session(&["show", "s-1"]).expect(0).out;
    for part in ["open cycles", "started; its outcome is unknown", "finished; its result is stored", "never started"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let listed = bench.session(&["recover", "s-1", "--dry-run", "--format", "json"]).expect(0).json();
    assert_eq!(listed["calls"][0]["known"], "outcome_unknown");
    assert_eq!(bench.messages("s-1").lines().count(), 1);
    let ran = bench.session(&["recover", "s-1"]).expect(0);
    assert!(ran.out.contains("closed 1 cycle; the outcome of 1 call is unknown"), "{}", ran.out);
    let messages = bench.messages("s-1");
    assert!(messages.lines().count() == 3 && messages.contains("sent"), "{messages}");
    bench.session(&["check", "s-1"]).expect(0);
    assert_eq!(bench.session(&["recover", "s-1"]).expect(0).out, "✓ s-1: no cycle is open\n");
}

#[test]
fn a_session_is_copied_to_another_store_byte_for_byte() {
    let bench = Bench::greeted("s-1");
    bench.append("s-1", ODD).expect(0);
    bench.session(&["checkpoint", "s-1"]).expect(0);
    let exported = bench.session(&["export", "s-1"]).expect(0).out;
    bench.session(&["export", "s-1", "--output", "s-1.jsonl"]).expect(0);
    assert_eq!(bench.read("s-1.jsonl"), exported);
    let ran = bench.session(&["import", "s-1.jsonl", "--store", "sqlite:other.db"]).expect(0);
    assert_eq!(ran.out, "✓ s-1: imported 4 commits with 4 records\n");
    assert_eq!(bench.session(&["export", "s-1", "--store", "sqlite:other.db"]).expect(0).out, exported);
    bench.session(&["verify", "--store", "sqlite:other.db"]).expect(0);
    bench.run_on(HELLO, &["session", "append", "s-1", "--store", "sqlite:other.db"]).expect(0);
    bench.session(&["import", "s-1.jsonl"]).expect(2);

    let (start, end) = exported.trim_end().rsplit_once('\n').unwrap();
    let shorter = format!("{}\n{end}", start.rsplit_once('\n').unwrap().0);
    for (wrong, why) in [
        (start.to_owned(), "without the last line of an export"),
        (shorter, "its last line says record 4 of commit 4"),
        (
            exported.replace("hello", "hallo"),
            "cannot import commit 2 of session `s-1`: the bytes are not those that were sealed",
        ),
        (exported.replacen("{\"v\"", "{ \"v\"", 1), "commit 1 of session `s-1`"),
        (exported[..200].to_owned(), "not an export: after commit 0"),
        (String::new(), "the file is empty"),
    ] {
        let ran = bench.run_on(&wrong, &["session", "import", "-", "--store", "sqlite:refused.db"]).expect(2);
        assert!(ran.err.contains(why) && !bench.path("refused.db").exists(), "{why} in {}", ran.err);
    }
}

#[test]
fn an_altered_byte_is_detected_and_never_shown() {
    let bench = Bench::greeted("s-1");
    bench.append("s-1", r#"{"role":"user","content":"a secret word"}"#).expect(0);
    bench.session(&["new", "s-2"]).expect(0);
    let verified = bench.session(&["verify"]).expect(0).out;
    assert!(
        verified.ends_with(": all as they were written\n") && verified.contains("✓ 2 sessions, 4 commits"),
        "{verified}"
    );
    let path = bench.path("state/seamline/sessions.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(6).position(|window| window == b"secret").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();

    let ran = bench.session(&["verify", "s-1"]).expect(1);
    assert!(
        ran.out.contains("✗ s-1: damaged (3 commits") && ran.out.contains("the commit at record 3 was altered"),
        "{}",
        ran.out
    );
    let ran = bench.session(&["verify", "--format", "json"]).expect(1).json();
    assert_eq!(
        (
            ran["sessions"][0]["damages"].as_array().unwrap().len(),
            ran["sessions"][1]["damages"].as_array().unwrap().len()
        ),
        (1, 0)
    );
    let shown = bench.session(&["show", "s-1"]).expect(1).out;
    assert!(shown.contains("health     degraded") && !shown.contains("word"), "{shown}");
    let ran = bench.session(&["export", "s-1"]).expect(2);
    assert!(ran.err.contains("is damaged"), "{}", ran.err);
    let ran = bench.session(&["fork", "s-1", "s-3"]).expect(1);
    assert!(ran.err.contains("session `s-1` is degraded"), "{}", ran.err);
    let ran = bench.session(&["verify", "s-3"]).expect(1);
    assert!(ran.out.contains("is a fork of `s-1`, which had lost records"), "{}", ran.out);
    // A writer continues after the lost commits, and the altered bytes are quarantined.
    bench.append("s-1", ODD).expect(0);
    let exported = bench.session(&["export", "s-1", "--messages"]).expect(1).out;
    assert_eq!(exported, format!("{HELLO}\n{ODD}\n"));
    let shown = bench.session(&["show", "s-1"]).expect(1).out;
    assert!(shown.contains("quarantine 1 piece of damaged bytes") && shown.contains("critical"), "{shown}");

    std::fs::write(&path, b"nothing of the kind, only some text that is long enough").unwrap();
    let ran = bench.session(&["verify"]).expect(1);
    assert!(ran.out.contains(": damaged\n"), "{}", ran.out);
    bench.session(&["show", "s-1"]).expect(2);
}

#[test]
fn a_killed_writer_loses_no_acknowledged_write() {
    let bench = Bench::greeted("s-1");
    let mut acknowledged = 1;
    for round in 0..40 {
        let message = format!("{{\"role\":\"user\",\"content\":\"{round}\"}}");
        let path = bench.write(format!("{round}.json"), &message);
        let mut command = bench.command(&["session", "append", "s-1", path.to_str().unwrap()]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        // The kill hits every moment from before the start to after the end.
        std::thread::sleep(Duration::from_micros(round * 700));
        child.kill().unwrap();
        acknowledged += usize::from(child.wait().unwrap().success());
    }
    bench.session(&["verify"]).expect(0);
    let kept = bench.messages("s-1").lines().count();
    assert!((acknowledged..=41).contains(&kept), "{acknowledged} acknowledged, {kept} kept");
    // The next writer does not wait for the killed one.
    bench.append("s-1", HELLO).expect(0);
}

#[test]
fn another_writer_keeps_the_lease_unless_it_is_taken_over() {
    let bench = Bench::greeted("s-1");
    let open = Session::open(bench.store(), "s-1".parse().unwrap(), OpenOptions::default());
    let mut session = block_on(open).unwrap();
    let ran = bench.append("s-1", HELLO).expect(2);
    assert!(
        ran.err.contains("cannot open session `s-1`: process") && ran.err.contains("hint: `--take-over`"),
        "{}",
        ran.err
    );
    for args in [&["show", "s-1"][..], &["check", "s-1"], &["fork", "s-1", "s-2"], &["verify"], &["request", "s-1"]] {
        bench.session(args).expect(0);
    }
    let ran = bench.session(&["erase", "s-1", "--yes"]).expect(2);
    assert!(
        ran.err.contains("cannot open session `s-1`: process") && ran.err.contains("hint: `--take-over`"),
        "{}",
        ran.err
    );
    block_on(session.append(ODD)).unwrap();
    bench.run_on(HELLO, &["session", "append", "s-1", "--take-over"]).expect(0);
    let fenced = block_on(session.append(HELLO)).unwrap_err();
    assert!(matches!(fenced, SessionError::Store(Error::Fenced { .. })), "{fenced}");
    assert_eq!(bench.messages("s-1"), format!("{HELLO}\n{ODD}\n{HELLO}\n"));
    let ran = bench.session(&["incidents", "s-1", "--type", "taken_over"]).expect(0);
    let expected = format!("taken over from process {}", std::process::id());
    assert!(ran.on_one_line().contains(&expected), "{}", ran.out);
}

#[test]
fn new_messages_are_printed_as_they_come() {
    let bench = Bench::greeted("s-1");
    let mut command = bench.command(&["session", "tail", "s-1", "--follow"]);
    let mut tail = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().ends_with("hello"));
    bench.session(&["checkpoint", "s-1"]).expect(0);
    bench.append("s-1", ODD).expect(0);
    assert!(lines.next().unwrap().ends_with("café"));
    bench.session(&["rollback", "s-1"]).expect(0);
    assert_eq!(lines.next().unwrap(), "⋮ 1 message undone or replaced");
    // After the reader closed the pipe, it ends at the next message.
    drop(lines);
    bench.append("s-1", HELLO).expect(0);
    assert!(tail.wait().unwrap().success());
}

#[test]
fn erased_messages_are_gone_from_the_file() {
    let bench = Bench::greeted("s-1");
    bench.session(&["new", "s-2"]).expect(0);
    let has_it = || {
        bench.names("state/seamline").iter().any(|name| {
            let bytes = std::fs::read(bench.path("state/seamline").join(name)).unwrap();
            bytes.windows(5).any(|window| window == b"hello")
        })
    };
    assert!(has_it());
    let ran = bench.session(&["erase", "s-1"]).expect(2);
    assert!(ran.err.contains("2 commits with") && ran.err.contains("hint: `--yes`"), "{}", ran.err);
    let ran = bench.session(&["erase", "s-1", "--yes"]).expect(0);
    assert!(ran.out.contains("removed 2 commits") && ran.out.contains("SSD"), "{}", ran.out);
    assert!(!has_it());
    let ran = bench.session(&["new", "s-1"]).expect(2);
    assert!(ran.err.contains("was erased"), "{}", ran.err);
    bench.session(&["show", "s-2"]).expect(0);
}

#[test]
fn a_closed_output_causes_no_panic() {
    let bench = Bench::greeted("s-1");
    let store = bench.store();
    block_on(async {
        let options = SessionOptions { title: Some("long".to_owned()), ..SessionOptions::default() };
        let mut session = Session::create(store, "s-2".parse().unwrap(), options).await.unwrap();
        let many = vec![HELLO; 5_000];
        session.append_all(&many).await.unwrap();
        session.close().await.unwrap();
    });
    for args in [&["show", "s-2", "--messages"][..], &["show", "s-2", "--records"], &["export", "s-2"], &["list"]] {
        let mut command = bench.command(&[&["session"], args].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ran: Ran = child.wait_with_output().unwrap().into();
        assert!(ran.err.is_empty() && matches!(ran.code, Some(0 | 2)), "{ran:?}");
    }
}
