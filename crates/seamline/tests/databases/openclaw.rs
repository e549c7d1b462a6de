//! `OpenClaw`: one row for each record of a session, and long ones compressed.

use crate::bed::{Bed, findings};

/// The table of version 2026.9.6, without those that repeat parts of it.
const SCHEMA: &str = "
CREATE TABLE transcript_events (
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  event_json TEXT,
  created_at INTEGER NOT NULL,
  event_zstd BLOB,
  event_utf8_bytes INTEGER,
  PRIMARY KEY (session_id, seq)
);
";

const HEADER: &str =
    r#"{"type":"session","version":4,"id":"s-1","timestamp":"2026-09-21T14:13:20.000Z","cwd":"/srv/a"}"#;
const USER: &str = r#"{"type":"message","id":"m1","parentId":null,"timestamp":"2026-09-21T14:13:21.000Z","message":{"role":"user","content":[{"type":"text","text":"list"}],"timestamp":1}}"#;
const CALL: &str = r#"{"type":"message","id":"m2","parentId":"m1","timestamp":"2026-09-21T14:13:22.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls","arguments":{}}],"stopReason":"toolUse","timestamp":2}}"#;
const RESULT: &str = r#"{"type":"message","id":"m3","parentId":"m2","timestamp":"2026-09-21T14:13:23.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"ls","content":[{"type":"text","text":"a b"}],"isError":false,"timestamp":3}}"#;
const NEXT: &str = r#"{"type":"message","id":"m4","parentId":"m2","timestamp":"2026-09-21T14:13:24.000Z","message":{"role":"user","content":[{"type":"text","text":"and?"}],"timestamp":4}}"#;

/// A database with these records in the session `s-1`. The second one is compressed, and the rows are not in their order.
fn bed(records: &[&str]) -> Bed {
    let bed = Bed::new(&[SCHEMA]);
    for (at, record) in records.iter().enumerate().rev() {
        let packed = (at == 1).then(|| zstd::encode_all(record.as_bytes(), 3).unwrap());
        let text = (at != 1).then_some(*record);
        let (seq, bytes) = (i64::try_from(at).unwrap(), i64::try_from(record.len()).unwrap());
        let sql = "INSERT INTO transcript_events VALUES ('s-1', ?1, ?2, ?3, ?4, ?5)";
        bed.connection().execute(sql, (seq, text, 1000 + seq, packed, bytes)).unwrap();
    }
    bed
}

#[test]
fn healthy_sessions_have_no_findings() {
    let bed = bed(&[HEADER, USER, CALL, RESULT]);
    bed.assert_healthy("s-1");
    let checked = bed.check("s-1").checked;
    assert_eq!((checked.program.name, checked.messages, checked.calls), ("OpenClaw", 3, 1));
    assert_eq!(bed.open().sessions().unwrap()[0].updated_ms, Some(1003));
}

#[test]
fn a_broken_session_is_found_and_left_alone() {
    let bed = bed(&[HEADER, USER, CALL, NEXT]);
    let before = bed.dump();
    assert_eq!(findings(&bed.check("s-1")), ["PAIR001 transcript_events s-1 2"]);
    let repaired = bed.repair("s-1");
    assert!(!repaired.changed());
    assert!(repaired.repaired.refusal.is_some_and(|why| why.contains("openclaw doctor")));
    assert_eq!(bed.dump(), before);
}

#[test]
fn a_row_that_cannot_be_unpacked_is_reported() {
    let bed = bed(&[HEADER, USER, CALL, RESULT]);
    bed.connection().execute("UPDATE transcript_events SET event_zstd = x'28b52ffd00' WHERE seq = 1", []).unwrap();
    assert!(findings(&bed.check("s-1")).contains(&"FILE005 transcript_events s-1 1".to_owned()));
}
