//! Writes a session, and undoes it.
#![expect(clippy::disallowed_methods, reason = "the backup goes into the file that the caller names")]

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags, ToSql, Transaction, TransactionBehavior, params_from_iter};

use super::cell::Cell;
use super::error::DatabaseError;
use super::journal::{Cells, Journal, RowChange, VERSION};
use super::open::{Database, absolute};
use super::rows::{NewRow, Rows};
use super::schema::{Plan, RowEdit, RowPlace};

/// How long a repair waits for another process to end its transaction.
const WAIT: Duration = Duration::from_secs(2);
/// How many pages of a backup are copied at a time.
const BACKUP_PAGES: i32 = 4096;
/// The most findings of SQLite that are counted.
const LINKS_MAX: usize = 100_000;

impl Database {
    /// Writes the rows of a session in one transaction, as [`write_all`](Self::write_all) does for several sessions.
    ///
    /// # Errors
    ///
    /// Fails as [`write_all`](Self::write_all) does.
    pub fn write(
        &self,
        rows: &Rows,
        new: &[NewRow],
        backup: &Path,
        keep: &mut dyn FnMut(&Journal) -> io::Result<()>,
    ) -> Result<Journal, DatabaseError> {
        let mut keep_all = |journals: &[Journal]| journals.iter().try_for_each(&mut *keep);
        let mut journals = self.write_all(&[SessionChange { rows, new }], backup, &mut keep_all)?;
        journals.pop().ok_or(DatabaseError::CannotHold)
    }

    /// Writes the rows of sessions in one transaction. First it copies the whole database to `backup`, a new file that only
    /// the owner can read. It gives the journals to `keep` before the transaction ends, so that a caller who stores them can
    /// always undo what was written.
    ///
    /// # Errors
    ///
    /// Fails, and changes nothing, when another process is writing, the rows are not the ones that were read, SQLite finds
    /// damage, or the backup or the journals cannot be stored.
    pub fn write_all(
        &self,
        sessions: &[SessionChange<'_>],
        backup: &Path,
        keep: &mut dyn FnMut(&[Journal]) -> io::Result<()>,
    ) -> Result<Vec<Journal>, DatabaseError> {
        let mut connection = connect(&self.path)?;
        let transaction = begin(&mut connection)?;
        for session in sessions {
            if Rows::load(&transaction, self.schema, &session.rows.session)? != *session.rows {
                return Err(DatabaseError::Changed);
            }
        }
        let unlinked = unlinked(&transaction)?;
        copy(&self.path, backup)?;
        let changed = sessions.iter().map(|session| self.change(&transaction, session, &unlinked));
        let journals = changed.collect::<Result<Vec<_>, _>>()?;
        verify(&transaction, &unlinked, &|_| false)?;
        keep(&journals).map_err(|error| DatabaseError::Journal(error.to_string()))?;
        transaction.commit().map_err(|error| DatabaseError::of_writing(&error))?;
        Ok(journals)
    }

    /// Changes the rows of one session.
    fn change(
        &self,
        transaction: &Transaction<'_>,
        session: &SessionChange<'_>,
        unlinked: &Unlinked,
    ) -> Result<Journal, DatabaseError> {
        let SessionChange { rows, new } = *session;
        let edits = self.schema.edits.ok_or(DatabaseError::CannotHold)?;
        let plan = Plan { places: &rows.places, texts: &rows.texts, new };
        let planned = edits(transaction, &plan).map_err(|error| DatabaseError::of_writing(&error))?;
        let planned = planned.ok_or(DatabaseError::CannotHold)?;
        let tables: Vec<&str> = planned.iter().map(|edit| edit.place().table).collect();
        let counters = counters(transaction, &tables)?;
        let changes = planned.iter().map(|edit| apply(transaction, edit)).collect::<Result<Vec<_>, _>>()?;
        let after = self::counters(transaction, &tables)?;
        let counters = counters.into_iter().zip(after).filter(|(before, after)| before != after);
        Ok(Journal {
            version: VERSION,
            program: self.schema.program.name.to_owned(),
            session: rows.session.clone(),
            changes,
            counters: counters.map(|((table, before), (_, after))| (table, before, after)).collect(),
            unlinked: unlinked.iter().map(|(table, ..)| table.clone()).collect::<BTreeSet<_>>().into_iter().collect(),
        })
    }
}

/// The change of one session: its rows, and what they become.
#[derive(Debug, Clone, Copy)]
pub struct SessionChange<'s> {
    /// The rows as they were read.
    pub rows: &'s Rows,
    /// The rows as they are to be.
    pub new: &'s [NewRow],
}

