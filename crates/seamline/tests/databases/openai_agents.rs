//! The OpenAI Agents SDK: one row for each item of a conversation.

use crate::bed::{Bed, findings};

/// The tables of `SQLiteSession`, as version 0.24 of the SDK makes them.
const SCHEMA: &str = "
CREATE TABLE agent_sessions (
  session_id TEXT PRIMARY KEY,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE agent_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  message_data TEXT NOT NULL,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  FOREIGN KEY (session_id) REFERENCES agent_sessions (session_id) ON DELETE CASCADE
);
CREATE INDEX idx_agent_messages_session_id ON agent_messages (session_id, id);
INSERT INTO agent_sessions VALUES ('s-1', '2026-01-01 00:00:00', '2026-01-01 00:00:09');
INSERT INTO agent_sessions VALUES ('s-2', '2026-01-01 00:00:00', '2026-01-01 00:00:05');
";

/// The table that `AdvancedSQLiteSession` adds.
const BRANCHES: &str = "
CREATE TABLE message_structure (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  message_id INTEGER NOT NULL,
  branch_id TEXT NOT NULL DEFAULT 'main',
  message_type TEXT NOT NULL,
  sequence_number INTEGER NOT NULL
);
";

const USER: &str = r#"{"role": "user", "content": "list the files"}"#;
const CALL: &str = r#"{"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}", "id": "fc_1", "status": "completed"}"#;
const RESULT: &str = r#"{"type": "function_call_output", "call_id": "c1", "output": "a b"}"#;
const SAID: &str = r#"{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Two files.", "annotations": []}]}"#;

/// A database with these items in the session `s-1`, and one item of another session between them.
fn bed(items: &[&str]) -> Bed {
    let mut sql = String::new();
    for (at, item) in items.iter().enumerate() {
        let item = item.replace('\'', "''");
        sql += &format!("INSERT INTO agent_messages VALUES (NULL, 's-1', '{item}', '2026-01-01 00:00:0{at}');\n");
        if at == 0 {
            sql += &format!("INSERT INTO agent_messages VALUES (NULL, 's-2', '{USER}', '2026-01-01 00:00:05');\n");
        }
    }
    Bed::new(&[SCHEMA, &sql])
}

/// A database with a healthy session.
pub(crate) fn healthy() -> Bed {
    let call = CALL.replace("c1", "c2").replace("fc_1", "fc_2");
    let result = RESULT.replace("c1", "c2").replace("a b", "second list");
    bed(&[USER, CALL, RESULT, SAID, r#"{"role": "user", "content": "and the others"}"#, &call, &result])
}

fn items(bed: &Bed) -> String {
    bed.value("SELECT group_concat(message_data, '\n') FROM (SELECT message_data FROM agent_messages WHERE session_id = 's-1' ORDER BY id)")
}

#[test]
fn healthy_sessions_have_no_findings() {
    let reasoning = r#"{"type": "reasoning", "id": "rs_1", "summary": []}"#;
    let bed = bed(&[USER, reasoning, CALL, RESULT, SAID]);
    bed.assert_healthy("s-1");
    bed.assert_healthy("s-2");
    let checked = bed.check("s-1").checked;
    assert_eq!((checked.program.name, checked.messages, checked.calls), ("OpenAI Agents SDK", 5, 1));
    assert_eq!((checked.dialect, checked.about.id.as_deref()), ("openai_responses", Some("s-1")));
    let sessions = bed.open().sessions().unwrap();
    let listed: Vec<_> = sessions.iter().map(|session| (session.id.as_str(), session.updated_ms)).collect();
    assert_eq!(listed, [("s-1", Some(1_767_225_609_000)), ("s-2", Some(1_767_225_605_000))]);
}

#[test]
fn a_call_without_a_result_gets_one_before_the_next_item() {
    let bed = bed(&[USER, CALL, SAID, USER]);
    let before = bed.dump();
    assert_eq!(findings(&bed.check("s-1")), ["PAIR001 agent_messages 3"]);
    let journal = bed.fix("s-1");
    let after = items(&bed);
    let lines: Vec<&str> = after.lines().collect();
    assert_eq!([lines[0], lines[1], lines[3], lines[4]], [USER, CALL, SAID, USER]);
    assert!(lines[2].contains("function_call_output") && lines[2].contains("\"c1\""), "{after}");
    assert_eq!(bed.value("SELECT id FROM agent_messages WHERE session_id = 's-2'"), "2");
    bed.undo(&journal, &before);
}

#[test]
fn a_lost_row_is_replaced_at_its_place() {
    let bed = bed(&[USER, CALL, RESULT, SAID]);
    bed.connection().execute("DELETE FROM agent_messages WHERE id = 4", []).unwrap();
    let before = bed.dump();
    let journal = bed.fix("s-1");
    assert_eq!(journal.changes.len(), 1);
    assert_eq!(bed.value("SELECT message_data LIKE '%output%' FROM agent_messages WHERE id = 4"), "1");
    bed.undo(&journal, &before);
}

#[test]
fn an_orphan_and_a_displaced_result_are_repaired() {
    let bed =
        bed(&[USER, RESULT, CALL, SAID, r#"{"type": "function_call_output", "call_id": "c9", "output": "lost"}"#]);
    let before = bed.dump();
    assert!(!findings(&bed.check("s-1")).is_empty());
    let journal = bed.fix("s-1");
    let after = items(&bed);
    assert!(after.contains("lost") && after.find(CALL).unwrap() < after.find(RESULT).unwrap(), "{after}");
    bed.undo(&journal, &before);
}

#[test]
fn sessions_with_branches_are_read_and_not_written() {
    let bed = bed(&[USER, CALL, RESULT, SAID, USER]);
    bed.connection().execute_batch(BRANCHES).unwrap();
    let place = |message: i64, branch: &str, number: i64| {
        let sql = "INSERT INTO message_structure (session_id, message_id, branch_id, message_type, sequence_number) VALUES ('s-1', ?1, ?2, 'item', ?3)";
        bed.connection().execute(sql, (message, branch, number)).unwrap();
    };
    for (message, number) in [(1, 0), (3, 1), (5, 2)] {
        place(message, "main", number);
    }
    place(1, "other", 1);
    let checked = bed.check("s-1");
    assert_eq!((checked.checked.messages, findings(&checked)), (3, vec!["PAIR001 agent_messages 3".to_owned()]));
    let repaired = bed.repair("s-1");
    assert!(!repaired.is_changed() && repaired.repaired.refusal.is_some());
    place(4, "main", 9);
    bed.connection().execute("UPDATE message_structure SET sequence_number = 10 WHERE message_id = 5", []).unwrap();
    bed.assert_healthy("s-1");
}
