//! Sessions that programs keep in databases, such as opencode and goose.
//!
//! A database holds many sessions. [`list`] names them, [`check`] and [`repair`] work on one of them as
//! [`files::check`](super::check) and [`files::repair`](super::repair) do on a file, and [`RepairedSession::write`] changes
//! its rows in one transaction.

use std::io;
use std::path::Path;

#[doc(inline)]
pub use seamline_files::database::{
    Cell, Database, DatabaseError, Journal, NewRow, Projection, RowChange, RowPlace, Rows, SessionChange, SessionRow,
    is_database, undo, undo_all,
};

use super::check::{CheckedFile, checked, content};
use super::repair::{CANNOT_HOLD, RepairedFile, RepairedRows, repair_rows};
use super::salvage::{Salvaged, salvage_rows};
use super::saved::SavedConversation;
use super::unmended::{unmendable, without_mending};
use crate::{Error, Options};

/// The outcome of a check of a session in a database.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CheckedSession {
    /// The outcome of the check. The line of a finding is the number of its row, from 1.
    pub checked: CheckedFile,
    /// The places of the rows: the row of line 1 is the first one.
    pub rows: Vec<RowPlace>,
}

/// The outcome of a repair of a session in a database. Nothing is written yet.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RepairedSession {
    /// The outcome of the repair. Its bytes are the new rows as records, one per line; none if nothing changes.
    pub repaired: RepairedFile<'static>,
    /// The rows before the repair.
    pub rows: Rows,
    /// The rows after the repair; none if nothing changes.
    pub new: Vec<NewRow>,
}

/// Lists the sessions of a database, the last changed one first. Returns nothing if the file is not a database of a program
/// that Seamline reads.
///
/// # Errors
///
/// Fails when SQLite cannot read the database.
pub fn list(path: &Path) -> Result<Option<Vec<SessionRow>>, Error> {
    let Some(database) = Database::open(path)? else { return Ok(None) };
    Ok(Some(database.sessions()?))
}

/// Checks a session: its rows, and the conversation that its program would send. Returns nothing if the database has no such
/// session.
///
/// # Errors
///
/// Fails when SQLite cannot read the database, or the options name something that does not exist.
pub fn check(database: &Database, session: &str, options: &Options) -> Result<Option<CheckedSession>, Error> {
    let content = content(database.bytes_of(session)?);
    let Some(read) = database.read(session, content)? else { return Ok(None) };
    let mut checked = checked(database.program(), &read.reading, options)?;
    unmendable(&mut checked.findings);
    Ok(Some(CheckedSession { checked, rows: read.rows }))
}

/// Repairs a session: its rows, and the conversation that its program would send. It writes nothing. Returns nothing if the
/// database has no such session.
///
/// # Errors
///
/// Fails when SQLite cannot read the database, or the options name something that does not exist.
pub fn repair(database: &Database, session: &str, options: &Options) -> Result<Option<RepairedSession>, Error> {
    let Some(rows) = database.rows(session)? else { return Ok(None) };
    let lines = rows.lines();
    let name = database.path().to_string_lossy();
    let done = repair_rows(database.program(), database.format(), (&name, &lines), options)?;
    let RepairedRows { repaired, origins } = done;
    let repaired = without_mending(repaired);
    if !repaired.is_changed() {
        return Ok(Some(RepairedSession { repaired: repaired.unchanged(None), rows, new: Vec::new() }));
    }
    let new = rows.changed(database.format(), &repaired.bytes, &origins);
    let new = new.map_err(|error| Error::Unreadable(error.to_string()))?;
    if !database.can_hold(&rows, &new)? {
        let refusal = if database.is_writable() { CANNOT_HOLD } else { database.program().refusal() };
        return Ok(Some(RepairedSession { repaired: repaired.unchanged(Some(refusal)), rows, new: Vec::new() }));
    }
    Ok(Some(RepairedSession { repaired: repaired.into_owned(), rows, new }))
}

/// The conversation that the program would send, repaired as [`repair`] does. Returns nothing if the database has no such
/// session.
///
/// # Errors
///
/// Fails when SQLite cannot read the database, or the options name something that does not exist.
pub fn conversation(database: &Database, session: &str, options: &Options) -> Result<Option<SavedConversation>, Error> {
    let Some(mut found) = repair(database, session, options)? else { return Ok(None) };
    let lines =
        if found.is_changed() { std::mem::take(&mut found.repaired.bytes).into_owned() } else { found.rows.lines() };
    let saved = SavedConversation::of(found.repaired);
    Ok(Some(saved.with_records(database.format(), (session, &lines))))
}

/// Everything readable of a session: its conversation, and all other rows. Returns nothing if the database has no such session.
///
/// # Errors
///
/// Fails when SQLite cannot read the database, or the options name something that does not exist.
pub fn salvage(database: &Database, session: &str, options: &Options) -> Result<Option<Salvaged<'static>>, Error> {
    let Some(repaired) = repair(database, session, options)? else { return Ok(None) };
    let name = database.path().to_string_lossy();
    let kind = (database.program(), database.format());
    Ok(Some(salvage_rows(&name, repaired.rows.lines(), kind, repaired.repaired)))
}

impl RepairedSession {
    /// Whether the repair changes rows.
    pub fn is_changed(&self) -> bool {
        !self.new.is_empty()
    }

    /// Writes the repaired rows in one transaction, if they still are what was read. First it copies the whole database to
    /// `backup`, a new file. It gives the journal for [`undo`] to `keep` before the transaction ends; if `keep` fails,
    /// nothing is written. Does nothing if the repair changes no row.
    ///
    /// # Errors
    ///
    /// Fails, and changes nothing, when another process is writing, the session changed since it was read, SQLite finds
    /// damage, or the backup or the journal cannot be stored.
    pub fn write(
        &self,
        database: &Database,
        backup: &Path,
        keep: &mut dyn FnMut(&Journal) -> io::Result<()>,
    ) -> Result<Option<Journal>, Error> {
        if !self.is_changed() {
            return Ok(None);
        }
        Ok(Some(database.write(&self.rows, &self.new, backup, keep)?))
    }
}
