//! Files that a store did not write.

use std::path::Path;

use futures_executor::block_on;
use rusqlite::Connection;
use seamline_store::cause::{Address, Damaged};
use seamline_store::{Acquire, Error, InboxItem, Lease, Raw, Store};
use seamline_store_sqlite::{SqliteOptions, SqliteStore, this_process};

use crate::bed::{Chance, Folder, open, seal, session};

fn refused(path: &Path) -> Error {
    SqliteStore::open(path, SqliteOptions::default()).unwrap_err()
}

/// Writes a store with one session and closes it.
fn write_store(path: &Path) -> Lease {
    let store = open(path);
    let name = session("s");
    let mut lease = block_on(store.create(&name, &this_process(1))).unwrap();
    block_on(store.append(seal(&name, &mut lease, 1, &["one"]))).unwrap();
    block_on(store.push(&name, &InboxItem { id: "i".into(), message: Raw::default(), dialect: None })).unwrap();
    block_on(store.quarantine(&name, b"aside")).unwrap();
    lease
}

#[test]
fn random_bytes_are_rejected() {
    let folder = Folder::new();
    let mut chance = Chance::new(3);
    for round in 0..100 {
        let len = 1 + chance.below(20_000);
        let mut bytes: Vec<u8> = (0..len).map(|_| chance.next() as u8).collect();
        if round % 2 == 0 {
            let start = b"SQLite format 3\0";
            let len = bytes.len().min(start.len());
            bytes[..len].copy_from_slice(&start[..len]);
        }
        std::fs::write(folder.file(), &bytes).unwrap();
        let error = refused(&folder.file());
        assert!(matches!(error, Error::Damaged(_) | Error::Address(_) | Error::Failed(_)), "{len}: {error}");
        assert_eq!(std::fs::read(folder.file()).unwrap(), bytes, "a file of another program stays unchanged");
    }
}

#[test]
fn the_database_of_another_application_is_left_alone() {
    let folder = Folder::new();
    for pragma in ["", "PRAGMA application_id = 77", "PRAGMA user_version = 1"] {
        let _ = std::fs::remove_file(folder.file());
        let other = Connection::open(folder.file()).unwrap();
        other.execute_batch(&format!("CREATE TABLE sessions (name); {pragma}")).unwrap();
        drop(other);
        let before = std::fs::read(folder.file()).unwrap();
        assert!(matches!(refused(&folder.file()), Error::Address(Address::OtherApplication { .. })), "{pragma}");
        assert_eq!(std::fs::read(folder.file()).unwrap(), before);
    }
}

#[test]
fn an_error_names_the_file_and_what_to_do() {
    let folder = Folder::new();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("text.db"), "not a database, but as long as the header of a database. ".repeat(9)).unwrap();
    Connection::open(path("other.db")).unwrap().execute_batch("CREATE TABLE theirs (name)").unwrap();
    std::fs::create_dir(path("folder")).unwrap();
    for read_only in [false, true] {
        let options = SqliteOptions { read_only, ..SqliteOptions::default() };
        let refused = |path: &Path| SqliteStore::open(path, options.clone()).unwrap_err();
        for (name, expected) in [
            ("folder", Error::Address(Address::Folder { path: path("folder") })),
            ("text.db", Error::Damaged(Damaged::NotSqlite { path: path("text.db") })),
            ("other.db", Error::Address(Address::OtherApplication { path: path("other.db") })),
        ] {
            let error = refused(&path(name));
            assert_eq!(error, expected);
            assert!(error.message().contains(path(name).to_str().unwrap()) && error.hint().is_some(), "{error}");
        }
        #[cfg(unix)]
        assert_eq!(refused(Path::new("/dev/null")), Error::Address(Address::NotAFile { path: "/dev/null".into() }));
    }
}

#[test]
fn a_newer_format_is_rejected_and_stays_unchanged() {
    let folder = Folder::new();
    write_store(&folder.file());
    let other = Connection::open(folder.file()).unwrap();
    other.execute_batch("PRAGMA user_version = 4; ALTER TABLE commits ADD COLUMN more ANY").unwrap();
    drop(other);
    assert_eq!(refused(&folder.file()), Error::NewerFormat { found: 4, known: 3 });
    let options = SqliteOptions { read_only: true, ..SqliteOptions::default() };
    let error = SqliteStore::open(folder.file(), options).unwrap_err();
    assert_eq!(error, Error::NewerFormat { found: 4, known: 3 });
}

#[test]
fn altered_tables_are_damage() {
    for change in [
        "DROP TABLE commits",
        "DROP TABLE inbox",
        "DROP INDEX inbox_waiting",
        "ALTER TABLE sessions ADD COLUMN more ANY",
        "ALTER TABLE sessions RENAME COLUMN epoch TO epoche",
        "CREATE TRIGGER hidden AFTER INSERT ON commits BEGIN DELETE FROM commits; END",
        "DROP TABLE quarantine; CREATE VIEW quarantine AS SELECT session, x'' AS hash, x'' AS bytes FROM sessions",
        "CREATE INDEX backwards ON commits (seq DESC)",
        "PRAGMA user_version = -1",
    ] {
        let folder = Folder::new();
        write_store(&folder.file());
        Connection::open(folder.file()).unwrap().execute_batch(change).unwrap();
        let error = refused(&folder.file());
        assert!(matches!(error, Error::Damaged(_)), "{change}: {error}");
    }
}

