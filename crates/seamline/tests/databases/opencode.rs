//! opencode: a tool call and its result are one row.

use crate::bed::{Bed, findings};

pub(crate) const SCHEMA: &str = "
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL);
CREATE TABLE session (
  id text PRIMARY KEY,
  project_id text NOT NULL,
  parent_id text,
  slug text NOT NULL,
  directory text NOT NULL,
  title text NOT NULL,
  version text NOT NULL,
  cost real DEFAULT 0 NOT NULL,
  revert text,
  time_created integer NOT NULL,
  time_updated integer NOT NULL,
  time_compacting integer,
  time_archived integer,
  CONSTRAINT fk_session_project_id_project_id_fk FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);
CREATE TABLE message (
  id text PRIMARY KEY,
  session_id text NOT NULL,
  time_created integer NOT NULL,
  time_updated integer NOT NULL,
  data text NOT NULL,
  CONSTRAINT fk_message_session_id_session_id_fk FOREIGN KEY (session_id) REFERENCES session(id) ON DELETE CASCADE
);
CREATE TABLE part (
  id text PRIMARY KEY,
  message_id text NOT NULL,
  session_id text NOT NULL,
  time_created integer NOT NULL,
  time_updated integer NOT NULL,
  data text NOT NULL,
  CONSTRAINT fk_part_message_id_message_id_fk FOREIGN KEY (message_id) REFERENCES message(id) ON DELETE CASCADE
);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
INSERT INTO project VALUES ('global', '/srv/ada');
INSERT INTO session VALUES ('ses_1', 'global', NULL, 'calm-river', '/srv/ada/app', 'Fix the build', '1.18.33', 0.25, NULL,
  1000, 9000, NULL, NULL);
";

/// Adds messages and their parts: the id of each message is `msg_` and its number, those of parts count on.
pub(crate) struct Talk {
    sql: String,
    messages: usize,
    parts: usize,
}

impl Talk {
    pub(crate) fn new() -> Self {
        Self { sql: String::new(), messages: 0, parts: 0 }
    }

    pub(crate) fn message(mut self, info: &str, parts: &[&str]) -> Self {
        self.messages += 1;
        let (message, time) = (format!("msg_{:02}", self.messages), 1000 + self.messages * 10);
        let info = info.replacen('{', &format!("{{\"time\":{{\"created\":{time},\"completed\":{}}},", time + 5), 1);
        self.row("message", &message, None, &info);
        for part in parts {
            self.parts += 1;
            self.row("part", &format!("prt_{:02}", self.parts), Some(&message), part);
        }
        self
    }

    fn row(&mut self, table: &str, id: &str, message: Option<&str>, data: &str) {
        let message = message.map(|message| format!("'{message}', ")).unwrap_or_default();
        let data = data.replace('\'', "''");
        let time = 1000 + self.messages * 10;
        self.sql += &format!("INSERT INTO {table} VALUES ('{id}', {message}'ses_1', {time}, {time}, '{data}');\n");
    }

