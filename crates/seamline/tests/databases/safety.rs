//! Reading leaves no trace, and writing changes everything or nothing.

use std::io;
use std::process::Command;

use rusqlite::Connection;
use seamline::Error;
use seamline::files::database::{self, Database, DatabaseError, undo};

use crate::bed::{Bed, dump};
use crate::opencode::{TEXT, Talk, running};

fn broken() -> Bed {
    Talk::new().user("build it").assistant(&[TEXT, &running("c1")]).user("and?").bed()
}

fn names(bed: &Bed) -> Vec<String> {
    let entries = std::fs::read_dir(bed.folder()).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn reading_a_closed_database_creates_no_file_and_changes_no_byte() {
    let bed = broken();
    let before = std::fs::read(bed.path()).unwrap();
    assert_eq!(names(&bed), ["sessions.db"]);
    let sessions = database::list(&bed.path()).unwrap().unwrap();
    assert_eq!((sessions.len(), sessions[0].updated_ms), (1, Some(9000)));
    let repaired = bed.repair("ses_1");
    assert!(repaired.is_changed());
    assert_eq!(names(&bed), ["sessions.db"]);
    assert_eq!(std::fs::read(bed.path()).unwrap(), before);
}

#[test]
fn rows_in_the_log_of_an_open_database_are_read() {
    let bed = broken();
    let program = bed.connection();
    program.execute("UPDATE session SET title = 'Another title'", []).unwrap();
    assert!(names(&bed).contains(&"sessions.db-wal".to_owned()));
    let title = bed.open().sessions().unwrap()[0].title.clone();
    assert_eq!(title.as_deref(), Some("Another title"));
}

#[test]
fn other_files_are_not_databases() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    std::fs::write(&path, "{}").unwrap();
    assert!(Database::open(&path).unwrap().is_none());
    let other = folder.path().join("y.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE message (id text, data text)").unwrap();
    assert!(Database::open(&other).unwrap().is_none());
    assert!(matches!(Database::open(&folder.path().join("z.db")), Err(DatabaseError::Open(_))));
}