#[test]
fn a_table_dropped_while_the_store_is_open_is_damage() {
    let folder = Folder::new();
    let mut lease = write_store(&folder.file());
    let store = open(&folder.file());
    let name = session("s");
    block_on(store.read(&name, 0, usize::MAX)).unwrap();
    Connection::open(folder.file()).unwrap().execute_batch("DROP TABLE commits").unwrap();
    let read = block_on(store.read(&name, 0, usize::MAX));
    assert!(matches!(read, Err(Error::Damaged(_))), "{read:?}");
    let appended = block_on(store.append(seal(&name, &mut lease, 2, &["two"])));
    assert!(matches!(appended, Err(Error::Damaged(_))), "{appended:?}");
}

#[test]
fn other_tables_are_allowed_beside_ours() {
    let folder = Folder::new();
    write_store(&folder.file());
    Connection::open(folder.file()).unwrap().execute_batch("CREATE TABLE replica (at)").unwrap();
    block_on(open(&folder.file()).read_head(&session("s"))).unwrap();
}

#[test]
fn values_of_another_type_are_damage_and_never_a_panic() {
    for (table, column) in [
        ("sessions", "epoch"),
        ("sessions", "head_seq"),
        ("sessions", "head_hash"),
        ("sessions", "waiting"),
        ("sessions", "erased"),
        ("commits", "seq"),
        ("commits", "bytes"),
        ("inbox", "message"),
        ("inbox", "hash"),
        ("inbox", "id"),
        ("quarantine", "hash"),
        ("quarantine", "bytes"),
    ] {
        for value in ["NULL", "-1", "1.5", "'text'", "x''", "x'ff00'", "9223372036854775807", "zeroblob(32)"] {
            let folder = Folder::new();
            write_store(&folder.file());
            corrupt(&folder.file(), table, column, value);
            let store = open(&folder.file());
            let outcomes = run_all(&store);
            let is_expected = |error: &Error| {
                matches!(error, Error::Damaged(_) | Error::NotFound(_) | Error::Conflict(_) | Error::Fenced { .. })
                    || matches!(error, Error::Refused(_) | Error::Erased(_))
            };
            assert!(outcomes.iter().flatten().all(is_expected), "{table}.{column} = {value}: {outcomes:?}");
        }
    }
}

/// Puts a value of a wrong type into a column, and restores the SQL of the table.
fn corrupt(path: &Path, table: &str, column: &str, value: &str) {
    let file = Connection::open(path).unwrap();
    let rewrite = |from: &str, to: &str| {
        let change = "UPDATE sqlite_schema SET sql = replace(sql, ?1, ?2) WHERE name = ?3";
        file.execute_batch("PRAGMA writable_schema = ON").unwrap();
        file.execute(change, [from, to, table]).unwrap();
        file.execute_batch("PRAGMA writable_schema = RESET").unwrap();
    };
    file.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    rewrite(") STRICT", ") /*IC*/");
    rewrite(" NOT NULL,", " /*T NULL*/,");
    for kind in ["INTEGER", "TEXT", "BLOB"] {
        rewrite(&format!("{column} {kind}"), &format!("{column} /*{kind}"));
    }
    rewrite("/*INTEGER", "/*INTEGER*/");
    rewrite("/*TEXT", "/*TEXT*/");
    rewrite("/*BLOB", "/*BLOB*/");
    // Some tables accept no such value; then nothing is corrupted, which is fine too.
    let _ = file.execute_batch(&format!("UPDATE {table} SET {column} = {value}"));
    rewrite("/*INTEGER*/", "INTEGER");
    rewrite("/*TEXT*/", "TEXT");
    rewrite("/*BLOB*/", "BLOB");
    rewrite(" /*T NULL*/,", " NOT NULL,");
    rewrite(") /*IC*/", ") STRICT");
}

/// Runs every operation and returns the errors.
fn run_all(store: &SqliteStore) -> Vec<Option<Error>> {
    let (name, own) = (session("s"), this_process(2));
    let head = block_on(store.read_head(&name));
    let mut outcomes = vec![
        block_on(store.read(&name, 0, usize::MAX)).err(),
        block_on(store.list_sessions(None, 10)).err(),
        block_on(store.read_inbox(&name)).err(),
        block_on(store.read_quarantine(&name)).err(),
        block_on(store.push(&name, &InboxItem { id: "j".into(), message: Raw::default(), dialect: None })).err(),
        block_on(store.quarantine(&name, b"more")).err(),
    ];
    if let Ok(head) = head {
        let mut lease = Lease { epoch: head.epoch, head };
        // No commit can follow some damaged heads.
        if head.seq < u64::MAX >> 2 {
            outcomes.push(block_on(store.append(seal(&name, &mut lease, 2, &["two"]))).err());
        }
    }
    outcomes.push(block_on(store.acquire(&name, &own, Acquire::TakeOver)).err());
    outcomes.push(block_on(store.erase(&name)).err());
    outcomes
}

#[test]
fn commits_without_their_session_are_damage_not_an_empty_store() {
    for harm in ["DELETE FROM sessions", "UPDATE sessions SET erased = 1, head_hash = NULL"] {
        let folder = Folder::new();
        write_store(&folder.file());
        let file = Connection::open(folder.file()).unwrap();
        file.execute_batch(&format!("PRAGMA foreign_keys = OFF; {harm}")).unwrap();
        let store = open(&folder.file());
        assert!(matches!(block_on(store.list_sessions(None, 10)), Err(Error::Damaged(_))), "{harm}");
    }
}
