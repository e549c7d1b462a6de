//! The database of goose: a row for each session and each message.

use std::collections::HashSet;

use rusqlite::{Connection, Row};

use super::super::cell::Cell;
use super::super::rows::NewRow;
use super::super::schema::{Listed, Plan, RowEdit, RowPlace, Schema, SessionRow};
use crate::json::{Object, quoted};
use crate::programs::goose::{FORMAT, PROGRAM};
use crate::session::longest_rising;

pub(super) static SCHEMA: Schema = Schema {
    program: &PROGRAM,
    format: &FORMAT,
    signs: &[
        ("sessions", &["id", "working_dir", "updated_at"]),
        ("messages", &["id", "session_id", "role", "content_json", "created_timestamp"]),
    ],
    sessions,
    bytes: "SELECT sum(octet_length(content_json)) FROM messages WHERE session_id = ?1",
    rows,
    text,
    edits: Some(edits),
};

fn sessions(connection: &Connection) -> rusqlite::Result<Vec<SessionRow>> {
    let columns = super::columns(connection, "sessions", &["name", "description", "session_type"])?;
    let sql = format!(
        "SELECT id, {}, {}, working_dir, unixepoch(updated_at) * 1000, {} IS 'sub_agent' FROM sessions",
        columns[0], columns[1], columns[2]
    );
    let said = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let read = |row: &Row<'_>| {
        Ok(SessionRow {
            id: row.get(0)?,
            title: said(row.get(1)?).or(said(row.get(2)?)),
            folder: row.get(3)?,
            updated_ms: row.get(4)?,
            is_subagent: row.get(5)?,
        })
    };
    connection.prepare_cached(&sql)?.query_map([], read)?.collect()
}

