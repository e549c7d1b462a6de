//! The databases of programs: `doctor`, `check`, `fix` and `undo`.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::bench::{Bench, Ran};
use crate::session_files::age;

const TABLES: &str = "
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL,
  title text NOT NULL, version text NOT NULL, revert text, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
  time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
  time_updated integer NOT NULL, data text NOT NULL);
";

const OPENCODE: &str = "home/.local/share/opencode/opencode.db";
const GOOSE: &str = "home/.local/share/goose/sessions/sessions.db";

/// A tool call with the status that it has when its program is killed.
const RUNNING: &str = r#"{"type":"tool","callID":"c1","tool":"bash","state":{"status":"running","input":{"command":"make"},"time":{"start":7}}}"#;
const DONE: &str = r#"{"type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"a.rs","title":"ls","metadata":{},"time":{"start":5,"end":6}}}"#;

/// Makes a database of opencode with two broken sessions and a healthy one.
fn opencode(bench: &Bench) -> PathBuf {
    let path = bench.path(OPENCODE);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.execute_batch(TABLES).unwrap();
    for (number, tool) in [(1, RUNNING), (2, DONE), (3, RUNNING)] {
        let title = format!("Task {number}");
        connection
            .execute(
                "INSERT INTO session VALUES (?1, 'p', NULL, '/srv/ada', ?2, '1', NULL, 1000, 1770000000000)",
                (format!("ses_a{number}"), title),
            )
            .unwrap();
        for (at, role, part) in [(1, "user", r#"{"type":"text","text":"build it"}"#), (2, "assistant", tool)] {
            let info = format!(r#"{{"role":"{role}","time":{{"created":{at},"completed":9}},"modelID":"m"}}"#);
            let (session, message) = (format!("ses_a{number}"), format!("msg_{number}{at}"));
            connection
                .execute("INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)", (&message, &session, at, info))
                .unwrap();
            let id = format!("prt_{number}{at}");
            connection.execute("INSERT INTO part VALUES (?1, ?2, ?3, 1, 1, ?4)", (id, message, session, part)).unwrap();
        }
    }
    drop(connection);
    age(&path);
    path
}

/// Makes a database of goose with a broken session.
fn goose(bench: &Bench) -> PathBuf {
    let path = bench.path(GOOSE);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(&path).unwrap();
    let call = r#"[{"type":"toolRequest","id":"t1","toolCall":{"status":"success","value":{"name":"shell","arguments":{"command":"ls"}}}}]"#;
    connection
        .execute_batch(&format!(
            "CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '', working_dir TEXT NOT NULL,
               updated_at TIMESTAMP DEFAULT '2026-01-02 03:05:06');
             CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
               content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT 1);
             INSERT INTO sessions (id, working_dir) VALUES ('20260102_1', '/srv/ada');
             INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES
               ('20260102_1', 'user', '[{{\"type\":\"text\",\"text\":\"list them\"}}]', 1),
               ('20260102_1', 'assistant', '{call}', 1),
               ('20260102_1', 'user', '[{{\"type\":\"text\",\"text\":\"go on\"}}]', 1);"
        ))
        .unwrap();
    drop(connection);
    age(&path);
    path
}

/// All rows of a database, as text.
fn rows(path: &Path) -> String {
    let connection = Connection::open(path).unwrap();
    let mut names = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut all = String::new();
    for name in names {
        let mut table = connection.prepare(&format!("SELECT * FROM \"{name}\" ORDER BY 1")).unwrap();
        let columns = table.column_count();
        let mut found = table.query([]).unwrap();
        while let Some(row) = found.next().unwrap() {
            for at in 0..columns {
                let value: rusqlite::types::Value = row.get(at).unwrap();
                all.push_str(&[format!("{value:?}"), "|".to_owned()].concat());
            }
            all.push('\n');
        }
    }
    all
}

