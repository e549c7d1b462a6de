//! goose: messages are rows, which the second of their creation and their ids order.

use crate::bed::{Bed, findings};

const SCHEMA: &str = "
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL DEFAULT '',
  description TEXT NOT NULL DEFAULT '',
  session_type TEXT NOT NULL DEFAULT 'user',
  working_dir TEXT NOT NULL,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  accumulated_total_tokens INTEGER,
  accumulated_cost REAL,
  provider_name TEXT,
  model_config_json TEXT
);
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id TEXT,
  session_id TEXT NOT NULL REFERENCES sessions(id),
  role TEXT NOT NULL,
  content_json TEXT NOT NULL,
  created_timestamp INTEGER NOT NULL,
  timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  tokens INTEGER,
  metadata_json TEXT
);
CREATE INDEX idx_messages_session ON messages(session_id);
INSERT INTO sessions VALUES ('20260102_1', 'Tidy up', '', 'user', '/srv/ada/app', '2026-01-02 03:04:05', '2026-01-02 03:05:06',
  99, 0.5, 'openai', '{\"model_name\":\"m-1\"}');
INSERT INTO sessions VALUES ('20260102_2', '', 'other', 'sub_agent', '/', '2026-01-01 00:00:00', '2026-01-01 00:00:00', 1, 0.1,
  NULL, NULL);
";

const VISIBLE: &str = r#"{"userVisible":true,"agentVisible":true}"#;
const HIDDEN: &str = r#"{"userVisible":true,"agentVisible":false}"#;

struct Talk {
    sql: String,
    id: usize,
    time: usize,
}

impl Talk {
    fn new() -> Self {
        Self { sql: String::new(), id: 0, time: 100 }
    }

    fn row(mut self, role: &str, content: &str, metadata: &str) -> Self {
        self.id += 1;
        let (id, time, content) = (self.id, self.time, content.replace('\'', "''"));
        self.sql += &format!(
            "INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, timestamp, metadata_json)
             VALUES ('msg_{id}', '20260102_1', '{role}', '{content}', {time}, '2026-01-02 03:04:05', '{metadata}');\n"
        );
        self
    }

