//! The database of the OpenAI Agents SDK: a row for each session and each item.

use std::collections::HashSet;

use rusqlite::{Connection, Row};

use super::super::cell::Cell;
use super::super::open::columns_of;
use super::super::schema::{Listed, Plan, RowEdit, RowPlace, Schema, SessionRow};
use crate::json::quoted;
use crate::programs::openai_agents::{PROGRAM, ROWS};
use crate::session::longest_rising;

pub(super) static SCHEMA: Schema = Schema {
    program: &PROGRAM,
    format: &ROWS,
    signs: &[
        ("agent_sessions", &["session_id", "updated_at"]),
        ("agent_messages", &["id", "session_id", "message_data", "created_at"]),
    ],
    sessions,
    bytes: "SELECT sum(octet_length(message_data)) FROM agent_messages WHERE session_id = ?1",
    rows,
    text,
    edits: Some(edits),
};

/// The table in which `AdvancedSQLiteSession` keeps the branches and turns of the items.
const BRANCHES: &str = "message_structure";

fn sessions(connection: &Connection) -> rusqlite::Result<Vec<SessionRow>> {
    let sql = "SELECT session_id, unixepoch(updated_at) * 1000 FROM agent_sessions";
    let read = |row: &Row<'_>| Ok(SessionRow { id: row.get(0)?, updated_ms: row.get(1)?, ..SessionRow::default() });
    connection.prepare_cached(sql)?.query_map([], read)?.collect()
}

