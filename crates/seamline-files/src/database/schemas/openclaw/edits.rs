//! Writes the events of a session, and the tables that repeat parts of them.
//!
//! `OpenClaw` refuses a session whose tables disagree, and does not rebuild them by itself. The text index for searches is left
//! alone: a message that is not in it is only not found by a search.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::{Connection, params_from_iter};

use super::super::super::cell::Cell;
use super::super::super::open::columns_of;
use super::super::super::rows::NewRow;
use super::super::super::schema::{Plan, RowEdit, RowPlace};
use super::active_path::{ActivePath, active_path};
use crate::json::Object;

/// A table that a repair writes: its name, its columns, and how many of them are its key.
struct Table {
    name: &'static str,
    columns: &'static [&'static str],
    key: usize,
}

const EVENTS: Table = Table {
    name: "transcript_events",
    columns: &["session_id", "seq", "event_json", "created_at", "event_zstd", "event_utf8_bytes", "navigation_json"],
    key: 2,
};

const IDENTITIES: Table = Table {
    name: "transcript_event_identities",
    columns: &["session_id", "event_id", "seq", "event_type", "parent_id", "message_idempotency_key", "created_at"],
    key: 2,
};

const ACTIVE: Table = Table {
    name: "session_transcript_active_events",
    columns: &["session_id", "active_position", "event_seq", "message_position", "context_eligible"],
    key: 2,
};

const STATE: Table = Table {
    name: "session_transcript_index_state",
    columns: &[
        "session_id",
        "indexed_seq",
        "leaf_event_id",
        "needs_rebuild",
        "active_event_count",
        "active_message_count",
        "updated_at",
    ],
    key: 1,
};

/// A row: the cells of all columns.
type Cells = Vec<Cell>;

impl Table {
    /// Whether the database has this table with these columns. Other versions may need other values.
    fn is_known(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let mut found = columns_of(connection, self.name)?;
        found.sort_unstable();
        let mut known = self.columns.to_vec();
        known.sort_unstable();
        Ok(found == known)
    }

    /// The rows of a session by their keys.
    fn rows(&self, connection: &Connection, session: &Cell) -> rusqlite::Result<Vec<Cells>> {
        let sql = format!("SELECT {} FROM {} WHERE session_id = ?1", self.columns.join(", "), self.name);
        let mut statement = connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter([session]), |row| {
            (0..self.columns.len()).map(|column| row.get(column)).collect::<rusqlite::Result<Cells>>()
        })?;
        rows.collect()
    }

    fn place(&self, row: &[Cell]) -> RowPlace {
        let key = self.columns.iter().copied().zip(row.iter().cloned()).take(self.key).collect();
        RowPlace { table: self.name, key }
    }

    /// The changes that make the new rows of the old ones: rows that differ are removed and added again.
    fn replace(&self, old: &[Cells], new: &[Cells], edits: &mut Edits) {
        let key = |row: &Cells| format!("{:?}", &row[..self.key]);
        let wanted: HashMap<String, &Cells> = new.iter().map(|row| (key(row), row)).collect();
        let stays: HashSet<String> = old.iter().filter(|row| wanted.get(&key(row)) == Some(row)).map(key).collect();
        edits.removed.extend(
            old.iter().filter(|row| !stays.contains(&key(row))).map(|row| RowEdit::Delete { place: self.place(row) }),
        );
        edits.added.extend(new.iter().filter(|row| !stays.contains(&key(row))).map(|row| RowEdit::Insert {
            place: self.place(row),
            values: self.columns.iter().copied().zip(row.iter().cloned()).collect(),
        }));
    }
}

/// The changes: rows are removed before others are added in their places.
#[derive(Default)]
struct Edits {
    removed: Vec<RowEdit>,
    added: Vec<RowEdit>,
}

/// An event after the repair.
struct Event<'n> {
    seq: i64,
    created: Cell,
    text: &'n str,
    cells: Cells,
}

pub(super) fn edits(connection: &Connection, plan: &Plan<'_>) -> rusqlite::Result<Option<Vec<RowEdit>>> {
    for table in [&EVENTS, &IDENTITIES, &ACTIVE, &STATE] {
        if !table.is_known(connection)? {
            return Ok(None);
        }
    }
    let Some(session) = plan.places.first().map(|place| place.key[0].1.clone()) else { return Ok(None) };
    let texts: Vec<&str> = plan.new.iter().map(|row| row.text.as_str()).collect();
    let Some(path) = active_path(&texts) else { return Ok(None) };
    let old = EVENTS.rows(connection, &session)?;
    let Some(events) = events(plan, &old, &session) else { return Ok(None) };
    let mut edits = Edits::default();
    EVENTS.replace(&old, &events.iter().map(|event| event.cells.clone()).collect::<Vec<_>>(), &mut edits);
    let old = IDENTITIES.rows(connection, &session)?;
    IDENTITIES.replace(&old, &identities(&events, &old, &session), &mut edits);
    ACTIVE.replace(&ACTIVE.rows(connection, &session)?, &active_rows(&events, &path, &session), &mut edits);
    let old = STATE.rows(connection, &session)?;
    let updated =
        old.first().map_or_else(|| events.last().map(|event| event.created.clone()), |row| row.last().cloned());
    STATE.replace(&old, &[state(&events, &path, &session, updated.unwrap_or(Cell::Integer(0)))], &mut edits);
    Ok(Some(edits.removed.into_iter().chain(edits.added).collect()))
}

