//! A schema: how one program keeps its sessions in tables.

use std::fmt;

use rusqlite::Connection;

use super::cell::Cell;
use super::rows::NewRow;
use crate::Program;
use crate::session::Format;

/// How one program keeps its sessions in tables.
pub(super) struct Schema {
    /// The program that writes it.
    pub(super) program: &'static Program,
    /// How the rows of a session are read and written as records, one per line.
    pub(super) format: &'static Format,
    /// The tables and columns by which a database of the program is recognised.
    pub(super) signs: &'static [(&'static str, &'static [&'static str])],
    /// Lists the sessions.
    pub(super) sessions: fn(&Connection) -> rusqlite::Result<Vec<SessionRow>>,
    /// The SQL that counts the bytes of a session.
    pub(super) bytes: &'static str,
    /// Lists the rows of a session, in the order of the program; none if there is no such session.
    pub(super) rows: fn(&Connection, &str) -> rusqlite::Result<Vec<Listed>>,
    /// Reads the row at a place as a record.
    pub(super) text: fn(&Connection, &RowPlace) -> rusqlite::Result<String>,
    /// Finds the changes to rows; nothing if the rows cannot hold the new records. A schema without this function is
    /// read-only.
    pub(super) edits: Option<EditRows>,
}

type EditRows = fn(&Connection, &Plan<'_>) -> rusqlite::Result<Option<Vec<RowEdit>>>;

/// A session in the list of a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionRow {
    /// The id of the session in its program.
    pub id: String,
    /// The title of the session.
    pub title: Option<String>,
    /// The folder that the program worked in.
    pub folder: Option<String>,
    /// The time of the last change, in milliseconds since 1970.
    pub updated_ms: Option<i64>,
    /// Whether the session belongs to a sub-agent, which its program does not resume by itself.
    pub is_subagent: bool,
}

/// The place of a row: its table, and the columns that identify it.
#[derive(Debug, Clone, PartialEq)]
pub struct RowPlace {
    /// The name of the table.
    pub table: &'static str,
    /// The columns of the key with their values.
    pub key: Vec<(&'static str, Cell)>,
}

impl RowPlace {
    pub(super) fn of(table: &'static str, column: &'static str, value: Cell) -> Self {
        Self { table, key: vec![(column, value)] }
    }
}

impl fmt::Display for RowPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.table)?;
        self.key.iter().try_for_each(|(_, value)| write!(f, " {value}"))
    }
}

/// A row of a session.
pub(super) struct Listed {
    pub(super) place: RowPlace,
    /// The record, for a program that keeps several records in one row.
    pub(super) text: Option<String>,
}

impl From<RowPlace> for Listed {
    fn from(place: RowPlace) -> Self {
        Self { place, text: None }
    }
}

/// A repaired session that is to be written.
pub(super) struct Plan<'p> {
    /// The rows as they are.
    pub(super) places: &'p [RowPlace],
    pub(super) texts: &'p [String],
    /// The rows as they are to be.
    pub(super) new: &'p [NewRow],
}

/// A change to one row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RowEdit {
    /// Gives columns of a row other values.
    Update { place: RowPlace, set: Vec<(&'static str, Cell)> },
    /// Adds a row. The values include those of its key.
    Insert { place: RowPlace, values: Vec<(&'static str, Cell)> },
    /// Removes a row.
    Delete { place: RowPlace },
}
