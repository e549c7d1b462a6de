//! Repair of the sessions of a database, and its undo.
//!
//! The old database goes to the state folder as a backup of SQLite. An undo does not need it: it gives the changed rows their
//! old values again, so that it keeps what the program wrote to other sessions since.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use seamline::files::database::{Database, DatabaseError, Journal, RepairedSession, SessionChange, undo_all};
use serde::{Deserialize, Serialize};

use super::in_use::{self, beside};
use super::state::{Repairs, State};
use super::times::Times;
use super::undo::{self, Force, Record, Undone};
use super::{hash, replace};
use crate::failure::Failure;

/// The part of a record that only the repair of a database has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DatabaseRecord {
    /// The hash of the journals, a list in JSON.
    pub(super) journals: String,
    /// The times of the database before the repair.
    times: Option<Times>,
    /// The repaired sessions.
    sessions: Vec<RepairedRows>,
}

/// The rows of a repaired session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RepairedRows {
    session: String,
    /// The hash of the rows before the repair.
    before: String,
    /// The hash of the rows after it; nothing if the process ended too early to know them.
    after: Option<String>,
}

/// Writes repaired sessions in one transaction, after a backup of the whole database. If that fails, the database is
/// unchanged.
pub(crate) fn repair(database: &Database, sessions: &[&RepairedSession], force: Force) -> Result<(), Failure> {
    let path = database.path();
    if let (Force::No, Some(in_use)) = (force, in_use::look_at_database(path)) {
        return Err(in_use.into());
    }
    let state = State::find()?;
    let _shared = state.share()?;
    let real = path.canonicalize().map_err(|error| Failure::io("write", &error))?;
    let times = KeptTimes::of(&real);
    let repairs = state.repairs_of(&real)?;
    let mut writing = Writing { repairs: &repairs, record: record(&real, sessions, times.database), number: None };
    let backup = state.draft()?;
    let backup_path = backup.path().to_owned();
    let mut backup = Some(backup);
    let mut keep = |journals: &[Journal]| writing.keep(&state, backup.take(), journals);
    let changes: Vec<_> =
        sessions.iter().map(|session| SessionChange { rows: &session.rows, new: &session.new }).collect();
    let written = database.write_all(&changes, &backup_path, &mut keep);
    match written {
        Ok(_) => writing.note_rows(&real),
        // `undo` skips the record of a repair that did not take place.
        Err(_) => writing.forget(),
    }
    times.restore();
    written.map(|_| ()).map_err(|error| seamline::Error::from(error).into())
}

fn record(real: &Path, sessions: &[&RepairedSession], times: Option<Times>) -> Record {
    let rows = |session: &&RepairedSession| RepairedRows {
        session: session.rows.session.clone(),
        before: hash(&session.rows.lines()),
        after: None,
    };
    Record {
        version: undo::VERSION,
        path: real.display().to_string(),
        before: String::new(),
        after: String::new(),
        time: undo::now(),
        mode: None,
        session: None,
        database: Some(DatabaseRecord {
            journals: String::new(),
            times,
            sessions: sessions.iter().map(rows).collect(),
        }),
    }
}

/// The record of a repair that is being written.
struct Writing<'r> {
    repairs: &'r Repairs,
    record: Record,
    number: Option<u64>,
}

impl Writing<'_> {
    /// Stores the backup, the journals and the record.
    fn keep(
        &mut self,
        state: &State,
        backup: Option<tempfile::NamedTempFile>,
        journals: &[Journal],
    ) -> std::io::Result<()> {
        let of = |failure: Failure| std::io::Error::other(failure.message);
        let backup = backup.ok_or_else(|| std::io::Error::other("there is no backup"))?;
        self.record.before = state.keep_draft(backup)?;
        let kept = state.keep(&serde_json::to_vec(journals)?).map_err(of)?;
        if let Some(database) = &mut self.record.database {
            database.journals = kept;
        }
        self.number = Some(self.repairs.push(&serde_json::to_string(&self.record)?)?);
        Ok(())
    }

    /// Notes what the repaired rows are, so that an undo knows whether the program went on. Without it an undo compares only
    /// the rows that the repair changed.
    fn note_rows(&mut self, path: &Path) {
        let Ok(Some(found)) = Database::open(path) else { return };
        for rows in self.record.database.iter_mut().flat_map(|database| &mut database.sessions) {
            rows.after = hash_of(&found, &rows.session);
        }
        if let (Some(number), Ok(text)) = (self.number, serde_json::to_string(&self.record)) {
            let _ = self.repairs.replace(number, &text);
        }
    }

    fn forget(&self) {
        let _ = self.number.map(|number| self.repairs.remove(number));
    }
}

