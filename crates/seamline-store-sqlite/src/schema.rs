//! The tables, and how the store recognises its own files.

use std::path::Path;
use std::sync::OnceLock;

use rusqlite::Connection;
use seamline_store::{Error, cause};

use crate::failure::{Failure, Outcome};

/// The application id in SQLite's header that marks a store: `SEAM`.
pub(crate) const APPLICATION_ID: i64 = 0x5345_414d;

/// The migrations from each format to the next. A released migration never changes: files were written with it.
const MIGRATIONS: [&str; 3] = [
    "
    CREATE TABLE sessions (
        session TEXT NOT NULL PRIMARY KEY,
        epoch INTEGER NOT NULL,
        head_seq INTEGER NOT NULL,
        head_hash BLOB,
        commits INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        waiting INTEGER NOT NULL,
        holder TEXT,
        erased INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE commits (
        session TEXT NOT NULL REFERENCES sessions (session),
        seq INTEGER NOT NULL,
        count INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        id BLOB NOT NULL,
        hash BLOB NOT NULL,
        bytes BLOB NOT NULL,
        UNIQUE (session, seq)
    ) STRICT;
    CREATE TABLE inbox (
        number INTEGER PRIMARY KEY,
        session TEXT NOT NULL REFERENCES sessions (session),
        id TEXT NOT NULL,
        message TEXT,
        hash BLOB,
        UNIQUE (session, id)
    ) STRICT;
    CREATE INDEX inbox_waiting ON inbox (session, number) WHERE message IS NOT NULL;
    CREATE TABLE quarantine (
        session TEXT NOT NULL REFERENCES sessions (session),
        hash BLOB NOT NULL,
        bytes BLOB NOT NULL,
        UNIQUE (session, hash)
    ) STRICT;
",
    "ALTER TABLE inbox ADD COLUMN dialect TEXT",
    "ALTER TABLE sessions ADD COLUMN dialect TEXT",
];

/// The first format whose inbox has the dialects of messages.
const WITH_DIALECTS: u64 = 2;

/// The first format whose sessions have their dialect.
const WITH_SESSION_DIALECTS: u64 = 3;

/// The tables of a store. Other tables are allowed, such as those of a replication tool.
const TABLES: [&str; 4] = ["sessions", "commits", "inbox", "quarantine"];

/// The format that this version writes.
pub(crate) const FORMAT: u64 = MIGRATIONS.len() as u64;

/// The state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// The file has no tables.
    Empty,
    /// A store in this or an older format.
    Known(u64),
}

/// Returns the format of the file. Fails if the file belongs to another application.
pub(crate) fn format(connection: &Connection, path: &Path) -> Outcome<Format> {
    let application: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if application == 0 && version == 0 {
        let is_empty: bool =
            connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?;
        if is_empty {
            return Ok(Format::Empty);
        }
    }
    if application != APPLICATION_ID {
        return Err(Error::Address(cause::Address::OtherApplication { path: path.to_owned() }).into());
    }
    match u64::try_from(version) {
        Ok(found) if found > FORMAT => Err(Error::NewerFormat { found, known: FORMAT }.into()),
        Ok(found) if found > 0 => Ok(Format::Known(found)),
        _ => Err(Failure::Inconsistent("the format number is not valid")),
    }
}

/// Upgrades the file to the format of this version. If two processes try at once, the second one finds it done.
pub(crate) fn migrate(connection: &Connection, path: &Path) -> Outcome<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let migrated = format(connection, path).and_then(|format| {
        let done = match format {
            Format::Empty => 0,
            Format::Known(version) => version,
        };
        for migration in MIGRATIONS.iter().skip(usize::try_from(done).unwrap_or(usize::MAX)) {
            connection.execute_batch(migration)?;
        }
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", rusqlite::types::Value::Integer(FORMAT.cast_signed()))?;
        Ok(connection.execute_batch("COMMIT")?)
    });
    if migrated.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    migrated
}

/// Whether the inbox has the dialects of messages. A file that only readers opened keeps its format.
pub(crate) fn has_dialects(connection: &Connection) -> Outcome<bool> {
    has_format(connection, WITH_DIALECTS)
}

/// Whether the sessions have their dialect.
pub(crate) fn has_session_dialects(connection: &Connection) -> Outcome<bool> {
    has_format(connection, WITH_SESSION_DIALECTS)
}

fn has_format(connection: &Connection, least: u64) -> Outcome<bool> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(u64::try_from(version).is_ok_and(|version| version >= least))
}

/// Checks that the tables were created with exactly the store's own SQL: a damaged or hostile schema is rejected.
pub(crate) fn verify(connection: &Connection, format: u64) -> Outcome<()> {
    if objects(connection)? != *expected(format)? {
        return Err(Failure::Inconsistent("the tables are not the tables of a store"));
    }
    Ok(())
}

/// An index, table, trigger or view: its type, its name and its SQL.
type Object = (String, String, Option<String>);

fn expected(format: u64) -> Outcome<&'static Vec<Object>> {
    static EXPECTED: [OnceLock<Vec<Object>>; MIGRATIONS.len()] = [const { OnceLock::new() }; MIGRATIONS.len()];
    let last = usize::try_from(format).unwrap_or(MIGRATIONS.len()).clamp(1, MIGRATIONS.len()) - 1;
    let known = &EXPECTED[last];
    if let Some(expected) = known.get() {
        return Ok(expected);
    }
    let made = Connection::open_in_memory()?;
    for migration in &MIGRATIONS[..=last] {
        made.execute_batch(migration)?;
    }
    let objects = objects(&made)?;
    Ok(known.get_or_init(|| objects))
}

fn objects(connection: &Connection) -> Outcome<Vec<Object>> {
    let mut statement = connection.prepare(
        "SELECT type, name, sql FROM sqlite_schema WHERE tbl_name IN (?1, ?2, ?3, ?4) ORDER BY name LIMIT 64",
    )?;
    let objects = statement.query_map(TABLES, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(objects.collect::<Result<_, _>>()?)
}
