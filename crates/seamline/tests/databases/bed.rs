//! Databases for tests, made by SQL.

use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use seamline::files::database::{self, CheckedSession, Database, Journal, RepairedSession};
use seamline::{Options, Severity};
use tempfile::TempDir;

/// A database in a folder of its own.
pub(crate) struct Bed {
    folder: TempDir,
}

impl Bed {
    pub(crate) fn new(sql: &[&str]) -> Self {
        let bed = Self { folder: tempfile::tempdir().unwrap() };
        let connection = Connection::open(bed.path()).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        for sql in sql {
            connection.execute_batch(sql).unwrap();
        }
        bed
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("sessions.db")
    }

    pub(crate) fn backup(&self) -> PathBuf {
        self.folder.path().join("backup.db")
    }

    pub(crate) fn connection(&self) -> Connection {
        Connection::open_with_flags(self.path(), OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap()
    }

    pub(crate) fn open(&self) -> Database {
        Database::open(&self.path()).unwrap().unwrap()
    }

    pub(crate) fn check(&self, session: &str) -> CheckedSession {
        database::check(&self.open(), session, &Options::default()).unwrap().unwrap()
    }

    pub(crate) fn repair(&self, session: &str) -> RepairedSession {
        database::repair(&self.open(), session, &Options::default()).unwrap().unwrap()
    }

    /// Repairs a session, writes it, and checks that nothing is left.
    pub(crate) fn fix(&self, session: &str) -> Journal {
        let repaired = self.repair(session);
        assert_eq!(repaired.repaired.refusal, None);
        let _ = std::fs::remove_file(self.backup());
        let journal = repaired.write(&self.open(), &self.backup(), &mut |_| Ok(())).unwrap().unwrap();
        assert_eq!(findings(&self.check(session)), Vec::<String>::new());
        assert!(!self.repair(session).is_changed(), "a second repair changes rows");
        journal
    }

    /// Checks that a session is healthy and that a repair leaves it alone.
    pub(crate) fn assert_healthy(&self, session: &str) {
        let before = self.dump();
        assert_eq!(findings(&self.check(session)), Vec::<String>::new());
        assert!(!self.repair(session).is_changed());
        assert_eq!(self.dump(), before);
    }

    /// Undoes a repair, and checks that the database holds what it held before.
    pub(crate) fn undo(&self, journal: &Journal, before: &str) {
        let json = serde_json::to_string(journal).unwrap();
        database::undo(&self.path(), &serde_json::from_str(&json).unwrap()).unwrap();
        assert_eq!(self.dump(), before);
    }

    /// All that a database holds, as text.
    pub(crate) fn dump(&self) -> String {
        dump(&self.path())
    }

    /// The value of one query.
    pub(crate) fn value(&self, sql: &str) -> String {
        self.connection().query_row(sql, [], |row| Ok(shown(row.get_ref(0)?))).unwrap()
    }
}

pub(crate) fn dump(path: &Path) -> String {
    // A connection that may write removes the files beside the database when it closes.
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    let mut schema = connection.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").unwrap();
    let tables = schema.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let tables: Vec<(String, Option<String>)> = tables.map(Result::unwrap).collect();
    let mut text = String::new();
    for (name, sql) in tables {
        let sql = sql.unwrap_or_default();
        text += &format!("{sql}\n");
        if !sql.starts_with("CREATE TABLE") {
            continue;
        }
        let mut rows = connection.prepare(&format!("SELECT * FROM \"{name}\"")).unwrap();
        let columns = rows.column_count();
        let line = |row: &rusqlite::Row<'_>| {
            let cells = (0..columns).map(|at| row.get_ref(at).map(shown));
            Ok(cells.collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
        };
        let mut lines: Vec<String> = rows.query_map([], line).unwrap().map(Result::unwrap).collect();
        lines.sort();
        text += &(lines.join("\n") + "\n");
    }
    text
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => format!("{number:?}"),
        ValueRef::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
        ValueRef::Blob(bytes) => format!("{bytes:?}"),
    }
}

/// The findings above a note: their codes, and the places of their rows.
pub(crate) fn findings(checked: &CheckedSession) -> Vec<String> {
    let findings = checked.checked.findings.iter().filter(|finding| finding.severity > Severity::Info);
    let place = |line: usize| checked.rows[line - 1].to_string();
    findings.map(|finding| format!("{} {}", finding.code, finding.line.map(place).unwrap_or_default())).collect()
}
