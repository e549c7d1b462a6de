//! The database of `LangGraph`: a row for each checkpoint of a thread, and for each write of a step that is not finished.

use rusqlite::{Connection, Row};

use super::super::cell::Cell;
use super::super::msgpack;
use super::super::schema::{Listed, RowPlace, Schema, SessionRow};
use crate::json::{elements, members, quoted};
use crate::programs::langgraph::{PROGRAM, ROWS};

pub(super) static SCHEMA: Schema = Schema {
    program: &PROGRAM,
    format: &ROWS,
    signs: &[
        ("checkpoints", &["thread_id", "checkpoint_ns", "checkpoint_id", "type", "checkpoint"]),
        ("writes", &["thread_id", "checkpoint_ns", "checkpoint_id", "channel", "type", "value"]),
    ],
    sessions,
    bytes: "SELECT max(octet_length(checkpoint)) FROM checkpoints WHERE thread_id = ?1",
    rows,
    text: |_, place| Ok(place.to_string()),
    edits: None,
};

/// The threads. The checkpoints of subgraphs have a namespace and are not listed.
fn sessions(connection: &Connection) -> rusqlite::Result<Vec<SessionRow>> {
    let sql = "SELECT thread_id, max(checkpoint_id) FROM checkpoints WHERE checkpoint_ns = '' GROUP BY thread_id";
    let read = |row: &Row<'_>| {
        let newest: String = row.get(1)?;
        Ok(SessionRow { id: row.get(0)?, updated_ms: time_of(&newest), ..SessionRow::default() })
    };
    connection.prepare_cached(sql)?.query_map([], read)?.collect()
}

/// The time in the id of a checkpoint, which is a UUID of version 6: tenths of microseconds since 1582.
fn time_of(id: &str) -> Option<i64> {
    const UNIX_EPOCH_MS: i64 = 12_219_292_800_000;
    let digits: String = id.chars().filter(char::is_ascii_hexdigit).collect();
    let (high, version, low) = (digits.get(..12)?, digits.get(12..13)?, digits.get(13..16)?);
    let ticks = i64::from_str_radix(&[high, low].concat(), 16).ok().filter(|_| version == "6")?;
    Some(ticks / 10_000 - UNIX_EPOCH_MS)
}

/// A checkpoint, or a write of a step that is not finished.
struct Stored {
    place: RowPlace,
    form: Option<String>,
    value: Vec<u8>,
}

fn rows(connection: &Connection, thread: &str) -> rusqlite::Result<Vec<Listed>> {
    let sql = "SELECT checkpoint_id, type, checkpoint FROM checkpoints
               WHERE thread_id = ?1 AND checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let newest = statement.query_map([thread], |row| {
        let id: String = row.get(0)?;
        let place = RowPlace { table: "checkpoints", key: key(thread, &id) };
        Ok((Stored { place, form: row.get(1)?, value: bytes(row, 2)? }, id))
    })?;
    let mut rows = Vec::new();
    for found in newest {
        let (checkpoint, id) = found?;
        rows.extend(messages(thread, &checkpoint));
        for write in writes(connection, thread, &id)? {
            rows.extend(pending(&write));
        }
    }
    Ok(rows)
}

fn key(thread: &str, id: &str) -> Vec<(&'static str, Cell)> {
    vec![("thread_id", Cell::Text(thread.to_owned())), ("checkpoint_id", Cell::Text(id.to_owned()))]
}

fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<u8>> {
    Ok(match row.get::<_, Cell>(column)? {
        Cell::Blob(bytes) => bytes,
        Cell::Text(text) => text.into_bytes(),
        Cell::Null | Cell::Integer(_) | Cell::Real(_) => Vec::new(),
    })
}

/// The writes to the messages that wait for the end of their step.
fn writes(connection: &Connection, thread: &str, checkpoint: &str) -> rusqlite::Result<Vec<Stored>> {
    let sql = "SELECT task_id, idx, type, value FROM writes
               WHERE thread_id = ?1 AND checkpoint_ns = '' AND checkpoint_id = ?2 AND channel = 'messages'
               ORDER BY task_id, idx";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        let mut key = key(thread, checkpoint);
        key.extend([("task_id", row.get(0)?), ("idx", row.get(1)?)]);
        Ok(Stored { place: RowPlace { table: "writes", key }, form: row.get(2)?, value: bytes(row, 3)? })
    };
    statement.query_map([thread, checkpoint], read)?.collect()
}

/// The value of a row as JSON. Encrypted and pickled values cannot be read.
fn json(stored: &Stored) -> Result<Option<String>, ()> {
    match stored.form.as_deref() {
        Some("msgpack") => msgpack::to_json(&stored.value).map(Some).ok_or(()),
        Some("json") => String::from_utf8(stored.value.clone()).map(Some).map_err(|_| ()),
        _ => Ok(None),
    }
}

/// A description of a thread, and its messages, one record each.
fn messages(thread: &str, checkpoint: &Stored) -> Vec<Listed> {
    let row = |text: String| Listed { place: checkpoint.place.clone(), text: Some(text) };
    let state = match json(checkpoint) {
        Ok(state) => state.unwrap_or_default(),
        // The row is reported as one that cannot be read.
        Err(()) => return vec![row(describe(thread, None)), row("unreadable checkpoint".to_owned())],
    };
    let [values, time] = members(&state, &["channel_values", "ts"]).unwrap_or_default();
    let messages = values.and_then(|values| members(values, &["messages"]).ok()).and_then(|[messages]| messages);
    let messages = messages.and_then(elements).unwrap_or_default();
    let messages = messages.into_iter().filter(|message| message.starts_with('{'));
    std::iter::once(describe(thread, time)).chain(messages.map(str::to_owned)).map(row).collect()
}

fn describe(thread: &str, time: Option<&str>) -> String {
    let time = time.map(|time| format!(r#","ts":{time}"#)).unwrap_or_default();
    format!(r#"{{"thread_id":{}{time}}}"#, quoted(thread))
}

/// The messages of a step that is not finished, one record each.
fn pending(write: &Stored) -> Vec<Listed> {
    let Ok(Some(value)) = json(write) else { return Vec::new() };
    let messages = elements(&value).unwrap_or_else(|| vec![&value]);
    let record = |message: &str| format!(r#"{{"pending":{message}}}"#);
    messages.into_iter().map(|message| Listed { place: write.place.clone(), text: Some(record(message)) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_checkpoint_has_its_time() {
        assert_eq!(time_of("1f1e30f5-9eb2-6a0d-8003-f12f716e87aa"), Some(1_794_979_049_779));
        assert_eq!(time_of("x"), None);
    }
}