/// Undoes what a journal lists, in one transaction: every row gets the values that it had before.
///
/// # Errors
///
/// Fails, and changes nothing, when another process is writing, or when a row does not have the values any more that the
/// repair gave it.
pub fn undo(path: &Path, journal: &Journal) -> Result<(), DatabaseError> {
    undo_all(path, std::slice::from_ref(journal))
}

/// Undoes what the journals of one repair list, as [`undo`] does for one journal, in one transaction.
///
/// # Errors
///
/// Fails, and changes nothing, as [`undo`] does.
pub fn undo_all(path: &Path, journals: &[Journal]) -> Result<(), DatabaseError> {
    let mut connection = connect(path)?;
    let transaction = begin(&mut connection)?;
    let unlinked = unlinked(&transaction)?;
    for journal in journals.iter().rev() {
        for change in journal.changes.iter().rev() {
            make(&transaction, &change.reversed())?;
        }
        for (table, before, after) in &journal.counters {
            // The program counts on from a counter that it changed since.
            if counter(&transaction, table)? == *after {
                reset(&transaction, table, *before)?;
            }
        }
    }
    let was_unlinked = |table: &String| journals.iter().any(|journal| journal.unlinked.contains(table));
    verify(&transaction, &unlinked, &was_unlinked)?;
    transaction.commit().map_err(|error| DatabaseError::of_writing(&error))
}

pub(super) fn connect(path: &Path) -> Result<Connection, DatabaseError> {
    let open = || {
        let connection = Connection::open_with_flags(absolute(path), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.busy_timeout(WAIT)?;
        // Rows that the journal does not list must not change with others.
        connection.pragma_update(None, "foreign_keys", false)?;
        Ok(connection)
    };
    open().map_err(|error| DatabaseError::of_writing(&error))
}

pub(super) fn begin(connection: &mut Connection) -> Result<Transaction<'_>, DatabaseError> {
    let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    begun.map_err(|error| DatabaseError::of_writing(&error))
}

/// Copies a database into a new or empty file that only the owner can read. The transaction that writes is of another connection,
/// which keeps other writers away.
fn copy(path: &Path, backup: &Path) -> Result<(), DatabaseError> {
    let of_io = |error: io::Error| DatabaseError::Backup(error.to_string());
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let target = options.open(backup).map_err(of_io)?;
    // A caller may have created the file to lock it, but a file with content is another one.
    if target.metadata().map_err(of_io)?.len() > 0 {
        return Err(DatabaseError::Backup("the file is there already".to_owned()));
    }
    target.sync_all().map_err(of_io)?;
    drop(target);
    let copy = || {
        let source = Connection::open_with_flags(absolute(path), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let mut target = Connection::open_with_flags(absolute(backup), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        Backup::new(&source, &mut target)?.run_to_completion(BACKUP_PAGES, Duration::ZERO, None)?;
        // The copy is one file.
        target.pragma_update(None, "journal_mode", "DELETE")
    };
    copy().map_err(|error: rusqlite::Error| DatabaseError::Backup(error.to_string()))
}

impl RowEdit {
    fn place(&self) -> &RowPlace {
        match self {
            Self::Update { place, .. } | Self::Insert { place, .. } | Self::Delete { place } => place,
        }
    }
}

/// Makes a change, and notes the values before and after it.
fn apply(transaction: &Transaction<'_>, edit: &RowEdit) -> Result<RowChange, DatabaseError> {
    let place = edit.place();
    let table = place.table.to_owned();
    let owned = |cells: &[(&str, Cell)]| -> Cells {
        cells.iter().map(|(name, cell)| ((*name).to_owned(), cell.clone())).collect()
    };
    let key = owned(&place.key);
    let change = match edit {
        RowEdit::Update { set, .. } => {
            let all = row(transaction, place.table, &key)?.ok_or(DatabaseError::Changed)?;
            let mut after = key.clone();
            after.extend(owned(set));
            let before = all.into_iter().filter(|(name, _)| after.contains_key(name)).collect();
            RowChange { table, before: Some(before), after: Some(after) }
        }
        RowEdit::Insert { values, .. } => RowChange { table, before: None, after: Some(owned(values)) },
        RowEdit::Delete { .. } => RowChange { table, before: row(transaction, place.table, &key)?, after: None },
    };
    make(transaction, &change)?;
    // A new row also has the columns that SQLite filled.
    let after = match edit {
        RowEdit::Insert { .. } => row(transaction, place.table, &key)?,
        RowEdit::Update { .. } | RowEdit::Delete { .. } => change.after,
    };
    Ok(RowChange { after, ..change })
}

/// Makes a change to exactly one row, which has the values before it.
pub(super) fn make(transaction: &Transaction<'_>, change: &RowChange) -> Result<(), DatabaseError> {
    let table = named(&change.table);
    let listed = |cells: &Cells, form: &dyn Fn(String) -> String, by: &str| {
        cells.keys().map(|name| form(named(name))).collect::<Vec<_>>().join(by)
    };
    let fits = |cells: &Cells| listed(cells, &|name| format!("{name} IS ?"), " AND ");
    let (sql, values): (String, Vec<&Cell>) = match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            let set = listed(after, &|name| format!("{name} = ?"), ", ");
            let sql = format!("UPDATE {table} SET {set} WHERE {}", fits(before));
            (sql, after.values().chain(before.values()).collect())
        }
        (None, Some(after)) => {
            let (names, places) = (listed(after, &|name| name, ", "), listed(after, &|_| "?".to_owned(), ", "));
            (format!("INSERT INTO {table} ({names}) VALUES ({places})"), after.values().collect())
        }
        (Some(before), None) => (format!("DELETE FROM {table} WHERE {}", fits(before)), before.values().collect()),
        (None, None) => return Err(DatabaseError::Changed),
    };
    let values = values.into_iter().map(|cell| cell as &dyn ToSql);
    let changed = transaction.execute(&sql, params_from_iter(values));
    match changed.map_err(|error| DatabaseError::of_writing(&error))? {
        1 => Ok(()),
        _ => Err(DatabaseError::Changed),
    }
}

