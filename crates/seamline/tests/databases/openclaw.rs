//! `OpenClaw`: one row for each record of a session, and long ones compressed.

use crate::bed::{Bed, findings};

/// The table of the events of version 2026.9.6, without its checks.
const EVENTS: &str = "
CREATE TABLE transcript_events (
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  event_json TEXT,
  created_at INTEGER NOT NULL,
  event_zstd BLOB,
  event_utf8_bytes INTEGER,
  navigation_json TEXT,
  PRIMARY KEY (session_id, seq)
);
";

/// The tables that repeat parts of the events.
const PROJECTION: &str = "
CREATE TABLE transcript_event_identities (
  session_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  event_type TEXT,
  parent_id TEXT,
  message_idempotency_key TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, event_id),
  FOREIGN KEY (session_id, seq) REFERENCES transcript_events(session_id, seq) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX idx_agent_transcript_message_idempotency
  ON transcript_event_identities(session_id, message_idempotency_key) WHERE message_idempotency_key IS NOT NULL;
CREATE TABLE session_transcript_index_state (
  session_id TEXT NOT NULL PRIMARY KEY,
  indexed_seq INTEGER NOT NULL,
  leaf_event_id TEXT,
  needs_rebuild INTEGER NOT NULL DEFAULT 0,
  active_event_count INTEGER NOT NULL DEFAULT 0,
  active_message_count INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE TABLE session_transcript_active_events (
  session_id TEXT NOT NULL,
  active_position INTEGER NOT NULL CHECK (active_position >= 0),
  event_seq INTEGER NOT NULL,
  message_position INTEGER CHECK (message_position IS NULL OR message_position >= 0),
  context_eligible INTEGER,
  PRIMARY KEY (session_id, active_position),
  FOREIGN KEY (session_id, event_seq) REFERENCES transcript_events(session_id, seq) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX idx_agent_transcript_active_event_seq ON session_transcript_active_events(session_id, event_seq);
CREATE UNIQUE INDEX idx_agent_transcript_active_messages
  ON session_transcript_active_events(session_id, message_position) WHERE message_position IS NOT NULL;
";

const HEADER: &str =
    r#"{"type":"session","version":4,"id":"s-1","timestamp":"2026-09-21T14:13:20.000Z","cwd":"/srv/a"}"#;
const USER: &str = r#"{"type":"message","id":"m1","parentId":null,"timestamp":"2026-09-21T14:13:21.000Z","message":{"role":"user","content":[{"type":"text","text":"list"}],"timestamp":1}}"#;
const CALL: &str = r#"{"type":"message","id":"m2","parentId":"m1","timestamp":"2026-09-21T14:13:22.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls","arguments":{}}],"stopReason":"toolUse","timestamp":2}}"#;
const RESULT: &str = r#"{"type":"message","id":"m3","parentId":"m2","timestamp":"2026-09-21T14:13:23.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"ls","content":[{"type":"text","text":"a b"}],"isError":false,"timestamp":3}}"#;
const NEXT: &str = r#"{"type":"message","id":"m4","parentId":"m2","timestamp":"2026-09-21T14:13:24.000Z","message":{"role":"user","content":[{"type":"text","text":"and?"}],"timestamp":4}}"#;

/// A database with these records in the session `s-1`. One of them is compressed, and the rows are not in their order.
fn bed(records: &[&str], compressed: Option<usize>) -> Bed {
    let bed = Bed::new(&[EVENTS, PROJECTION]);
    add(&bed, records, compressed);
    bed
}

fn add(bed: &Bed, records: &[&str], compressed: Option<usize>) {
    for (at, record) in records.iter().enumerate().rev() {
        let packed = (compressed == Some(at)).then(|| zstd::encode_all(record.as_bytes(), 3).unwrap());
        let text = (compressed != Some(at)).then_some(*record);
        let (seq, bytes) = (i64::try_from(at).unwrap(), i64::try_from(record.len()).unwrap());
        let sql = "INSERT INTO transcript_events VALUES ('s-1', ?1, ?2, ?3, ?4, ?5, NULL)";
        bed.connection().execute(sql, (seq, text, 1000 + seq, packed, bytes)).unwrap();
    }
}

/// A database with a healthy session.
pub(crate) fn healthy() -> Bed {
    let bed = Bed::new(&[EVENTS, PROJECTION]);
    let said = |id: &str, parent: &str, message: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-09-21T14:13:25.000Z","message":{message}}}"#
        )
    };
    let call = |id: &str| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"{id}","name":"ls","arguments":{{}}}}],"stopReason":"toolUse","timestamp":2}}"#
        )
    };
    let result = |id: &str, text: &str| {
        format!(
            r#"{{"role":"toolResult","toolCallId":"{id}","toolName":"ls","content":[{{"type":"text","text":"{text}"}}],"isError":false,"timestamp":3}}"#
        )
    };
    let text = |role: &str, text: &str| {
        format!(
            r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}],"stopReason":"stop","timestamp":4}}"#
        )
    };
    let records = [
        HEADER.to_owned(),
        USER.to_owned(),
        CALL.to_owned(),
        RESULT.to_owned(),
        said("m4", "m3", &text("assistant", "Two files.")),
        said("m5", "m4", &text("user", "look again")),
        said("m6", "m5", &call("c2")),
        said("m7", "m6", &result("c2", "c d")),
        said("m8", "m7", &call("c3")),
        said("m9", "m8", &result("c3", "e f")),
        said("m10", "m9", &text("assistant", "That is all.")),
    ];
    for (seq, record) in records.iter().enumerate() {
        add_at(&bed, seq, record);
    }
    bed
}