    pub(crate) fn user(self, text: &str) -> Self {
        let part = format!(r#"{{"type":"text","text":"{text}"}}"#);
        self.message(r#"{"role":"user","agent":"build","model":{"providerID":"p","modelID":"m-1"}}"#, &[&part])
    }

    pub(crate) fn assistant(self, parts: &[&str]) -> Self {
        let step = r#"{"type":"step-start","snapshot":"s"}"#;
        let parts: Vec<&str> = std::iter::once(step).chain(parts.iter().copied()).collect();
        self.message(r#"{"role":"assistant","parentID":"msg_01","modelID":"m-1","finish":"tool-calls"}"#, &parts)
    }

    pub(crate) fn bed(&self) -> Bed {
        Bed::new(&[SCHEMA, &self.sql])
    }
}

pub(crate) const TEXT: &str = r#"{"type":"text","text":"I look."}"#;

pub(crate) fn done(id: &str) -> String {
    format!(
        r#"{{"type":"tool","callID":"{id}","tool":"bash","state":{{"status":"completed","input":{{"command":"ls"}},"output":"a.rs","title":"ls","metadata":{{}},"time":{{"start":5,"end":6}}}}}}"#
    )
}

pub(crate) fn running(id: &str) -> String {
    format!(
        r#"{{"type":"tool","callID":"{id}","tool":"bash","state":{{"status":"running","input":{{"command":"make"}},"metadata":{{"output":"cc"}},"time":{{"start":7}}}},"extra":[1, 2]}}"#
    )
}

fn pending(id: &str) -> String {
    format!(
        r#"{{"type":"tool","callID":"{id}","tool":"write","state":{{"status":"pending","input":{{}},"raw":"{{\"pa"}}}}"#
    )
}

/// A database with a healthy session.
pub(crate) fn healthy() -> Bed {
    let said = r#"{"type":"text","text":"Built and tested."}"#;
    Talk::new()
        .user("build it")
        .assistant(&[TEXT, &done("c1"), &done("c2")])
        .assistant(&[&done("c3"), r#"{"type":"text","text":"Built."}"#])
        .user("test it too")
        .assistant(&[&done("c4"), said])
        .bed()
}

#[test]
fn healthy_sessions_have_no_findings() {
    let failed = r#"{"type":"tool","callID":"c3","tool":"read","state":{"status":"error","input":{"path":"x"},"error":"not found","time":{"start":1,"end":2}}}"#;
    let cut = r#"{"type":"tool","callID":"c4","tool":"bash","state":{"status":"error","input":{"command":"x"},"error":"Tool execution aborted","metadata":{"interrupted":true,"output":"partial"},"time":{"start":1,"end":2}}}"#;
    let reasoning = r#"{"type":"reasoning","text":"hm","metadata":{"anthropic":{"signature":"s"}}}"#;
    let bed = Talk::new()
        .user("list the files")
        .assistant(&[reasoning, TEXT, &done("c1"), &done("c2"), r#"{"type":"step-finish","reason":"tool-calls"}"#])
        .assistant(&[failed, cut])
        // A response that failed is not sent, whatever it holds.
        .message(r#"{"role":"assistant","error":{"name":"APIError","data":{}}}"#, &[TEXT, &running("c5")])
        .message(r#"{"role":"assistant","error":{"name":"MessageAbortedError","data":{}}}"#, &[TEXT])
        .message(r#"{"role":"assistant"}"#, &[r#"{"type":"step-start"}"#, r#"{"type":"text","text":""}"#])
        .user("go on")
        .assistant(&[r#"{"type":"text","text":"Done."}"#])
        .bed();
    bed.assert_healthy("ses_1");
    let checked = bed.check("ses_1").checked;
    assert_eq!((checked.messages, checked.calls), (10, 4));
    let about = checked.about;
    assert_eq!(about.title.as_deref(), Some("Fix the build"));
    assert_eq!(about.folder.as_deref(), Some("/srv/ada/app"));
    assert_eq!(about.model.as_deref(), Some("m-1"));
    assert!(!about.is_running);
    assert!(checked.body.contains(r#""tool_call_id":"c4","content":"partial""#) || checked.body.contains("partial"));
}

#[test]
fn an_unfinished_call_gets_an_error_and_keeps_its_input() {
    let bed =
        Talk::new().user("build it").assistant(&[TEXT, &done("c1"), &running("c2"), &pending("c3")]).user("and?").bed();
    let before = bed.dump();
    assert_eq!(findings(&bed.check("ses_1")), ["PAIR001 part prt_05"]);
    let journal = bed.fix("ses_1");
    assert_eq!(journal.changes.len(), 2);
    let state = |path: &str, id: &str| bed.value(&format!("SELECT data -> '{path}' FROM part WHERE id = '{id}'"));
    assert_eq!(state("$.state.status", "prt_05"), "\"error\"");
    assert_eq!(state("$.state.input", "prt_05"), r#"{"command":"make"}"#);
    assert_eq!(state("$.state.metadata", "prt_05"), r#"{"output":"cc"}"#);
    assert_eq!(state("$.state.time", "prt_05"), r#"{"start":7,"end":7}"#);
    assert!(state("$.state.error", "prt_05").contains("unknown"), "{}", state("$.state.error", "prt_05"));
    assert_eq!(state("$.state.time", "prt_06"), r#"{"start":1020,"end":1020}"#);
    assert_eq!(state("$.state.raw", "prt_06"), r#""{\"pa""#);
    assert_eq!(bed.value("SELECT data LIKE '%,\"extra\":[1, 2]}' FROM part WHERE id = 'prt_05'"), "1");
    bed.undo(&journal, &before);
}

#[test]
fn calls_with_one_id_get_different_ids() {
    let bed = Talk::new().user("ask").assistant(&[&done("c1"), &done("c1")]).user("go on").bed();
    let before = bed.dump();
    assert!(!findings(&bed.check("ses_1")).is_empty());
    let journal = bed.fix("ses_1");
    let ids = bed.value("SELECT count(DISTINCT data ->> '$.callID') FROM part WHERE data ->> '$.type' = 'tool'");
    assert_eq!(ids, "2");
    bed.undo(&journal, &before);
}

#[test]
fn messages_behind_an_undo_are_not_sent() {
    let talk = Talk::new().user("one").assistant(&[TEXT]).user("two").assistant(&[TEXT, &running("c1")]);
    let bed = talk.bed();
    assert_eq!(findings(&bed.check("ses_1")), ["PAIR001 part prt_07"]);
    let revert = |json: &str| {
        bed.connection().execute("UPDATE session SET revert = ?1", [json]).unwrap();
        bed.assert_healthy("ses_1");
        bed.check("ses_1").checked.messages
    };
    assert_eq!(revert(r#"{"messageID":"msg_03","snapshot":"x"}"#), 2);
    assert_eq!(revert(r#"{"messageID":"msg_04","partID":"prt_07"}"#), 4);
}

#[test]
fn messages_before_a_compaction_are_not_sent() {
    let asks = |tail: &str| format!(r#"{{"type":"compaction","auto":true{tail}}}"#);
    let talk = |tail: &str| {
        Talk::new()
            .user("one")
            .assistant(&[&running("c1")])
            .user("two")
            .assistant(&[TEXT])
            .message(r#"{"role":"user"}"#, &[&asks(tail)])
            .message(
                r#"{"role":"assistant","parentID":"msg_05","summary":true,"finish":"stop"}"#,
                &[r#"{"type":"text","text":"A summary."}"#],
            )
            .user("three")
            .bed()
    };
    let bed = talk("");
    bed.assert_healthy("ses_1");
    assert_eq!(bed.check("ses_1").checked.messages, 3);
    let bed = talk(r#","tail_start_id":"msg_03""#);
    bed.assert_healthy("ses_1");
    let body = bed.check("ses_1").checked.body;
    let order = ["What did we do so far?", "A summary.", "two", "I look.", "three"].map(|text| body.find(text));
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{body}");
    assert!(!body.contains("one"), "{body}");
}

#[test]
fn a_response_without_an_end_may_still_be_written() {
    let bed = Talk::new().user("one").bed();
    let data = r#"{"role":"assistant","time":{"created":2000}}"#;
    let sql = "INSERT INTO message VALUES ('msg_09', 'ses_1', 2000, 2000, ?1)";
    bed.connection().execute(sql, [data]).unwrap();
    assert!(bed.check("ses_1").checked.about.is_running);
}

#[test]
fn a_row_that_is_not_json_is_reported_and_stays() {
    let bed = Talk::new().user("one").assistant(&[TEXT, "{\"type\":\"te", &running("c1")]).bed();
    assert_eq!(findings(&bed.check("ses_1")), ["FILE005 part prt_04", "PAIR001 part prt_05"]);
    let repaired = bed.repair("ses_1");
    repaired.write(&bed.open(), &bed.backup(), &mut |_| Ok(())).unwrap();
    assert_eq!(findings(&bed.check("ses_1")), ["FILE005 part prt_04"]);
    assert_eq!(bed.value("SELECT data FROM part WHERE id = 'prt_04'"), "{\"type\":\"te");
}