/// All columns of the row with a key.
fn row(transaction: &Transaction<'_>, table: &str, key: &Cells) -> Result<Option<Cells>, DatabaseError> {
    let fits = key.keys().map(|name| format!("{} IS ?", named(name))).collect::<Vec<_>>().join(" AND ");
    let read = || {
        let mut statement = transaction.prepare(&format!("SELECT * FROM {} WHERE {fits}", named(table)))?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query(params_from_iter(key.values()))?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let cells = names.iter().enumerate().map(|(at, name)| Ok((name.clone(), row.get::<_, Cell>(at)?)));
        cells.collect::<rusqlite::Result<Cells>>().map(Some)
    };
    read().map_err(|error| DatabaseError::of_writing(&error))
}

/// The name of a table or a column in SQL.
pub(super) fn named(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The counters for new keys of tables, each once and in the order of their names.
fn counters(transaction: &Transaction<'_>, tables: &[&str]) -> Result<Vec<(String, Option<i64>)>, DatabaseError> {
    let mut tables = tables.to_vec();
    tables.sort_unstable();
    tables.dedup();
    tables.into_iter().map(|table| Ok((table.to_owned(), counter(transaction, table)?))).collect()
}

/// The last key that SQLite gave out for a table that counts its keys.
fn counter(transaction: &Transaction<'_>, table: &str) -> Result<Option<i64>, DatabaseError> {
    let read = || {
        let counts = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'";
        if transaction.query_row(counts, [], |row| row.get::<_, i64>(0))? == 0 {
            return Ok(None);
        }
        let mut statement = transaction.prepare("SELECT seq FROM sqlite_sequence WHERE name = ?1")?;
        let mut rows = statement.query([table])?;
        rows.next()?.map(|row| row.get(0)).transpose()
    };
    read().map_err(|error| DatabaseError::of_writing(&error))
}

fn reset(transaction: &Transaction<'_>, table: &str, value: Option<i64>) -> Result<(), DatabaseError> {
    let done = match value {
        Some(value) => transaction.execute("UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1", (table, value)),
        None => transaction.execute("DELETE FROM sqlite_sequence WHERE name = ?1", [table]),
    };
    done.map(|_| ()).map_err(|error| DatabaseError::of_writing(&error))
}

/// The rows that refer to rows that are missing: the table, the key and the table that they refer to.
type Unlinked = Vec<(String, Option<i64>, String)>;

fn unlinked(transaction: &Transaction<'_>) -> Result<Unlinked, DatabaseError> {
    let read = || {
        let mut statement = transaction.prepare("PRAGMA foreign_key_check")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        rows.take(LINKS_MAX).collect::<rusqlite::Result<Unlinked>>()
    };
    read().map_err(|error| DatabaseError::of_writing(&error))
}

/// Checks a database before the transaction ends. Rows that referred to missing rows before may still do so, and rows of the
/// tables that may.
fn verify(
    transaction: &Transaction<'_>,
    before: &Unlinked,
    may: &dyn Fn(&String) -> bool,
) -> Result<(), DatabaseError> {
    if let Some((table, ..)) = unlinked(transaction)?.iter().find(|row| !before.contains(row) && !may(&row.0)) {
        return Err(DatabaseError::Unlinked(table.clone()));
    }
    let found = transaction.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
    match found.map_err(|error| DatabaseError::of_writing(&error))?.as_str() {
        "ok" => Ok(()),
        damage => Err(DatabaseError::Damaged(damage.to_owned())),
    }
}
