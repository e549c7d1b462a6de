//! Opens a database to read it.
#![expect(
    clippy::disallowed_methods,
    reason = "a database is read where it is: SQLite opens the file that the caller names"
)]

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::error::DatabaseError;
use super::rows::{NewRow, RowLines, Rows};
use super::schema::{Plan, RowPlace, Schema, SessionRow};
use super::schemas::ALL;
use crate::Program;
use crate::session::{FileInput, FileReading, Format, KeptTexts};

/// The first bytes of every SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// The place of the byte of the header that tells how changes are stored, and its value for a log beside the database.
const VERSION_AT: usize = 18;
const WITH_LOG: u8 = 2;
/// The bytes of the header that are read.
const HEADER_BYTES: usize = 100;

/// Whether the first bytes of a file are those of an SQLite database.
pub fn is_database(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// A database of a program, open to be read.
pub struct Database {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    pub(super) schema: &'static Schema,
}

/// A session, read from a database.
#[derive(Debug, Clone)]
pub struct SessionReading {
    /// The reading of the rows by the format of the program. The line of a record is the number of its row, from 1.
    pub reading: FileReading,
    /// The places of the rows.
    pub rows: Vec<RowPlace>,
}

impl Database {
    /// Opens a database read-only. Returns nothing if the file is not a database, or not one of a known program. SQLite creates no
    /// file beside a database that its program closed.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read, or when SQLite cannot read the changes in the log beside it.
    pub fn open(path: &Path) -> Result<Option<Self>, DatabaseError> {
        let Some(header) = header(path)? else { return Ok(None) };
        let connection = connect(path, header[VERSION_AT] == WITH_LOG)?;
        let schema = recognise(&connection).map_err(|error| of_opening(&error, path))?;
        Ok(schema.map(|schema| Self { connection, path: path.to_owned(), schema }))
    }

    /// The program that the database belongs to.
    pub fn program(&self) -> &'static Program {
        self.schema.program
    }

    /// How the rows of a session are read and written as records.
    pub fn format(&self) -> &'static Format {
        self.schema.format
    }

    /// The path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether repaired sessions can be written.
    pub fn is_writable(&self) -> bool {
        self.schema.edits.is_some()
    }

    /// The sessions, the last changed one first.
    ///
    /// # Errors
    ///
    /// Fails when SQLite cannot read the database.
    pub fn sessions(&self) -> Result<Vec<SessionRow>, DatabaseError> {
        let mut sessions =
            (self.schema.sessions)(&self.connection).map_err(|error| DatabaseError::of_reading(&error))?;
        sessions.sort_by(|one, other| other.updated_ms.cmp(&one.updated_ms).then_with(|| one.id.cmp(&other.id)));
        Ok(sessions)
    }

    /// About how many bytes the rows of a session have.
    ///
    /// # Errors
    ///
    /// Fails when SQLite cannot read the database.
    pub fn bytes_of(&self, session: &str) -> Result<u64, DatabaseError> {
        let count = self.connection.query_row(self.schema.bytes, [session], |row| row.get::<_, Option<i64>>(0));
        let count = count.map_err(|error| DatabaseError::of_reading(&error))?;
        Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or_default())
    }

    /// Reads a session, one row after the other. Returns nothing if there is no such session.
    ///
    /// # Errors
    ///
    /// Fails when SQLite cannot read the database.
    pub fn read(&self, session: &str, content: KeptTexts) -> Result<Option<SessionReading>, DatabaseError> {
        let of_reading = |error: rusqlite::Error| DatabaseError::of_reading(&error);
        // All rows are read as they were at one time.
        let _snapshot = self.connection.unchecked_transaction().map_err(of_reading)?;
        let listed = (self.schema.rows)(&self.connection, session).map_err(of_reading)?;
        if listed.is_empty() {
            return Ok(None);
        }
        let mut lines = RowLines::new(&self.connection, self.schema, &listed);
        let name = self.path.to_string_lossy();
        let read = self.schema.format.read(&mut FileInput { bytes: &mut lines, name: &name, content });
        let reading = read.map_err(|error| DatabaseError::Read(error.to_string()))?;
        Ok(Some(SessionReading { reading, rows: listed.into_iter().map(|row| row.place).collect() }))
    }

    /// Loads the rows of a session. Returns nothing if there is no such session.
    ///
    /// # Errors
    ///
    /// Fails when SQLite cannot read the database.
    pub fn rows(&self, session: &str) -> Result<Option<Rows>, DatabaseError> {
        let snapshot = self.connection.unchecked_transaction();
        let _snapshot = snapshot.map_err(|error| DatabaseError::of_reading(&error))?;
        let rows = Rows::load(&self.connection, self.schema, session)?;
        Ok(Some(rows).filter(|rows| !rows.places.is_empty()))
    }

    /// Whether the rows of a session can become other ones.
    ///
    /// # Errors
    ///
    /// Fails when SQLite cannot read the database.
    pub fn can_hold(&self, rows: &Rows, new: &[NewRow]) -> Result<bool, DatabaseError> {
        let plan = Plan { places: &rows.places, texts: &rows.texts, new };
        let Some(edits) = self.schema.edits else { return Ok(false) };
        let planned = edits(&self.connection, &plan).map_err(|error| DatabaseError::of_reading(&error))?;
        Ok(planned.is_some())
    }
}