/// Reads the items in their order. If the session has branches, it reads the branch that every session begins with.
fn rows(connection: &Connection, session: &str) -> rusqlite::Result<Vec<Listed>> {
    let known: Vec<String> = connection
        .prepare_cached("SELECT session_id FROM agent_sessions WHERE session_id = ?1")?
        .query_map([session], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut rows: Vec<Listed> =
        known.into_iter().map(|id| RowPlace::of("agent_sessions", "session_id", Cell::Text(id)).into()).collect();
    let sql = if has_branches(connection, session)? {
        "SELECT m.id FROM agent_messages m JOIN message_structure s ON m.id = s.message_id
         WHERE m.session_id = ?1 AND s.branch_id = 'main' ORDER BY s.sequence_number"
    } else {
        "SELECT id FROM agent_messages WHERE session_id = ?1 ORDER BY id"
    };
    let mut statement = connection.prepare_cached(sql)?;
    for id in statement.query_map([session], |row| row.get::<_, i64>(0))? {
        rows.push(RowPlace::of("agent_messages", "id", Cell::Integer(id?)).into());
    }
    Ok(rows)
}

fn has_branches(connection: &Connection, session: &str) -> rusqlite::Result<bool> {
    if !columns_of(connection, BRANCHES)?.iter().any(|column| column == "sequence_number") {
        return Ok(false);
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM message_structure WHERE session_id = ?1)";
    connection.prepare_cached(sql)?.query_row([session], |row| row.get(0))
}

fn text(connection: &Connection, place: &RowPlace) -> rusqlite::Result<String> {
    if place.table == "agent_messages" {
        let sql = "SELECT message_data FROM agent_messages WHERE id = ?1";
        return connection.prepare_cached(sql)?.query_row([&place.key[0].1], |row| row.get(0));
    }
    let sql = "SELECT session_id, CAST(updated_at AS TEXT) FROM agent_sessions WHERE session_id = ?1";
    connection.prepare_cached(sql)?.query_row([&place.key[0].1], |row| {
        let updated = row.get::<_, Option<String>>(1)?.map(|time| format!(r#","updated_at":{}"#, quoted(&time)));
        Ok(format!(r#"{{"session_id":{}{}}}"#, quoted(&row.get::<_, String>(0)?), updated.unwrap_or_default()))
    })
}

/// A new item gets the next free id, and so do the rows behind it: the ids are the order of the items.
fn edits(connection: &Connection, plan: &Plan<'_>) -> rusqlite::Result<Option<Vec<RowEdit>>> {
    let headers = plan.places.iter().take_while(|place| place.table == "agent_sessions").count();
    let keeps_headers = (0..headers)
        .all(|row| plan.new.get(row).is_some_and(|new| new.origin == Some(row) && new.text == plan.texts[row]));
    let session = plan.places.first().filter(|_| headers > 0).map(|place| place.key[0].1.clone());
    let (true, Some(Cell::Text(session))) = (keeps_headers, session) else { return Ok(None) };
    // A new item would need a place in each branch, and a moved one another number in each.
    if has_branches(connection, &session)? && plan.new.iter().enumerate().any(|(at, row)| row.origin != Some(at)) {
        return Ok(None);
    }
    let mut rows = Vec::new();
    for place in plan.places {
        rows.push(if place.table == "agent_messages" { Some(row_at(connection, place)?) } else { None });
    }
    let free = connection.query_row("SELECT ifnull(max(id), 0) + 1 FROM agent_messages", [], |row| row.get(0))?;
    let gaps = gaps(connection, &rows)?;
    let (id, added) = (i64::MIN, rows.iter().flatten().next().map_or(Cell::Null, |row| row.added.clone()));
    let last = ItemRow { id, added };
    Ok(Edits { plan, rows, gaps, free, last, session, changes: Vec::new() }.run(headers))
}

/// The row of an item.
#[derive(Clone)]
struct ItemRow {
    id: i64,
    /// The time at which the row was added, which a new row takes over.
    added: Cell,
}

fn row_at(connection: &Connection, place: &RowPlace) -> rusqlite::Result<ItemRow> {
    let sql = "SELECT id, created_at FROM agent_messages WHERE id = ?1";
    let read = |row: &Row<'_>| Ok(ItemRow { id: row.get(0)?, added: row.get(1)? });
    connection.prepare_cached(sql)?.query_row([&place.key[0].1], read)
}

/// The ids behind those of items that no row has, for example because a row was lost.
fn gaps(connection: &Connection, rows: &[Option<ItemRow>]) -> rusqlite::Result<HashSet<i64>> {
    let mut is_taken = connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM agent_messages WHERE id = ?1)")?;
    let mut gaps = HashSet::new();
    for row in rows.iter().flatten() {
        if !is_taken.query_row([row.id + 1], |row| row.get::<_, bool>(0))? {
            gaps.insert(row.id + 1);
        }
    }
    Ok(gaps)
}

struct Edits<'p> {
    plan: &'p Plan<'p>,
    rows: Vec<Option<ItemRow>>,
    gaps: HashSet<i64>,
    /// The next id that no row has.
    free: i64,
    last: ItemRow,
    session: String,
    changes: Vec<RowEdit>,
}

impl Edits<'_> {
    fn run(mut self, headers: usize) -> Option<Vec<RowEdit>> {
        let plan = self.plan;
        let new = &plan.new[headers..];
        let origins: Vec<usize> = new.iter().filter_map(|row| row.origin).collect();
        let stays: HashSet<usize> = longest_rising(&origins).into_iter().collect();
        let kept: HashSet<usize> = origins.iter().copied().collect();
        let gone = plan.places.iter().enumerate().skip(headers).filter(|(row, _)| !kept.contains(row));
        self.changes.extend(gone.map(|(_, place)| RowEdit::Delete { place: place.clone() }));
        for row in new {
            match row.origin {
                None => self.insert(&row.text),
                Some(origin) => self.update(&row.text, origin, stays.contains(&origin))?,
            }
        }
        Some(self.changes)
    }

    fn take_id(&mut self) -> i64 {
        self.free += 1;
        self.free - 1
    }

    fn insert(&mut self, text: &str) {
        // A gap keeps the ids of the rows behind it.
        let gap = Some(self.last.id.saturating_add(1)).filter(|id| *id < self.free && self.gaps.remove(id));
        let id = gap.unwrap_or_else(|| self.take_id());
        let values = vec![
            ("id", Cell::Integer(id)),
            ("session_id", Cell::Text(self.session.clone())),
            ("message_data", Cell::Text(text.to_owned())),
            ("created_at", self.last.added.clone()),
        ];
        self.changes.push(RowEdit::Insert { place: RowPlace::of("agent_messages", "id", Cell::Integer(id)), values });
        self.last.id = id;
    }

    fn update(&mut self, text: &str, origin: usize, stays: bool) -> Option<()> {
        let mut row = self.rows.get(origin)?.clone()?;
        let mut set = Vec::new();
        if !stays || row.id <= self.last.id {
            row.id = self.take_id();
            set.push(("id", Cell::Integer(row.id)));
        }
        if text != self.plan.texts[origin] {
            set.push(("message_data", Cell::Text(text.to_owned())));
        }
        if !set.is_empty() {
            self.changes.push(RowEdit::Update { place: self.plan.places[origin].clone(), set });
        }
        self.last = row;
        Some(())
    }
}
