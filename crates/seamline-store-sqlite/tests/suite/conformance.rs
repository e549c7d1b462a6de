//! The conformance suite on an SQLite file.

use std::sync::Arc;

use futures_executor::block_on;
use seamline_store::Store;
use seamline_store::conformance::run;
use seamline_store_sqlite::{SqliteOptions, SqliteStore, this_process};

use crate::bed::{Folder, open, replayed, seal, session};

#[test]
fn a_file_passes_conformance_also_after_it_is_reopened() {
    let folder = Folder::new();
    for prefix in ["first", "second"] {
        let store = Arc::new(open(&folder.file()));
        let outcomes = block_on(run(store, prefix));
        let failed: Vec<_> = outcomes.iter().filter(|outcome| outcome.failed.is_some()).collect();
        assert!(failed.is_empty(), "{failed:#?}");
        assert!(outcomes.len() >= 14);
    }
}

#[test]
fn two_stores_in_one_process_share_a_file() {
    let folder = Folder::new();
    let stores = [open(&folder.file()), open(&folder.file())];
    for (store, prefix) in stores.into_iter().zip(["first", "second"]) {
        let outcomes = block_on(run(Arc::new(store), prefix));
        assert!(outcomes.iter().all(|outcome| outcome.failed.is_none()), "{outcomes:#?}");
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_created_files() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let path = folder.path().join("one/two/store.db");
    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("one/two")), 0o700);
    for file in ["store.db", "store.db-wal", "store.db-shm"] {
        assert_eq!(mode(&path.with_file_name(file)), 0o600, "{file}");
    }
    block_on(store.list_sessions(None, 1)).unwrap();
    drop(store);
    assert!(!path.with_file_name("store.db-wal").exists(), "the log is removed");
}

#[test]
fn a_backup_of_a_store_that_is_being_written_is_a_store() {
    let folder = Folder::new();
    let store = open(&folder.file());
    let name = session("s");
    let mut lease = block_on(store.create(&name, &this_process(1))).unwrap();
    for number in 0..20 {
        block_on(store.append(seal(&name, &mut lease, number, &["kept"]))).unwrap();
    }
    let copy = folder.path().join("copy.db");
    let by_hand =
        std::process::Command::new("sqlite3").arg(folder.file()).arg(format!(".backup '{}'", copy.display())).status();
    if by_hand.is_err() {
        println!("`sqlite3` is not installed: copied with `VACUUM INTO` instead");
        let other = rusqlite::Connection::open(folder.file()).unwrap();
        other.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    }
    block_on(store.append(seal(&name, &mut lease, 99, &["after it"]))).unwrap();
    let (whole, copied) = (replayed(&store, &name).unwrap(), replayed(&open(&copy), &name).unwrap());
    assert_eq!((whole.commits, whole.damages), (21, Vec::new()));
    assert_eq!((copied.commits, copied.damages), (20, Vec::new()));
}
