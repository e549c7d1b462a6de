//! The sessions of a database.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use seamline::Options;
use seamline::files::database::{self, Database, RepairedSession, RowPlace, SessionRow};

use super::{CheckedStored, PlannedWrite, RecordChange, RepairedStored, StoredSession};
use crate::failure::Failure;
use crate::input::Source;
use crate::render::record::Record;

/// The bytes that identify a database.
const HEAD_BYTES: u64 = 16;

/// Opens the database of a program; nothing if the path is something else.
pub(crate) fn open(path: &Path) -> Result<Option<Database>, Failure> {
    if !is_database(path) {
        return Ok(None);
    }
    match Database::open(path) {
        Ok(database) => Ok(database),
        // A database that Seamline would not read in any case is refused by the name of its program.
        Err(_) if is_left_alone(path) => Ok(None),
        Err(error) => Err(seamline::Error::from(error).into()),
    }
}

/// Whether a database belongs to a program whose sessions are not read.
fn is_left_alone(path: &Path) -> bool {
    let opened = Source::Path(path.to_owned()).open();
    opened.is_ok_and(|opened| opened.program().is_some_and(|program| !program.is_read()))
}

/// Whether a file is a database. Opening a pipe would wait for its writer.
fn is_database(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = |file: File| file.take(HEAD_BYTES).read_to_end(&mut head);
    path.is_file() && File::open(path).and_then(read).is_ok() && database::is_database(&head)
}

pub(super) fn sessions(database: &Database) -> Result<Vec<StoredSession>, Failure> {
    let rows = database.sessions().map_err(seamline::Error::from)?;
    let time = |ms: i64| Some(UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).ok()?));
    let session = |row: SessionRow| StoredSession {
        id: row.id.clone(),
        modified: row.updated_ms.and_then(time),
        row: Some(row),
        files: Vec::new(),
    };
    Ok(rows.into_iter().map(session).collect())
}

pub(super) fn check(
    database: &Database,
    session: &StoredSession,
    options: &Options,
) -> Result<Option<CheckedStored>, Failure> {
    let found = database::check(database, &session.id, options)?;
    Ok(found.map(|found| CheckedStored { checked: found.checked, records: records(database, &found.rows) }))
}

pub(super) fn repair(
    database: &Database,
    session: &StoredSession,
    options: &Options,
) -> Result<Option<RepairedStored>, Failure> {
    let found = database::repair(database, &session.id, options)?;
    Ok(found.map(|found| {
        let records = records(database, &found.rows.places);
        let changes = changes(&found, &records);
        let repaired = found.repaired.clone();
        RepairedStored { repaired, records, changes, write: PlannedWrite::Rows(Box::new(found)) }
    }))
}

fn records(database: &Database, rows: &[RowPlace]) -> Vec<Record> {
    let file = database.path().display().to_string();
    rows.iter().map(|row| Record { file: file.clone(), row: Some(row.to_string()) }).collect()
}

/// The rows that a repair changes, adds and removes.
fn changes(session: &RepairedSession, records: &[Record]) -> Vec<RecordChange> {
    if !session.is_changed() {
        return Vec::new();
    }
    let lines = session.rows.lines();
    let texts: Vec<String> =
        lines.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into()).collect();
    let place = |row: usize| records.get(row).map(|record| record.short().to_owned());
    let mut changes = Vec::new();
    for new in &session.new {
        let before = new.origin.and_then(|row| texts.get(row)).cloned();
        if before.as_ref() != Some(&new.text) {
            let place = new.origin.and_then(place);
            changes.push(RecordChange { place, before, after: Some(new.text.clone()) });
        }
    }
    let stays: HashSet<usize> = session.new.iter().filter_map(|new| new.origin).collect();
    for row in (0..records.len()).filter(|row| !stays.contains(row)) {
        changes.push(RecordChange { place: place(row), before: texts.get(row).cloned(), after: None });
    }
    changes
}
