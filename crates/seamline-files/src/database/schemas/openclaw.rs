//! The database of an agent of `OpenClaw`: a row for each record of a session.
//!
//! The records are those of the older logs. Long ones are compressed. Other tables repeat parts of them: the ids, the active
//! path, the text index.

mod active_path;
mod edits;

use rusqlite::{Connection, Row};

use super::super::cell::Cell;
use super::super::schema::{Listed, RowPlace, Schema, SessionRow};
use crate::packed;
use crate::programs::pi::{OPENCLAW, ROWS};

pub(super) static SCHEMA: Schema = Schema {
    program: &OPENCLAW,
    format: &ROWS,
    signs: &[("transcript_events", &["session_id", "seq", "event_json", "created_at"])],
    sessions,
    bytes: "SELECT sum(octet_length(event_json)) FROM transcript_events WHERE session_id = ?1",
    rows,
    text,
    edits: Some(edits::edits),
};

fn sessions(connection: &Connection) -> rusqlite::Result<Vec<SessionRow>> {
    let sql = "SELECT session_id, max(created_at) FROM transcript_events GROUP BY session_id";
    let read = |row: &Row<'_>| Ok(SessionRow { id: row.get(0)?, updated_ms: row.get(1)?, ..SessionRow::default() });
    connection.prepare_cached(sql)?.query_map([], read)?.collect()
}

fn rows(connection: &Connection, session: &str) -> rusqlite::Result<Vec<Listed>> {
    let sql = "SELECT seq FROM transcript_events WHERE session_id = ?1 ORDER BY seq";
    let mut statement = connection.prepare_cached(sql)?;
    let place = |row: &Row<'_>| {
        let key = vec![("session_id", Cell::Text(session.to_owned())), ("seq", row.get(0)?)];
        Ok(RowPlace { table: "transcript_events", key }.into())
    };
    statement.query_map([session], place)?.collect()
}

fn text(connection: &Connection, place: &RowPlace) -> rusqlite::Result<String> {
    let columns = super::columns(connection, "transcript_events", &["event_json", "event_zstd"])?;
    let sql =
        format!("SELECT {}, {} FROM transcript_events WHERE session_id = ?1 AND seq = ?2", columns[0], columns[1]);
    connection.prepare_cached(&sql)?.query_row([&place.key[0].1, &place.key[1].1], |row| {
        if let Some(text) = row.get::<_, Option<String>>(0)? {
            return Ok(text);
        }
        let packed = row.get::<_, Option<Vec<u8>>>(1)?.unwrap_or_default();
        // Bytes that cannot be unpacked are reported as a row that cannot be read.
        let text = packed::unpack(&packed).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(text.filter(|text| !text.is_empty()).unwrap_or_else(|| "unreadable event".to_owned()))
    })
}
