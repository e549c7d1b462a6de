//! The view of a rollout that Codex keeps in a database.
//!
//! Codex lists the turns of a long thread from `thread_history_N.sqlite`, and continues to read the rollout at the byte and
//! the record number that it noted there. A repair changes both, so the rows of the thread have to go. Codex then reads the
//! rollout from its beginning.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _};

use super::cell::Cell;
use super::error::DatabaseError;
use super::journal::{Cells, Journal, RowChange, VERSION};
use super::open;
use super::writing::{begin, connect, make, named};

/// The tables with rows of a thread.
const TABLES: [&str; 3] = ["thread_items", "thread_turns", STATE];
/// The table that notes how far Codex has read a rollout.
const STATE: &str = "thread_history_projection_state";
/// The column that names the thread.
const THREAD: &str = "thread_id";
/// The most rows of a thread that are kept for an undo.
const ROWS_MAX: usize = 1_000_000;
/// The folders of Codex with rollouts.
const FOLDERS: [&str; 2] = ["sessions", "archived_sessions"];

/// The view of one rollout in a database of Codex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection {
    /// The path of the database.
    pub database: PathBuf,
    /// The id of the rollout.
    pub rollout: String,
}

impl Projection {
    /// The view of a rollout in a database. Returns nothing if one of the files has another name than Codex gives it.
    pub fn of(rollout: &Path, database: &Path) -> Option<Self> {
        let name = database.file_name()?.to_str()?;
        let is_history = name.starts_with("thread_history_") && name.ends_with(".sqlite");
        let rollout = rollout_id(rollout.file_name()?.to_str()?)?.to_owned();
        is_history.then(|| Self { database: database.to_owned(), rollout })
    }

    /// The folder of Codex that a rollout is in. Codex keeps its databases there, unless it is told another folder.
    pub fn home(rollout: &Path) -> Option<&Path> {
        let is_known =
            |folder: &&Path| folder.file_name().is_some_and(|name| FOLDERS.iter().any(|known| name == *known));
        rollout.ancestors().skip(1).find(is_known)?.parent()
    }

    /// Reads the rows of the rollout. Returns nothing if there are none, or if they stay right when the rollout becomes
    /// another one whose first `unchanged` bytes are the same.
    ///
    /// # Errors
    ///
    /// Fails when SQLite cannot read the database, or its tables are not those that Codex is known to write.
    pub fn rows(&self, unchanged: u64) -> Result<Option<Journal>, DatabaseError> {
        let connection = open::connect_to(&self.database)?;
        let state = self.read_so_far(&connection).map_err(|error| DatabaseError::of_reading(&error))?;
        if state.is_some_and(|offset| u64::try_from(offset).is_ok_and(|offset| offset <= unchanged)) {
            return Ok(None);
        }
        let changes = self.load(&connection)?;
        Ok((!changes.is_empty()).then(|| Journal {
            version: VERSION,
            program: "Codex".to_owned(),
            session: self.rollout.clone(),
            changes,
            counters: Vec::new(),
            unlinked: Vec::new(),
        }))
    }

    /// How many bytes of the rollout Codex has read.
    fn read_so_far(&self, connection: &Connection) -> rusqlite::Result<Option<i64>> {
        if !connection.table_exists(None, STATE)? {
            return Ok(None);
        }
        let sql = format!("SELECT next_rollout_byte_offset FROM {STATE} WHERE {THREAD} = ?1");
        connection.query_row(&sql, [&self.rollout], |row| row.get(0)).optional()
    }

    /// Removes the rows in one transaction.
    ///
    /// # Errors
    ///
    /// Fails, and changes nothing, when another process is writing, or the rows are not those of the journal.
    pub fn remove(&self, journal: &Journal) -> Result<(), DatabaseError> {
        let mut connection = connect(&self.database)?;
        let transaction = begin(&mut connection)?;
        if self.load(&transaction)? != journal.changes {
            return Err(DatabaseError::Changed);
        }
        self.clear(&transaction)?;
        transaction.commit().map_err(|error| DatabaseError::of_writing(&error))
    }