#[test]
fn the_backup_holds_what_the_database_held() {
    let bed = broken();
    let before = bed.dump();
    bed.fix("ses_1");
    assert_eq!(dump(&bed.backup()), before);
    assert_eq!(names(&bed), ["backup.db", "sessions.db"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(bed.backup().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    // A backup never replaces a file.
    let other = broken();
    std::fs::write(other.backup(), "mine").unwrap();
    let wrote = other.repair("ses_1").write(&other.open(), &other.backup(), &mut |_| Ok(()));
    assert!(matches!(wrote, Err(Error::Database(DatabaseError::Backup(_)))), "{wrote:?}");
    assert_eq!(std::fs::read(other.backup()).unwrap(), b"mine");
    assert_eq!(other.dump(), before);
}

#[test]
fn a_rival_writer_keeps_the_repair_away() {
    let bed = broken();
    let before = bed.dump();
    let repaired = bed.repair("ses_1");
    let mut rival = bed.connection();
    let busy = rival.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let wrote = repaired.write(&bed.open(), &bed.backup(), &mut |_| Ok(()));
    assert_eq!(wrote.unwrap_err(), Error::Database(DatabaseError::Busy));
    busy.rollback().unwrap();
    assert_eq!(bed.dump(), before);
}

#[test]
fn a_session_that_changed_since_it_was_read_is_left_alone() {
    let add = "INSERT INTO part VALUES ('prt_99', 'msg_03', 'ses_1', 1, 1, '{\"type\":\"text\",\"text\":\"more\"}')";
    let change = "UPDATE part SET data = json_set(data, '$.state.status', 'completed') WHERE id = 'prt_04'";
    for sql in [add, change, "DELETE FROM part WHERE id = 'prt_01'", "UPDATE session SET revert = '{}'"] {
        let bed = broken();
        let repaired = bed.repair("ses_1");
        bed.connection().execute_batch(sql).unwrap();
        let after = bed.dump();
        let wrote = repaired.write(&bed.open(), &bed.backup(), &mut |_| Ok(()));
        assert_eq!(wrote.unwrap_err(), Error::Database(DatabaseError::Changed), "{sql}");
        assert_eq!(bed.dump(), after);
    }
}

#[test]
fn a_journal_that_cannot_be_stored_stops_the_repair() {
    let bed = broken();
    let before = bed.dump();
    let wrote = bed.repair("ses_1").write(&bed.open(), &bed.backup(), &mut |_| Err(io::Error::other("disk full")));
    assert!(matches!(wrote, Err(Error::Database(DatabaseError::Journal(_)))), "{wrote:?}");
    assert_eq!(bed.dump(), before);
}

#[test]
fn an_undo_restores_only_what_the_repair_wrote() {
    let bed = broken();
    let journal = bed.fix("ses_1");
    bed.connection().execute("UPDATE session SET title = 'New'", []).unwrap();
    undo(&bed.path(), &journal).unwrap();
    assert_eq!(bed.value("SELECT title FROM session"), "New");
    assert_eq!(bed.value("SELECT data ->> '$.state.status' FROM part WHERE id = 'prt_04'"), "running");
    // Now the row has other values than the repair wrote.
    let before = bed.dump();
    assert_eq!(undo(&bed.path(), &journal).unwrap_err(), DatabaseError::Changed);
    assert_eq!(bed.dump(), before);
}

#[test]
fn rows_that_refer_to_nothing_already_do_not_stop_a_repair() {
    let bed = broken();
    let connection = bed.connection();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.execute("UPDATE part SET message_id = 'gone' WHERE id = 'prt_01'", []).unwrap();
    drop(connection);
    bed.fix("ses_1");
}

/// The path of the database that a child of the next test is to repair.
const VICTIM: &str = "SEAMLINE_TEST_VICTIM";

#[test]
fn a_repair_that_is_killed_changes_nothing() {
    if let Some(path) = std::env::var_os(VICTIM) {
        let database = Database::open(path.as_ref()).unwrap().unwrap();
        let repaired = database::repair(&database, "ses_1", &seamline::Options::default()).unwrap().unwrap();
        let backup = std::path::Path::new(&path).with_file_name("backup.db");
        // All rows are written, and the transaction has not ended.
        let _ = repaired.write(&database, &backup, &mut |_| std::process::abort());
        return;
    }
    let bed = broken();
    let before = bed.dump();
    let name = "safety::a_repair_that_is_killed_changes_nothing";
    let killed = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--test-threads=1"])
        .env(VICTIM, bed.path())
        .output()
        .unwrap();
    assert!(!killed.status.success());
    assert!(bed.backup().exists(), "{killed:?}");
    assert_eq!(bed.dump(), before);
    assert_eq!(bed.fix("ses_1").changes.len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_repair_that_is_killed_before_any_write_changes_everything_or_nothing() {
    /// The path of the database that a child of the next test is to repair without an interruption of its own.
    const TRACED: &str = "SEAMLINE_TEST_TRACED";
    /// The system calls with which SQLite changes files.
    const WRITES: [&str; 6] = ["write", "pwrite64", "ftruncate", "fsync", "fdatasync", "?unlink"];
    /// The most calls of one kind that a repair makes.
    const CALLS_MAX: usize = 200;
    if let Some(path) = std::env::var_os(TRACED) {
        let database = Database::open(path.as_ref()).unwrap().unwrap();
        let repaired = database::repair(&database, "ses_1", &seamline::Options::default()).unwrap().unwrap();
        let backup = std::path::Path::new(&path).with_file_name("backup.db");
        let _ = std::fs::remove_file(&backup);
        repaired.write(&database, &backup, &mut |_| Ok(())).unwrap();
        return;
    }
    let name = "safety::a_repair_that_is_killed_before_any_write_changes_everything_or_nothing";
    let child = |call: &str, n: usize, path: &std::path::Path| {
        let mut command = Command::new("strace");
        let inject = format!("inject={call}:signal=KILL:when={n}");
        command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject, "--"]);
        command.arg(std::env::current_exe().unwrap()).args([name, "--exact", "--test-threads=1"]);
        command.env(TRACED, path).output().map(|done| done.status.success())
    };
    let whole = broken();
    let before = whole.dump();
    if !child("pwrite64", CALLS_MAX, &whole.path()).is_ok_and(|done| done) {
        println!("skipped: strace is not installed, or this user may not trace");
        return;
    }
    let after = whole.dump();
    assert_ne!(after, before);
    let (mut olds, mut news) = (0, 0);
    for call in WRITES {
        for n in 1..CALLS_MAX {
            let bed = broken();
            let is_whole = child(call, n, &bed.path()).unwrap();
            let found = bed.dump();
            assert!(found == before || found == after, "{call} {n}");
            olds += usize::from(!is_whole && found == before);
            news += usize::from(!is_whole && found == after);
            if is_whole {
                assert_eq!(found, after, "{call} {n}");
                break;
            }
        }
    }
    println!("{olds} kills left the old rows, {news} the new ones");
    assert!(olds >= 5, "{olds} {news}");
}