fn add_at(bed: &Bed, seq: usize, record: &str) {
    let seq = i64::try_from(seq).unwrap();
    let sql = "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES ('s-1', ?1, ?2, ?3)";
    bed.connection().execute(sql, (seq, record, 1000 + seq)).unwrap();
}

const IDENTITIES: &str = "SELECT group_concat(seq || ' ' || event_id || ' ' || coalesce(parent_id, '-'), ', ')
    FROM (SELECT * FROM transcript_event_identities ORDER BY seq)";
const ACTIVE: &str =
    "SELECT group_concat(active_position || ' ' || event_seq || ' ' || coalesce(message_position, '-'), ', ')
    FROM (SELECT * FROM session_transcript_active_events ORDER BY active_position)";
const STATE: &str =
    "SELECT indexed_seq || ' ' || leaf_event_id || ' ' || needs_rebuild || ' ' || active_event_count || ' ' ||
    active_message_count FROM session_transcript_index_state";

#[test]
fn healthy_sessions_have_no_findings() {
    let bed = bed(&[HEADER, USER, CALL, RESULT], Some(1));
    bed.assert_healthy("s-1");
    let checked = bed.check("s-1").checked;
    assert_eq!((checked.program.name, checked.messages, checked.calls), ("OpenClaw", 3, 1));
    assert_eq!(bed.open().sessions().unwrap()[0].updated_ms, Some(1003));
    healthy().assert_healthy("s-1");
}

#[test]
fn a_lost_result_is_replaced_and_all_tables_agree() {
    let bed = bed(&[HEADER, USER, CALL, NEXT], Some(1));
    // The row of the lost result is still named by others.
    bed.connection()
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
            INSERT INTO transcript_event_identities VALUES ('s-1', 'm1', 1, 'message', NULL, 'k', 7);
            INSERT INTO transcript_event_identities VALUES ('s-1', 'lost', 9, 'message', 'm2', NULL, 8);
            INSERT INTO session_transcript_active_events VALUES ('s-1', 0, 9, 0, 1);
            INSERT INTO session_transcript_index_state VALUES ('s-1', 9, 'lost', 0, 1, 1, 5);",
        )
        .unwrap();
    let before = bed.dump();
    assert_eq!(findings(&bed.check("s-1")), ["PAIR001 transcript_events s-1 2"]);
    let journal = bed.fix("s-1");
    let new = bed.value("SELECT event_json ->> '$.id' FROM transcript_events WHERE seq = 3");
    assert_eq!(bed.value(IDENTITIES), format!("0 s-1 -, 1 m1 -, 2 m2 m1, 3 {new} m2, 4 m4 {new}"));
    assert_eq!(bed.value(ACTIVE), "0 1 0, 1 2 1, 2 3 2, 3 4 3");
    assert_eq!(bed.value(STATE), "4 m4 0 4 4");
    let kept = "SELECT message_idempotency_key || created_at FROM transcript_event_identities WHERE event_id = 'm1'";
    assert_eq!(bed.value(kept), "k7");
    assert_eq!(bed.value("SELECT count(*) FROM pragma_foreign_key_check"), "0");
    assert_eq!(bed.value("SELECT event_zstd IS NOT NULL FROM transcript_events WHERE seq = 1"), "1");
    bed.undo(&journal, &before);
}

#[test]
fn a_lost_call_leaves_its_result_as_text() {
    let bed = bed(&[HEADER, USER, RESULT, NEXT], None);
    bed.connection().execute("UPDATE transcript_events SET seq = seq + 1 WHERE seq >= 3", []).unwrap();
    let journal = bed.fix("s-1");
    assert!(bed.value("SELECT event_json FROM transcript_events WHERE seq = 2").contains("a b"));
    assert_eq!(bed.value(STATE), "4 m4 0 3 3");
    assert!(!journal.changes.is_empty());
}

#[test]
fn a_database_with_other_tables_is_left_alone() {
    for sql in ["", "CREATE TABLE transcript_event_identities (session_id TEXT, event_id TEXT, more TEXT)"] {
        let bed = Bed::new(&[EVENTS, sql]);
        add(&bed, &[HEADER, USER, CALL, NEXT], None);
        let before = bed.dump();
        let repaired = bed.repair("s-1");
        assert!(!repaired.is_changed() && repaired.repaired.refusal.is_some(), "{sql}");
        assert_eq!(bed.dump(), before);
    }
}

#[test]
fn a_reset_begins_anew() {
    let reset = r#"{"type":"reset","id":"r1","parentId":"m2","timestamp":"2026-09-21T14:13:23.000Z"}"#;
    let next = NEXT.replace(r#""parentId":"m2""#, r#""parentId":"r1""#);
    let bed = bed(&[HEADER, USER, CALL, reset, &next], None);
    bed.assert_healthy("s-1");
    assert_eq!(bed.check("s-1").checked.messages, 1);
}

#[test]
fn a_row_that_cannot_be_unpacked_is_reported() {
    let bed = bed(&[HEADER, USER, CALL, RESULT], Some(1));
    bed.connection().execute("UPDATE transcript_events SET event_zstd = x'28b52ffd00' WHERE seq = 1", []).unwrap();
    assert!(findings(&bed.check("s-1")).contains(&"FILE005 transcript_events s-1 1".to_owned()));
}