    /// Gives the rollout the rows of the journal again, instead of those that Codex may have written since.
    ///
    /// # Errors
    ///
    /// Fails, and changes nothing, when another process is writing, or when the tables do not take the rows any more.
    pub fn restore(&self, journal: &Journal) -> Result<(), DatabaseError> {
        let mut connection = connect(&self.database)?;
        let transaction = begin(&mut connection)?;
        self.clear(&transaction)?;
        journal.changes.iter().try_for_each(|change| make(&transaction, &change.reversed()))?;
        transaction.commit().map_err(|error| DatabaseError::of_writing(&error))
    }

    /// Removes all rows of the rollout, whatever they are.
    fn clear(&self, connection: &Connection) -> Result<(), DatabaseError> {
        for table in TABLES {
            let sql = format!("DELETE FROM {table} WHERE {THREAD} = ?1");
            connection.execute(&sql, [&self.rollout]).map_err(|error| DatabaseError::of_writing(&error))?;
        }
        Ok(())
    }

    /// The rows of the rollout, as changes that remove them.
    fn load(&self, connection: &Connection) -> Result<Vec<RowChange>, DatabaseError> {
        let of_reading = |error: rusqlite::Error| DatabaseError::of_reading(&error);
        let tables = tables(connection).map_err(of_reading)?;
        let known = tables.iter().filter(|table| TABLES.contains(&table.as_str())).count();
        let is_other = |table: &&String| !TABLES.contains(&table.as_str()) && !is_about_tables(table);
        if tables.iter().any(|table| is_other(&table)) || known > 0 && known < TABLES.len() {
            return Err(DatabaseError::UnknownTables);
        }
        if known == 0 {
            return Ok(Vec::new());
        }
        let mut changes = Vec::new();
        for table in TABLES {
            changes.extend(self.load_table(connection, table).map_err(of_reading)?);
        }
        if changes.len() > ROWS_MAX { Err(DatabaseError::CannotHold) } else { Ok(changes) }
    }

    fn load_table(&self, connection: &Connection, table: &str) -> rusqlite::Result<Vec<RowChange>> {
        let sql = format!("SELECT * FROM {} WHERE {THREAD} = ?1 ORDER BY rowid", named(table));
        let mut statement = connection.prepare(&sql)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let rows = statement.query_map([&self.rollout], |row| {
            let cells = names.iter().enumerate().map(|(at, name)| Ok((name.clone(), row.get::<_, Cell>(at)?)));
            cells.collect::<rusqlite::Result<Cells>>()
        })?;
        let change = |cells| RowChange { table: table.to_owned(), before: Some(cells), after: None };
        rows.take(ROWS_MAX + 1).map(|cells| cells.map(change)).collect()
    }
}

/// Whether a table only describes the others.
fn is_about_tables(table: &str) -> bool {
    table == "_sqlx_migrations" || table.starts_with("sqlite_")
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// The id of the rollout in the name of its file: `rollout-<time>-<thread>.jsonl`, and after a revert
/// `rollout-<time>-<thread>_<rollout>.jsonl`.
fn rollout_id(name: &str) -> Option<&str> {
    const TIME: usize = "2026-03-01T10-00-00-".len();
    let name = name.strip_suffix(".zst").unwrap_or(name);
    let ids = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?.get(TIME..)?;
    Some(ids.split_once('_').map_or(ids, |(_, rollout)| rollout)).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_codex_is_above_its_sessions() {
        let rollout = Path::new("/srv/ann/.codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-0199-a.jsonl");
        assert_eq!(Projection::home(rollout), Some(Path::new("/srv/ann/.codex")));
        assert_eq!(Projection::home(Path::new("/tmp/rollout-2026-03-01T10-00-00-0199-a.jsonl")), None);
        let of = |name: &str| Projection::of(rollout, Path::new(name)).map(|found| found.rollout);
        assert_eq!(of("/srv/ann/.codex/thread_history_1.sqlite").as_deref(), Some("0199-a"));
        assert_eq!((of("thread_history_1.sqlite-wal"), of("state_5.sqlite")), (None, None));
    }

    #[test]
    fn the_name_of_a_file_has_the_id_of_its_rollout() {
        assert_eq!(rollout_id("rollout-2026-03-01T10-00-00-0199-a.jsonl"), Some("0199-a"));
        assert_eq!(rollout_id("rollout-2026-03-01T10-00-00-0199-a_0200-b.jsonl.zst"), Some("0200-b"));
        assert_eq!(rollout_id("rollout-2026.jsonl"), None);
        assert_eq!(rollout_id("notes.jsonl"), None);
    }
}