    fn user(self, text: &str) -> Self {
        self.row("user", &format!(r#"[{{"type":"text","text":"{text}"}}]"#), VISIBLE)
    }

    fn assistant(self, content: &str) -> Self {
        self.row("assistant", content, VISIBLE)
    }

    fn result(self, id: &str) -> Self {
        self.row("user", &result(id), VISIBLE)
    }

    /// Lets the following rows be created in the next second.
    fn later(mut self) -> Self {
        self.time += 1;
        self
    }

    fn bed(&self) -> Bed {
        let other = "INSERT INTO messages (session_id, role, content_json, created_timestamp, timestamp)
            VALUES ('20260102_2', 'user', '[]', 1, 1);";
        Bed::new(&[SCHEMA, &self.sql, other])
    }
}

fn text(text: &str) -> String {
    format!(r#"[{{"type":"text","text":"{text}"}}]"#)
}

fn call(id: &str) -> String {
    format!(
        r#"[{{"type":"toolRequest","id":"{id}","toolCall":{{"status":"success","value":{{"name":"shell","arguments":{{"command":"ls"}}}}}},"_meta":{{"goose_extension":"developer"}}}}]"#
    )
}

fn result(id: &str) -> String {
    format!(
        r#"[{{"type":"toolResponse","id":"{id}","toolResult":{{"status":"success","value":{{"content":[{{"type":"text","text":"a.rs","annotations":{{"priority":0.0}}}}],"isError":false}}}}}}]"#
    )
}

/// A database with a healthy session.
pub(crate) fn healthy() -> Bed {
    let said = |words: &str| format!(r#"[{{"type":"text","text":"{words}"}}]"#);
    Talk::new()
        .user("list the files")
        .assistant(&call("c1"))
        .result("c1")
        .assistant(&said("One file."))
        .later()
        .user("read it then")
        .assistant(&call("c2"))
        .result("c2")
        .assistant(&call("c3"))
        .result("c3")
        .assistant(&said("All done."))
        .bed()
}

const SESSION: &str = "20260102_1";
const ORDERED: &str = "SELECT group_concat(content_json ->> '$[0].type', ' ') FROM
    (SELECT * FROM messages WHERE session_id = '20260102_1' ORDER BY created_timestamp, id)";

#[test]
fn healthy_sessions_have_no_findings() {
    let both = format!("{},{}", call("c3").trim_end_matches(']'), call("c4").trim_start_matches('['));
    let results = format!("{},{}", result("c3").trim_end_matches(']'), result("c4").trim_start_matches('['));
    let failed = r#"[{"type":"toolResponse","id":"c5","toolResult":{"status":"error","error":"denied"}}]"#;
    let unread = r#"[{"type":"toolRequest","id":"c6","toolCall":{"status":"error","error":"invalid"}}]"#;
    let bed = Talk::new()
        .row("user", &text("hidden by a compaction"), HIDDEN)
        .row("assistant", &call("c0"), HIDDEN)
        .user("a summary")
        .assistant(&text("I look."))
        .assistant(&call("c1"))
        .result("c1")
        .assistant(&call("c2"))
        .result("c2")
        .later()
        .assistant(&both)
        .row("user", &results, VISIBLE)
        .assistant(&call("c5"))
        .row("user", failed, VISIBLE)
        .assistant(unread)
        .result("c6")
        .row("user", "[]", VISIBLE)
        .assistant(r#"[{"type":"thinking","thinking":"hm","signature":"s"}]"#)
        .assistant(&text("Done."))
        .bed();
    bed.assert_healthy(SESSION);
    let checked = bed.check(SESSION).checked;
    assert_eq!((checked.messages, checked.calls), (14, 6));
    assert_eq!(checked.about.model.as_deref(), Some("m-1"));
    assert!(!checked.about.is_running);
    let sessions = bed.open().sessions().unwrap();
    let shown: Vec<_> = sessions.iter().map(|row| (row.id.as_str(), row.title.as_deref(), row.is_subagent)).collect();
    assert_eq!(shown, [(SESSION, Some("Tidy up"), false), ("20260102_2", Some("other"), true)]);
    assert_eq!(sessions[0].updated_ms, Some(1_767_323_106_000));
}

#[test]
fn an_unanswered_call_at_the_end_gets_a_result() {
    let bed = Talk::new().user("look").assistant(&call("c1")).bed();
    assert!(bed.check(SESSION).checked.about.is_running);
    let before = bed.dump();
    assert_eq!(findings(&bed.check(SESSION)), ["PAIR001 messages 2"]);
    let journal = bed.fix(SESSION);
    assert_eq!(journal.counters, [("messages".to_owned(), Some(3), Some(4))]);
    let new = "SELECT role || created_timestamp || metadata_json || timestamp FROM messages WHERE id = 4";
    assert_eq!(bed.value(new), format!("user100{VISIBLE}2026-01-02 03:04:05"));
    assert!(bed.value("SELECT content_json FROM messages WHERE id = 4").contains("unknown"));
    bed.undo(&journal, &before);
}

#[test]
fn a_row_that_cannot_be_read_remains_a_finding() {
    let broken = r#"[{"type":"toolRes"#;
    let bed = Talk::new().user("look").assistant(&call("c1")).row("user", broken, VISIBLE).user("go on").bed();
    let codes = |all: &[seamline::Finding]| all.iter().map(|found| found.code).collect::<Vec<_>>();
    assert_eq!(codes(&bed.check(SESSION).checked.findings), ["PAIR001", "FILE005"]);
    let repaired = bed.repair(SESSION).repaired;
    assert_eq!(codes(&repaired.remaining), ["FILE005"]);
}

#[test]
fn a_result_between_messages_of_one_second_finds_its_place() {
    let bed =
        Talk::new().user("look").assistant(&call("c1")).user("and?").assistant(&text("Well.")).later().user("x").bed();
    let before = bed.dump();
    assert_eq!(findings(&bed.check(SESSION)), ["PAIR001 messages 2"]);
    let journal = bed.fix(SESSION);
    let order = bed.value(ORDERED);
    assert_eq!(order, "text toolRequest toolResponse text text text");
    // The rows of the same second get new ids, and the later one keeps its own.
    assert_eq!(bed.value("SELECT group_concat(id) FROM (SELECT id FROM messages ORDER BY id)"), "1,2,5,6,7,8,9");
    bed.undo(&journal, &before);
}

#[test]
fn a_result_that_was_lost_gets_its_id_again() {
    let bed = Talk::new().user("look").assistant(&call("c1")).result("c1").assistant(&text("Done.")).bed();
    bed.connection().execute("DELETE FROM messages WHERE id = 3", []).unwrap();
    let before = bed.dump();
    let journal = bed.fix(SESSION);
    assert_eq!((journal.changes.len(), journal.counters.len()), (1, 0));
    assert_eq!(bed.value("SELECT content_json ->> '$[0].type' FROM messages WHERE id = 3"), "toolResponse");
    bed.undo(&journal, &before);
}

#[test]
fn a_result_behind_its_second_needs_no_new_ids() {
    let bed = Talk::new().user("look").assistant(&call("c1")).later().user("and?").bed();
    let journal = bed.fix(SESSION);
    assert_eq!(journal.changes.len(), 1);
    assert!(bed.value(ORDERED).contains("toolRequest toolResponse text"));
}

#[test]
fn an_orphan_result_is_kept() {
    let bed = Talk::new().user("look").result("lost").assistant(&text("Done.")).bed();
    let before = bed.dump();
    assert_eq!(findings(&bed.check(SESSION)), ["PAIR002 messages 2"]);
    let journal = bed.fix(SESSION);
    assert!(bed.dump().contains("a.rs"));
    bed.undo(&journal, &before);
}

#[test]
fn a_displaced_result_moves_behind_its_call() {
    let bed = Talk::new()
        .user("look")
        .assistant(&call("c1"))
        .user("quick")
        .later()
        .result("c1")
        .later()
        .assistant(&text("Done."))
        .bed();
    let before = bed.dump();
    assert!(!findings(&bed.check(SESSION)).is_empty());
    let journal = bed.fix(SESSION);
    let order = bed.value(ORDERED);
    let (call, result) = (order.find("toolRequest").unwrap(), order.find("toolResponse").unwrap());
    assert!(call < result && !order[call..result].contains("text"), "{order}");
    bed.undo(&journal, &before);
}

#[test]
fn one_of_two_results_in_a_row_is_missing() {
    let both = format!("{},{}", call("c1").trim_end_matches(']'), call("c2").trim_start_matches('['));
    let bed = Talk::new().user("look").assistant(&both).result("c2").assistant(&text("Done.")).bed();
    let before = bed.dump();
    let journal = bed.fix(SESSION);
    assert!(bed.dump().contains("a.rs"));
    bed.undo(&journal, &before);
}