/// The rows, read from a copy so that the database and its times stay as they are.
fn rows_apart(bench: &Bench, path: &Path) -> String {
    let copy = bench.path("copy.db");
    for ending in ["", "-wal"] {
        let of = |path: &Path| PathBuf::from(format!("{}{ending}", path.display()));
        let _ = std::fs::remove_file(of(&copy));
        if of(path).exists() {
            std::fs::copy(of(path), of(&copy)).unwrap();
        }
    }
    let all = rows(&copy);
    std::fs::remove_file(copy).unwrap();
    all
}

fn doctor(bench: &Bench, args: &[&str]) -> Ran {
    bench.run(&[&["doctor", "--home", "home"], args].concat())
}

#[test]
fn doctor_describes_each_session_of_a_database() {
    let bench = Bench::new();
    let (opencode, goose) = (opencode(&bench), goose(&bench));
    let before = [std::fs::read(&opencode).unwrap(), std::fs::read(&goose).unwrap()];
    let ran = doctor(&bench, &[]).expect(1);
    let said = ran.on_one_line();
    for part in [
        "goose 1 0 1 1 unanswered-call; can be repaired",
        "opencode 3 1 2 2 unanswered-call; can be repaired",
        "✗ opencode · “Task 1”",
        "session ses_a1 folder /srv/ada you asked build it open call bash {\"command\":\"make\"}",
        "wrong PAIR001 unanswered-call (part prt_12)",
        "cd /srv/ada && opencode --session ses_a1",
        "session 20260102_1",
        "goose session --resume --session-id 20260102_1",
        "✗ 3 of 4 sessions are broken; `seamline doctor --home home --fix` repairs all of them",
    ] {
        assert!(said.contains(part), "{part}\n{}", ran.out);
    }
    let ran = doctor(&bench, &["ses_a3"]).expect(1);
    assert!(ran.out.starts_with("✗ opencode · “Task 3”"), "{}", ran.out);
    let ran = doctor(&bench, &["ses_a"]).expect(2);
    assert!(ran.err.contains("is part of the ids of 3 sessions") && ran.err.contains("ses_a2 in "), "{}", ran.err);
    let json = doctor(&bench, &["--agent", "goose", "--format", "json"]).expect(1).json();
    let session = &json["sessions"][0];
    assert_eq!(
        [&session["session"], &session["last_request"], &session["open_calls"][0]],
        ["20260102_1", "go on", "shell {\"command\":\"ls\"}"]
    );
    let ran = bench.run(&["doctor", "home"]).expect(1);
    assert!(ran.on_one_line().contains("3 of 4 sessions are broken"), "{}", ran.out);
    assert_eq!([std::fs::read(&opencode).unwrap(), std::fs::read(&goose).unwrap()], before);
    assert_eq!(bench.names("home/.local/share/opencode"), ["opencode.db"], "it only reads");
}

#[test]
fn a_row_that_cannot_be_read_is_named_and_not_continued() {
    let bench = Bench::new();
    let path = opencode(&bench);
    let connection = Connection::open(&path).unwrap();
    connection.execute("UPDATE part SET data = ?1 WHERE id = 'prt_12'", [&RUNNING[..70]]).unwrap();
    drop(connection);
    age(&path);
    for args in [&["ses_a1"][..], &["ses_a1", "--fix"]] {
        let ran = doctor(&bench, args).expect(1);
        let said = ran.on_one_line();
        for part in [
            "lost the content of part prt_12, which cannot be read and stays as it is",
            "rescue seamline salvage ",
            "opencode.db --session ses_a1",
        ] {
            assert!(said.contains(part), "{part}\n{}", ran.out);
        }
        assert!(!said.contains("opencode --session") && !said.contains("lost nothing"), "{}", ran.out);
    }
    let json = doctor(&bench, &["ses_a1", "--format", "json"]).expect(1).json();
    assert!(json["sessions"][0]["resume"].is_null(), "{json}");
}