/// Connects to a database that is to be read.
pub(super) fn connect_to(path: &Path) -> Result<Connection, DatabaseError> {
    let header = header(path)?.ok_or_else(|| DatabaseError::Open("it is not a database".to_owned()))?;
    connect(path, header[VERSION_AT] == WITH_LOG)
}

/// The header of a database; nothing if the file is something else.
fn header(path: &Path) -> Result<Option<Vec<u8>>, DatabaseError> {
    let mut header = Vec::with_capacity(HEADER_BYTES);
    let read = File::open(path).and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut header));
    read.map_err(|error| DatabaseError::Open(error.to_string()))?;
    Ok((is_database(&header) && header.len() == HEADER_BYTES).then_some(header))
}

/// Connects to a database. SQLite creates files beside a database with a log even to read it, unless it takes the file as
/// immutable. It may do so where no other process has the database open, which the missing files show.
fn connect(path: &Path, has_log: bool) -> Result<Connection, DatabaseError> {
    let is_closed = has_log && !holds_bytes(&beside(path, "-wal")) && !beside(path, "-shm").exists();
    let opened = match uri(path).filter(|_| is_closed) {
        Some(uri) => {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(uri, flags)
        }
        None => Connection::open_with_flags(absolute(path), OpenFlags::SQLITE_OPEN_READ_ONLY),
    };
    opened.map_err(|error| of_opening(&error, path))
}

fn of_opening(error: &rusqlite::Error, path: &Path) -> DatabaseError {
    let cannot_open = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
    );
    let has_changes = ["-wal", "-journal"].iter().any(|ending| holds_bytes(&beside(path, ending)));
    match DatabaseError::of_reading(error) {
        _ if cannot_open && has_changes => DatabaseError::Unrecovered,
        DatabaseError::Read(why) => DatabaseError::Open(why),
        other => other,
    }
}

/// The path of a file that SQLite keeps beside a database.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn holds_bytes(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.len() > 0)
}

/// SQLite never takes an absolute path as `:memory:` or as a URI.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The URI of a database that no process changes; nothing for a path that is not UTF-8.
fn uri(path: &Path) -> Option<String> {
    let path = absolute(path);
    let text = path.to_str()?.replace('\\', "/");
    let mut uri = if text.starts_with('/') { "file://".to_owned() } else { "file:///".to_owned() };
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b':' => {
                uri.push(char::from(byte));
            }
            _ => uri.extend(['%', hex(byte >> 4), hex(byte & 15)]),
        }
    }
    Some(uri + "?mode=ro&immutable=1")
}

/// Finds the program whose tables a database has.
fn recognise(connection: &Connection) -> rusqlite::Result<Option<&'static Schema>> {
    for schema in ALL {
        let mut fits = true;
        for (table, columns) in schema.signs {
            let found = columns_of(connection, table)?;
            fits &= columns.iter().all(|column| found.iter().any(|found| found == column));
        }
        if fits {
            return Ok(Some(schema));
        }
    }
    Ok(None)
}

/// The names of the columns of a table; none if there is no such table.
pub(super) fn columns_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}
/// A hexadecimal digit.
fn hex(digit: u8) -> char {
    char::from(b"0123456789ABCDEF"[usize::from(digit & 15)])
}
