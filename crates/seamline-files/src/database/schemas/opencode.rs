//! The database of opencode: a row for each session, each message, and each part of a message.

use rusqlite::{Connection, Row};

use super::super::cell::Cell;
use super::super::record::{with_members, without_members};
use super::super::schema::{Listed, Plan, RowEdit, RowPlace, Schema, SessionRow};
use crate::json::quoted;
use crate::programs::opencode::{PROGRAM, ROWS};

pub(super) static SCHEMA: Schema = Schema {
    program: &PROGRAM,
    format: &ROWS,
    signs: &[
        ("session", &["id", "project_id", "directory", "title"]),
        ("message", &["id", "session_id", "time_created", "data"]),
        ("part", &["id", "message_id", "session_id", "data"]),
    ],
    sessions,
    bytes: "SELECT sum(octet_length(data)) FROM part WHERE session_id = ?1",
    rows,
    text,
    edits: Some(edits),
};

fn sessions(connection: &Connection) -> rusqlite::Result<Vec<SessionRow>> {
    let sql = "SELECT id, title, directory, time_updated, parent_id IS NOT NULL FROM session";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        Ok(SessionRow {
            id: row.get(0)?,
            title: row.get(1)?,
            folder: row.get(2)?,
            updated_ms: row.get(3)?,
            is_subagent: row.get(4)?,
        })
    };
    statement.query_map([], read)?.collect()
}

/// opencode orders messages by the time of their creation and parts by their ids, which begin with the time.
fn rows(connection: &Connection, session: &str) -> rusqlite::Result<Vec<Listed>> {
    let place = |table: &'static str, id: String| RowPlace::of(table, "id", Cell::Text(id));
    let ids = |sql: &str, key: &str| -> rusqlite::Result<Vec<String>> {
        connection.prepare_cached(sql)?.query_map([key], |row| row.get(0))?.collect()
    };
    let mut rows = Vec::new();
    for id in ids("SELECT id FROM session WHERE id = ?1", session)? {
        rows.push(place("session", id).into());
    }
    for message in ids("SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created, id", session)? {
        let parts = ids("SELECT id FROM part WHERE message_id = ?1 ORDER BY id", &message)?;
        rows.push(place("message", message).into());
        rows.extend(parts.into_iter().map(|part| Listed::from(place("part", part))));
    }
    Ok(rows)
}

fn text(connection: &Connection, place: &RowPlace) -> rusqlite::Result<String> {
    let sql = match place.table {
        "session" => return description(connection, place),
        "message" => "SELECT data, id, session_id FROM message WHERE id = ?1",
        _ => "SELECT data, id, session_id, message_id FROM part WHERE id = ?1",
    };
    let members = |row: &Row<'_>| {
        let mut members =
            vec![("id", quoted(&row.get::<_, String>(1)?)), ("sessionID", quoted(&row.get::<_, String>(2)?))];
        if place.table == "part" {
            members.push(("messageID", quoted(&row.get::<_, String>(3)?)));
        }
        Ok(with_members(&members, &row.get::<_, String>(0)?))
    };
    connection.prepare_cached(sql)?.query_row([&place.key[0].1], members)
}

/// The row of a session as opencode exports it.
fn description(connection: &Connection, place: &RowPlace) -> rusqlite::Result<String> {
    let sql = "SELECT id, directory, title, parent_id, time_created, time_updated, revert FROM session WHERE id = ?1";
    connection.prepare_cached(sql)?.query_row([&place.key[0].1], |row| {
        let text = |at: usize| row.get::<_, Option<String>>(at);
        let mut record = format!(r#"{{"id":{}"#, quoted(&row.get::<_, String>(0)?));
        for (name, at) in [("directory", 1), ("title", 2), ("parentID", 3)] {
            record += &text(at)?.map(|value| format!(r#","{name}":{}"#, quoted(&value))).unwrap_or_default();
        }
        let (created, updated) = (row.get::<_, Option<i64>>(4)?, row.get::<_, Option<i64>>(5)?);
        let time = format!(r#","time":{{"created":{},"updated":{}}}"#, created.unwrap_or(0), updated.unwrap_or(0));
        record += &time;
        record += &text(6)?.map(|revert| format!(r#","revert":{revert}"#)).unwrap_or_default();
        Ok(record + "}")
    })
}

/// A repair changes the `data` of messages and parts. It adds no row and removes none.
fn edits(connection: &Connection, plan: &Plan<'_>) -> rusqlite::Result<Option<Vec<RowEdit>>> {
    let mut edits = Vec::new();
    for (index, new) in plan.new.iter().enumerate() {
        if new.origin != Some(index) {
            return Ok(None);
        }
        if new.text == plan.texts[index] {
            continue;
        }
        let place = &plan.places[index];
        match data_of(connection, place, &new.text)? {
            Some(data) => edits.push(RowEdit::Update { place: place.clone(), set: vec![("data", Cell::Text(data))] }),
            None => return Ok(None),
        }
    }
    Ok((plan.new.len() == plan.places.len()).then_some(edits))
}

/// The `data` of a row in a record.
fn data_of(connection: &Connection, place: &RowPlace, record: &str) -> rusqlite::Result<Option<String>> {
    let sql = match place.table {
        "message" => "SELECT id, session_id FROM message WHERE id = ?1",
        "part" => "SELECT id, session_id, message_id FROM part WHERE id = ?1",
        _ => return Ok(None),
    };
    connection.prepare_cached(sql)?.query_row([&place.key[0].1], |row| {
        let mut members = Vec::new();
        for (at, name) in ["id", "sessionID", "messageID"].into_iter().enumerate().take(row.as_ref().column_count()) {
            members.push((name, quoted(&row.get::<_, String>(at)?)));
        }
        Ok(without_members(&members, record))
    })
}