/// goose orders messages by the second of their creation, then by their ids.
fn rows(connection: &Connection, session: &str) -> rusqlite::Result<Vec<Listed>> {
    let known: Vec<String> = connection
        .prepare_cached("SELECT id FROM sessions WHERE id = ?1")?
        .query_map([session], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut rows: Vec<Listed> =
        known.into_iter().map(|id| RowPlace::of("sessions", "id", Cell::Text(id)).into()).collect();
    let sql = "SELECT id FROM messages WHERE session_id = ?1 ORDER BY created_timestamp, id";
    let mut statement = connection.prepare_cached(sql)?;
    for id in statement.query_map([session], |row| row.get::<_, i64>(0))? {
        rows.push(RowPlace::of("messages", "id", Cell::Integer(id?)).into());
    }
    Ok(rows)
}

fn text(connection: &Connection, place: &RowPlace) -> rusqlite::Result<String> {
    if place.table == "sessions" {
        return description(connection, place);
    }
    let columns = super::columns(connection, "messages", &["message_id", "metadata_json"])?;
    let sql = format!(
        "SELECT role, created_timestamp, content_json, {}, {} FROM messages WHERE id = ?1",
        columns[0], columns[1]
    );
    connection.prepare_cached(&sql)?.query_row([&place.key[0].1], |row| {
        let id = row.get::<_, Option<String>>(3)?.map(|id| format!(r#","id":{}"#, quoted(&id))).unwrap_or_default();
        let metadata = row.get::<_, Option<String>>(4)?;
        let metadata = metadata.map(|json| format!(r#","metadata":{json}"#)).unwrap_or_default();
        let (role, created) = (quoted(&row.get::<_, String>(0)?), row.get::<_, i64>(1)?);
        let content = row.get::<_, String>(2)?;
        Ok(format!(r#"{{"role":{role},"created":{created},"content":{content}{metadata}{id}}}"#))
    })
}

/// The row of a session as the first record of a log.
fn description(connection: &Connection, place: &RowPlace) -> rusqlite::Result<String> {
    let names = ["name", "description", "session_type", "model_config_json"];
    let columns = super::columns(connection, "sessions", &names)?;
    let sql = format!("SELECT id, working_dir, {} FROM sessions WHERE id = ?1", columns.join(", "));
    connection.prepare_cached(&sql)?.query_row([&place.key[0].1], |row| {
        let mut record = format!(r#"{{"id":{}"#, quoted(&row.get::<_, String>(0)?));
        record.push_str(&[r#","working_dir":"#, &quoted(&row.get::<_, String>(1)?)].concat());
        for (at, name) in names.iter().enumerate().take(3) {
            let value = row.get::<_, Option<String>>(at + 2)?;
            record += &value.map(|value| format!(r#","{name}":{}"#, quoted(&value))).unwrap_or_default();
        }
        // A damaged setting does not damage the conversation.
        let is_json = |json: &String| serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok();
        let model = row.get::<_, Option<String>>(5)?.filter(is_json);
        record += &model.map(|json| format!(r#","model_config":{json}"#)).unwrap_or_default();
        Ok(record + "}")
    })
}

/// Where a message is in the order of goose.
#[derive(Clone)]
struct Position {
    created: i64,
    id: i64,
    /// The time at which the row was added, which a new row takes over.
    added: Cell,
    session: Cell,
}

fn edits(connection: &Connection, plan: &Plan<'_>) -> rusqlite::Result<Option<Vec<RowEdit>>> {
    let is_header = |row: &usize| plan.places.get(*row).is_some_and(|place| place.table == "sessions");
    let headers = (0..plan.places.len()).take_while(is_header).count();
    let keeps_headers = (0..headers)
        .all(|row| plan.new.get(row).is_some_and(|new| new.origin == Some(row) && new.text == plan.texts[row]));
    if !keeps_headers || plan.places.len() == headers {
        return Ok(None);
    }
    let mut positions = Vec::new();
    for place in plan.places {
        positions.push(if place.table == "messages" { Some(position(connection, place)?) } else { None });
    }
    let free: i64 = connection.query_row("SELECT max(id) + 1 FROM messages", [], |row| row.get(0))?;
    let gaps = gaps(connection, &positions)?;
    Ok(Edits { plan, positions, gaps, free, changes: Vec::new() }.run(&plan.new[headers..]))
}

fn position(connection: &Connection, place: &RowPlace) -> rusqlite::Result<Position> {
    let columns = super::columns(connection, "messages", &["timestamp"])?;
    let sql = format!("SELECT created_timestamp, id, {}, session_id FROM messages WHERE id = ?1", columns[0]);
    let read = |row: &Row<'_>| {
        Ok(Position { created: row.get(0)?, id: row.get(1)?, added: row.get(2)?, session: row.get(3)? })
    };
    connection.prepare_cached(&sql)?.query_row([&place.key[0].1], read)
}

/// The ids behind those of messages that no row has, for example because a row was lost.
fn gaps(connection: &Connection, positions: &[Option<Position>]) -> rusqlite::Result<HashSet<i64>> {
    let mut is_taken = connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM messages WHERE id = ?1)")?;
    let mut gaps = HashSet::new();
    for position in positions.iter().flatten() {
        if !is_taken.query_row([position.id + 1], |row| row.get::<_, bool>(0))? {
            gaps.insert(position.id + 1);
        }
    }
    Ok(gaps)
}

struct Edits<'p> {
    plan: &'p Plan<'p>,
    positions: Vec<Option<Position>>,
    gaps: HashSet<i64>,
    /// The next id that no row has.
    free: i64,
    changes: Vec<RowEdit>,
}

impl Edits<'_> {
    fn run(mut self, new: &[NewRow]) -> Option<Vec<RowEdit>> {
        let origins: Vec<usize> = new.iter().filter_map(|row| row.origin).collect();
        let stays: HashSet<usize> = longest_rising(&origins).into_iter().collect();
        let kept: HashSet<usize> = origins.iter().copied().collect();
        for (row, place) in self.plan.places.iter().enumerate().filter(|(row, _)| !kept.contains(row)) {
            if self.positions[row].is_some() {
                self.changes.push(RowEdit::Delete { place: place.clone() });
            }
        }
        let mut last = self.first(new)?;
        for row in new {
            last = match row.origin {
                None => self.insert(row, &last)?,
                Some(origin) => self.update(row, origin, stays.contains(&origin), &last)?,
            };
        }
        Some(self.changes)
    }

    /// A position before all messages, for a message that is new at the start.
    fn first(&self, new: &[NewRow]) -> Option<Position> {
        let first = new.iter().find_map(|row| self.positions.get(row.origin?)?.clone())?;
        Some(Position { id: i64::MIN, ..first })
    }

    fn take_id(&mut self) -> i64 {
        self.free += 1;
        self.free - 1
    }

    fn insert(&mut self, row: &NewRow, last: &Position) -> Option<Position> {
        // A gap keeps the ids of the rows behind it.
        let gap = Some(last.id.saturating_add(1)).filter(|id| *id < self.free && self.gaps.remove(id));
        let id = gap.unwrap_or_else(|| self.take_id());
        let record = Object::of(&row.text)?;
        let hash = blake3::hash(format!("{id}\n{}", row.text).as_bytes()).to_hex();
        let mut values = vec![
            ("id", Cell::Integer(id)),
            ("session_id", last.session.clone()),
            ("role", Cell::Text(record.string("role")?)),
            ("content_json", Cell::Text(record.get("content")?.to_owned())),
            ("created_timestamp", Cell::Integer(last.created)),
        ];
        if last.added != Cell::Null {
            values.push(("timestamp", last.added.clone()));
        }
        if let Some(metadata) = record.get("metadata") {
            values.push(("metadata_json", Cell::Text(metadata.to_owned())));
            values.push(("message_id", Cell::Text(format!("msg_{}", &hash[..32]))));
        }
        self.changes.push(RowEdit::Insert { place: RowPlace::of("messages", "id", Cell::Integer(id)), values });
        Some(Position { id, ..last.clone() })
    }

    fn update(&mut self, row: &NewRow, origin: usize, stays: bool, last: &Position) -> Option<Position> {
        let mut at = self.positions.get(origin)?.clone()?;
        let mut set = Vec::new();
        if !stays || at.created < last.created {
            at.created = last.created;
            set.push(("created_timestamp", Cell::Integer(at.created)));
        }
        if (at.created, at.id) <= (last.created, last.id) {
            at.id = self.take_id();
            set.push(("id", Cell::Integer(at.id)));
        }
        if row.text != self.plan.texts[origin] {
            let (old, new) = (Object::of(&self.plan.texts[origin])?, Object::of(&row.text)?);
            for (member, column) in [("content", "content_json"), ("metadata", "metadata_json")] {
                if old.get(member) != new.get(member) {
                    set.push((column, Cell::Text(new.get(member)?.to_owned())));
                }
            }
            if old.get("role") != new.get("role") {
                set.push(("role", Cell::Text(new.string("role")?)));
            }
        }
        if !set.is_empty() {
            self.changes.push(RowEdit::Update { place: self.plan.places[origin].clone(), set });
        }
        Some(at)
    }
}
