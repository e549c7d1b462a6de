//! The database of `LangGraph`: a row for each checkpoint of a thread, and for each write of a step that is not finished.

use std::collections::HashMap;

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
    bytes: "SELECT max(octet_length(checkpoint)) FROM checkpoints
            WHERE thread_id = ?1 OR thread_id || '|' || checkpoint_ns = ?1",
    rows,
    text: |_, place| Ok(place.to_string()),
    edits: None,
};

/// The newest checkpoint of a namespace of a thread. The graph itself has an empty namespace. A subgraph has one of its own:
/// `node` if it keeps its state, or else `node:task`, which the next run of the node does not read again.
struct Newest {
    thread: String,
    namespace: String,
    id: String,
    /// The newest checkpoints of the graphs around it when it was written, by their namespaces.
    parents: HashMap<String, String>,
}

impl Newest {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let metadata = String::from_utf8(bytes(row, 3)?).unwrap_or_default();
        let parents = members(&metadata, &["parents"]).ok().and_then(|[parents]| parents);
        let parents = parents.and_then(|parents| serde_json::from_str(parents).ok()).unwrap_or_default();
        Ok(Self { thread: row.get(0)?, namespace: row.get(1)?, id: row.get(2)?, parents })
    }

    /// The id of the session: the thread, and the namespace of a subgraph.
    fn session(&self) -> String {
        if self.namespace.is_empty() { self.thread.clone() } else { format!("{}|{}", self.thread, self.namespace) }
    }

    /// Whether the graph may continue from it: the graphs around it are still where they were.
    fn is_continued(&self, all: &HashMap<(&str, &str), &str>) -> bool {
        let is_newest = |(namespace, id): (&String, &String)| {
            all.get(&(self.thread.as_str(), namespace.as_str())) == Some(&id.as_str())
        };
        !self.namespace.contains(':') || self.parents.iter().all(is_newest)
    }
}

/// The threads, and the subgraphs that a thread may continue. The checkpoints of other subgraphs are only history: the
/// graph has their outcome.
fn sessions(connection: &Connection) -> rusqlite::Result<Vec<SessionRow>> {
    let sql = "SELECT thread_id, checkpoint_ns, max(checkpoint_id), metadata FROM checkpoints
               GROUP BY thread_id, checkpoint_ns";
    let newest = connection.prepare_cached(sql)?.query_map([], Newest::of)?.collect::<rusqlite::Result<Vec<_>>>()?;
    let all = newest.iter().map(|one| ((one.thread.as_str(), one.namespace.as_str()), one.id.as_str())).collect();
    let continued = newest.iter().filter(|one| one.is_continued(&all));
    let row = |one: &Newest| SessionRow {
        id: one.session(),
        updated_ms: time_of(&one.id),
        is_subagent: !one.namespace.is_empty(),
        ..SessionRow::default()
    };
    Ok(continued.map(row).collect())
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

fn rows(connection: &Connection, session: &str) -> rusqlite::Result<Vec<Listed>> {
    let sql = "SELECT thread_id, checkpoint_ns, checkpoint_id, type, checkpoint FROM checkpoints
               WHERE thread_id = ?1 AND checkpoint_ns = '' OR thread_id || '|' || checkpoint_ns = ?1
               ORDER BY checkpoint_ns, checkpoint_id DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let newest = statement.query_map([session], |row| {
        let key = Key { thread: row.get(0)?, namespace: row.get(1)?, checkpoint: row.get(2)? };
        let place = RowPlace { table: "checkpoints", key: key.cells() };
        Ok((Stored { place, form: row.get(3)?, value: bytes(row, 4)? }, key))
    })?;
    let mut rows = Vec::new();
    for found in newest {
        let (checkpoint, key) = found?;
        rows.extend(messages(&key, &checkpoint));
        for write in writes(connection, &key)? {
            rows.extend(pending(&write));
        }
    }
    Ok(rows)
}

/// The columns that identify a checkpoint.
struct Key {
    thread: String,
    namespace: String,
    checkpoint: String,
}

impl Key {
    fn cells(&self) -> Vec<(&'static str, Cell)> {
        let columns =
            [("thread_id", &self.thread), ("checkpoint_ns", &self.namespace), ("checkpoint_id", &self.checkpoint)];
        let named = columns.into_iter().filter(|(_, value)| !value.is_empty());
        named.map(|(name, value)| (name, Cell::Text(value.clone()))).collect()
    }
}

fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<u8>> {
    Ok(match row.get::<_, Cell>(column)? {
        Cell::Blob(bytes) => bytes,
        Cell::Text(text) => text.into_bytes(),
        Cell::Null | Cell::Integer(_) | Cell::Real(_) => Vec::new(),
    })
}

/// The writes to the messages that wait for the end of their step.
fn writes(connection: &Connection, key: &Key) -> rusqlite::Result<Vec<Stored>> {
    let sql = "SELECT task_id, idx, type, value FROM writes
               WHERE thread_id = ?1 AND checkpoint_ns = ?2 AND checkpoint_id = ?3 AND channel = 'messages'
               ORDER BY task_id, idx";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        let mut cells = key.cells();
        cells.extend([("task_id", row.get(0)?), ("idx", row.get(1)?)]);
        Ok(Stored { place: RowPlace { table: "writes", key: cells }, form: row.get(2)?, value: bytes(row, 3)? })
    };
    statement.query_map([&key.thread, &key.namespace, &key.checkpoint], read)?.collect()
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
fn messages(key: &Key, checkpoint: &Stored) -> Vec<Listed> {
    let row = |text: String| Listed { place: checkpoint.place.clone(), text: Some(text) };
    let state = match json(checkpoint) {
        Ok(state) => state.unwrap_or_default(),
        // The row is reported as one that cannot be read.
        Err(()) => return vec![row(describe(key, None)), row("unreadable checkpoint".to_owned())],
    };
    let [values, time] = members(&state, &["channel_values", "ts"]).unwrap_or_default();
    let messages = values.and_then(|values| members(values, &["messages"]).ok()).and_then(|[messages]| messages);
    let messages = messages.and_then(elements).unwrap_or_default();
    let messages = messages.into_iter().filter(|message| message.starts_with('{'));
    std::iter::once(describe(key, time)).chain(messages.map(str::to_owned)).map(row).collect()
}

fn describe(key: &Key, time: Option<&str>) -> String {
    let time = time.map(|time| format!(r#","ts":{time}"#)).unwrap_or_default();
    let graph = match key.namespace.as_str() {
        "" => String::new(),
        namespace => format!(r#","checkpoint_ns":{}"#, quoted(namespace)),
    };
    format!(r#"{{"thread_id":{}{graph}{time}}}"#, quoted(&key.thread))
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