#[test]
fn the_output_of_a_tool_that_was_running_is_kept() {
    let bench = Bench::new();
    let path = opencode(&bench);
    let running = RUNNING.replace(r#""time""#, r#""metadata":{"output":"3 of 9 built"},"time""#);
    let connection = Connection::open(&path).unwrap();
    connection.execute("UPDATE part SET data = ?1 WHERE id = 'prt_12'", [running]).unwrap();
    drop(connection);
    age(&path);
    let ran = bench.run(&["convert", OPENCODE, "--session", "ses_a1", "--to", "anthropic"]).expect(0);
    let kept = "Its output until then:\\n3 of 9 built";
    assert!(ran.out.contains(kept) && ran.out.contains("No result was recorded"), "{}", ran.out);
    bench.run(&["fix", OPENCODE, "--session", "ses_a1"]).expect(0);
    assert!(bench.run(&["convert", OPENCODE, "--session", "ses_a1", "--to", "anthropic"]).out.contains(kept));
    bench.run(&["check", OPENCODE, "--session", "ses_a1"]).expect(0);
}

#[test]
fn doctor_repairs_every_session_and_undo_restores_every_row() {
    let bench = Bench::new();
    let paths = [opencode(&bench), goose(&bench)];
    let before = paths.each_ref().map(|path| rows_apart(&bench, path));
    let times = paths.each_ref().map(|path| path.metadata().unwrap().modified().unwrap());
    let ran = doctor(&bench, &["--fix"]).expect(0);
    assert!(ran.on_one_line().ends_with("✓ repaired 3 of 3 broken sessions"), "{}", ran.out);
    assert_eq!(paths.each_ref().map(|path| path.metadata().unwrap().modified().unwrap()), times);
    let ran = doctor(&bench, &[]).expect(0);
    assert!(ran.out.ends_with("✓ 4 sessions, none is broken\n"), "{}", ran.out);
    assert!(rows_apart(&bench, &paths[0]).contains("No result was recorded"));
    let listed = bench.run(&["undo", "--list"]).expect(0);
    assert_eq!(listed.out.lines().count(), 2, "one repair for each database\n{}", listed.out);
    bench.run(&["undo", "home"]).expect(0);
    assert_eq!(paths.each_ref().map(|path| rows_apart(&bench, path)), before);
    let ran = bench.run(&["undo", OPENCODE]).expect(2);
    assert!(ran.err.contains("no repair of this file is known"), "{}", ran.err);
}

#[test]
fn check_and_fix_take_a_database_or_one_of_its_sessions() {
    let bench = Bench::new();
    let path = opencode(&bench);
    let ran = bench.run(&["check", OPENCODE]).expect(1);
    for part in
        ["a session of opencode, session ses_a1, “Task 1”", "opencode.db: part prt_12", "✗ 2 errors in 2 of 3 sessions"]
    {
        assert!(ran.on_one_line().contains(part), "{part}\n{}", ran.out);
    }
    let json = bench.run(&["check", OPENCODE, "--format", "json"]).expect(1).json();
    let sessions: Vec<_> = json["documents"].as_array().unwrap().iter().map(|one| &one["session"]).collect();
    assert_eq!(sessions, ["ses_a1", "ses_a2", "ses_a3"]);
    bench.run(&["check", OPENCODE, "--session", "a2"]).expect(0);
    let ran = bench.run(&["check", OPENCODE, "--session", "zz"]).expect(2);
    assert!(ran.err.contains("no session has `zz` in its id"), "{}", ran.err);

    let before = std::fs::read(&path).unwrap();
    let ran = bench.run(&["fix", "--diff", OPENCODE, "--session", "ses_a1"]).expect(0);
    for part in ["1 record changed", "part prt_12", "- …", "+ …", "nothing was changed"] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);

    let ran = bench.run(&["fix", OPENCODE, "--session", "ses_a1", "--report", "r.json"]).expect(0);
    for part in ["repaired; 1 finding fixed", "undoes it", "continue with `cd /srv/ada && opencode --session ses_a1`"] {
        assert!(ran.on_one_line().contains(part), "{part}\n{}", ran.out);
    }
    let report: serde_json::Value = serde_json::from_str(&bench.read("r.json")).unwrap();
    let document = &report["documents"][0];
    assert_eq!([&document["session"], &document["records"][0]["place"]], ["ses_a1", "part prt_12"]);
    let ran = bench.run(&["fix", OPENCODE]).expect(0);
    assert!(ran.on_one_line().ends_with("✓ repaired 1 of 3 sessions; no findings remain"), "{}", ran.out);
    let ran = bench.run(&["fix", OPENCODE, "--stdout"]).expect(2);
    assert!(ran.err.contains("leave `--stdout` out"), "{}", ran.err);
}