/// The events with their numbers: an event keeps its number where the order allows it.
fn events<'n>(plan: &Plan<'n>, old: &[Cells], session: &Cell) -> Option<Vec<Event<'n>>> {
    let rows: BTreeMap<i64, &Cells> = old.iter().filter_map(|row| Some((integer(&row[1])?, row))).collect();
    let mut events: Vec<Event<'n>> = Vec::new();
    let mut next = plan.places.first().and_then(|place| integer(&place.key[1].1))?;
    for NewRow { origin, text } in plan.new {
        let place = origin.and_then(|origin| plan.places.get(origin));
        let number = place.and_then(|place| integer(&place.key[1].1));
        let row = number.and_then(|number| rows.get(&number));
        let created = match (row, events.last()) {
            (Some(row), _) => row[3].clone(),
            (None, Some(before)) => before.created.clone(),
            (None, None) => rows.values().next()?[3].clone(),
        };
        let seq = number.filter(|number| *number >= next).unwrap_or(next);
        let mut cells = match row {
            Some(row) if origin.is_some_and(|origin| plan.texts[origin] == *text) => (*row).clone(),
            _ => {
                let bytes = Cell::Integer(i64::try_from(text.len()).ok()?);
                vec![
                    session.clone(),
                    Cell::Null,
                    Cell::Text(text.clone()),
                    created.clone(),
                    Cell::Null,
                    bytes,
                    Cell::Null,
                ]
            }
        };
        cells[1] = Cell::Integer(seq);
        next = seq + 1;
        events.push(Event { seq, created, text, cells });
    }
    Some(events)
}

fn integer(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Integer(number) => Some(*number),
        _ => None,
    }
}

/// The rows of the events that have ids. A row that was there keeps its time and its key.
fn identities(events: &[Event<'_>], old: &[Cells], session: &Cell) -> Vec<Cells> {
    let text = |text: Option<String>| text.map_or(Cell::Null, Cell::Text);
    let kept: HashMap<String, &Cells> = old.iter().map(|row| (row[1].to_string(), row)).collect();
    let mut ids = HashSet::new();
    let mut keys = HashSet::new();
    let mut rows = Vec::new();
    for event in events {
        let Some(object) = Object::of(event.text) else { continue };
        let Some(id) = object.string("id").filter(|id| ids.insert(id.clone())) else { continue };
        let message = object.get("message").and_then(Object::of);
        let key = message.and_then(|message| message.string("idempotencyKey"));
        let before = kept.get(&id);
        let key = before.map_or_else(|| text(key), |row| row[5].clone());
        let key = if key == Cell::Null || keys.insert(key.to_string()) { key } else { Cell::Null };
        rows.push(vec![
            session.clone(),
            Cell::Text(id),
            Cell::Integer(event.seq),
            text(object.string("type")),
            text(object.string("parentId")),
            key,
            before.map_or_else(|| event.created.clone(), |row| row[6].clone()),
        ]);
    }
    rows
}

fn active_rows(events: &[Event<'_>], path: &ActivePath, session: &Cell) -> Vec<Cells> {
    let count = |count: usize| Cell::Integer(i64::try_from(count).unwrap_or(i64::MAX));
    let row = |(position, active): (usize, &super::active_path::ActiveEvent)| {
        let message = active.message.map_or(Cell::Null, count);
        let seq = Cell::Integer(events[active.event].seq);
        vec![session.clone(), count(position), seq, message, Cell::Integer(i64::from(active.is_context))]
    };
    path.events.iter().enumerate().map(row).collect()
}

fn state(events: &[Event<'_>], path: &ActivePath, session: &Cell, updated: Cell) -> Cells {
    let count = |count: usize| Cell::Integer(i64::try_from(count).unwrap_or(i64::MAX));
    vec![
        session.clone(),
        Cell::Integer(events.last().map_or(-1, |event| event.seq)),
        path.leaf.clone().map_or(Cell::Null, Cell::Text),
        Cell::Integer(0),
        count(path.events.len()),
        count(path.messages),
        updated,
    ]
}