/// The hash of the rows of a session.
fn hash_of(database: &Database, session: &str) -> Option<String> {
    database.rows(session).ok().flatten().map(|rows| hash(&rows.lines()))
}

/// The times of a database and of the log beside it. A repair keeps them, because programs and people go by them.
struct KeptTimes {
    database: Option<Times>,
    files: Vec<(PathBuf, Times)>,
}

impl KeptTimes {
    fn of(path: &Path) -> Self {
        let times = |path: &Path| path.metadata().ok().and_then(|found| Times::of(&found));
        let files = [path.to_owned(), beside(path, "-wal")].into_iter();
        Self { database: times(path), files: files.filter_map(|path| Some((path.clone(), times(&path)?))).collect() }
    }

    /// Gives the files these times; a file that is gone needs none.
    fn restore(&self) {
        for (path, times) in &self.files {
            let _ = OpenOptions::new().append(true).open(path).and_then(|file| times.set(&file));
        }
    }
}

/// Whether the repairs of a path are repairs of a database.
pub(super) fn has_records(repairs: &Repairs) -> Result<bool, Failure> {
    let failed = |error: std::io::Error| Failure::io("read the undo records", &error);
    let Some(number) = repairs.numbers().map_err(failed)?.pop() else { return Ok(false) };
    Ok(Record::read(&repairs.read(number).map_err(failed)?)?.database.is_some())
}

/// Gives the rows that the last repair of a database changed their old values.
pub(super) fn undo(state: &State, repairs: &Repairs, path: &Path, force: Force) -> Result<Undone, Failure> {
    let failed = |error: std::io::Error| Failure::io("read the undo records", &error);
    let mut numbers = repairs.numbers().map_err(failed)?;
    while let Some(number) = numbers.pop() {
        let record = Record::read(&repairs.read(number).map_err(failed)?)?;
        let Some(repaired) = record.database.clone() else { return Err(undo::unknown()) };
        if !path.exists() {
            bring_back(state, &record, path, force)?;
        } else if took_place(path, &repaired)? {
            take_back(state, &record, (path, &repaired), force)?;
        } else {
            repairs.remove(number).map_err(failed)?;
            continue;
        }
        repairs.remove(number).map_err(|error| Failure::io("remove the undo record", &error))?;
        return Ok(Undone { record, left: numbers.len(), overwritten: None });
    }
    Err(undo::unknown())
}

fn open(path: &Path) -> Result<Database, Failure> {
    let opened = Database::open(path).map_err(seamline::Error::from)?;
    opened.ok_or_else(|| Failure::new("it is not the database of a known program any more"))
}

/// Whether the sessions differ from those before a repair; a crash may have prevented it.
fn took_place(path: &Path, repaired: &DatabaseRecord) -> Result<bool, Failure> {
    let database = open(path)?;
    Ok(repaired.sessions.iter().any(|rows| hash_of(&database, &rows.session).as_ref() != Some(&rows.before)))
}

fn take_back(
    state: &State,
    record: &Record,
    (path, repaired): (&Path, &DatabaseRecord),
    force: Force,
) -> Result<(), Failure> {
    if force == Force::No {
        if let Some(in_use) = in_use::look_at_database(path) {
            return Err(in_use.into());
        }
        let database = open(path)?;
        let is_other = |rows: &&RepairedRows| rows.after.is_some() && hash_of(&database, &rows.session) != rows.after;
        if let Some(rows) = repaired.sessions.iter().find(is_other) {
            return Err(went_on(record, &rows.session));
        }
    }
    let journals: Vec<Journal> = serde_json::from_slice(&state.get(&repaired.journals)?)
        .map_err(|error| Failure::new(format!("the journal of the repair is damaged: {error}")))?;
    let times = KeptTimes::of(path);
    let undone = undo_all(path, &journals);
    times.restore();
    undone.map_err(|error| match error {
        DatabaseError::Changed => changed_again(state, record),
        other => seamline::Error::from(other).into(),
    })
}

/// Restores a database that is gone from its backup.
fn bring_back(state: &State, record: &Record, path: &Path, force: Force) -> Result<(), Failure> {
    if force == Force::No {
        return Err(undo::refused(record, false));
    }
    let times = record.database.as_ref().and_then(|database| database.times);
    replace::restore(path, &state.get(&record.before)?, record.mode, times)
}

fn went_on(record: &Record, session: &str) -> Failure {
    Failure::new(format!("not undone: session `{session}` was changed after the repair of {}", record.time))
        .with_hint("`--force` gives the repaired rows their old values and keeps the others")
}

fn changed_again(state: &State, record: &Record) -> Failure {
    let backup = state.object(&record.before);
    Failure::new(format!("not undone: rows of the repair of {} were changed again since", record.time))
        .with_hint(format!("a copy of the database before the repair is in {}", backup.display()))
}