#[test]
fn a_database_in_use_is_not_written() {
    let bench = Bench::new();
    let path = opencode(&bench);
    let before = rows_apart(&bench, &path);
    let held = Connection::open(&path).unwrap();
    held.query_row("SELECT count(*) FROM part", [], |row| row.get::<_, i64>(0)).unwrap();
    let ran = bench.run(&["fix", OPENCODE]).expect(2);
    assert!(ran.err.contains("nothing was changed") && ran.err.contains("--force"), "{}", ran.err);
    let ran = doctor(&bench, &["--fix"]).expect(1);
    assert!(ran.on_one_line().contains("not written"), "{}", ran.out);
    drop(held);
    std::fs::File::options().append(true).open(&path).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
    let ran = bench.run(&["fix", OPENCODE]).expect(2);
    assert!(ran.err.contains("it changed"), "{}", ran.err);
    assert_eq!(rows_apart(&bench, &path), before);
    bench.run(&["fix", OPENCODE, "--force"]).expect(0);
}

#[test]
fn changes_in_the_log_beside_a_database_count() {
    let bench = Bench::new();
    let path = opencode(&bench);
    // A process that is killed leaves its last changes in the log.
    let open = Connection::open(&path).unwrap();
    open.execute("UPDATE part SET data = ?1 WHERE id = 'prt_22'", [RUNNING]).unwrap();
    let killed = bench.path("killed/opencode.db");
    std::fs::create_dir_all(killed.parent().unwrap()).unwrap();
    for ending in ["", "-wal"] {
        let [from, to] = [&path, &killed].map(|path| format!("{}{ending}", path.display()));
        std::fs::copy(from, &to).unwrap();
        age(Path::new(&to));
    }
    drop(open);
    let ran = bench.run(&["check", "killed/opencode.db"]).expect(1);
    let summary = "3 errors in 3 of 3 sessions; all can be fixed with `seamline fix killed/opencode.db`";
    assert!(ran.on_one_line().ends_with(summary), "{}", ran.out);
    let before = rows_apart(&bench, &killed);
    bench.run(&["fix", "killed/opencode.db"]).expect(0);
    bench.run(&["check", "killed/opencode.db"]).expect(0);
    bench.run(&["undo", "killed/opencode.db"]).expect(0);
    assert_eq!(rows_apart(&bench, &killed), before);
}

#[test]
fn undo_refuses_after_the_program_went_on() {
    let bench = Bench::new();
    let path = opencode(&bench);
    bench.run(&["fix", OPENCODE, "--session", "ses_a1"]).expect(0);
    let sql = "INSERT INTO message VALUES ('msg_19', ?1, 9, 9, '{\"role\":\"user\",\"time\":{\"created\":9}}')";
    Connection::open(&path).unwrap().execute(sql, ["ses_a2"]).unwrap();
    age(&path);
    bench.run(&["undo", OPENCODE]).expect(0);
    bench.run(&["fix", OPENCODE, "--session", "ses_a1"]).expect(0);
    Connection::open(&path).unwrap().execute(&sql.replace("19", "29"), ["ses_a1"]).unwrap();
    age(&path);
    let went_on = rows_apart(&bench, &path);
    let ran = bench.run(&["undo", OPENCODE]).expect(2);
    assert!(ran.err.contains("not undone: session `ses_a1` was changed after the repair"), "{}", ran.err);
    assert_eq!(rows_apart(&bench, &path), went_on);
    bench.run(&["undo", OPENCODE, "--force"]).expect(0);
    assert!(!rows_apart(&bench, &path).contains("No result was recorded"));
}
