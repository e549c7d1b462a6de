//! Files with several names and renamed files. SQLite keeps the log beside the name.

use futures_executor::block_on;
use seamline_store::cause::{Address, Failed};
use seamline_store::{Error, Lease, Store};
use seamline_store_sqlite::{SqliteOptions, SqliteStore, this_process};

use crate::bed::{Folder, open, replayed, seal, session};

/// Writes a session with some commits to a store that stays open.
fn written(store: &SqliteStore, commits: u128) -> Lease {
    let id = session("s");
    let mut lease = block_on(store.create(&id, &this_process(7))).unwrap();
    for number in 1..=commits {
        let commit = seal(&id, &mut lease, number, &["said"]);
        block_on(store.append(commit)).unwrap();
    }
    lease
}

#[test]
fn a_file_with_two_names_is_rejected() {
    let folder = Folder::new();
    let store = open(&folder.file());
    let mut lease = written(&store, 2);
    let other = folder.path().join("other.db");
    std::fs::hard_link(folder.file(), &other).unwrap();
    for path in [&folder.file(), &other] {
        for read_only in [false, true] {
            let options = SqliteOptions { read_only, ..SqliteOptions::default() };
            let opened = SqliteStore::open(path, options).and_then(|store| block_on(store.list_sessions(None, 9)));
            assert!(matches!(&opened, Err(Error::Address(Address::HardLinks { count: 2, .. }))), "{opened:?}");
        }
    }
    // A store that was open before fails too, and the acknowledged commits are in the file under both names.
    let commit = seal(&session("s"), &mut lease, 9, &["late"]);
    let sent = block_on(store.append(commit.clone()));
    assert!(matches!(&sent, Err(Error::Address(Address::HardLinks { count: 2, .. }))), "{sent:?}");
    drop(store);
    std::fs::remove_file(folder.file()).unwrap();
    let _ = std::fs::remove_file(folder.path().join("store.db-wal"));
    let found = replayed(&open(&other), &session("s")).unwrap();
    assert_eq!((found.state.view.len(), found.damages), (2, Vec::new()));
}

#[test]
fn acknowledged_commits_move_with_a_renamed_file() {
    let folder = Folder::new();
    let store = open(&folder.file());
    let mut lease = written(&store, 3);
    let moved = folder.path().join("moved.db");
    std::fs::rename(folder.file(), &moved).unwrap();
    let commit = seal(&session("s"), &mut lease, 9, &["late"]);
    assert!(block_on(store.append(commit)).is_err());
    let found = replayed(&open(&moved), &session("s")).unwrap();
    assert_eq!((found.state.view.len(), found.damages), (3, Vec::new()));
}

#[test]
fn no_store_is_created_beside_the_log_of_another_file() {
    let folder = Folder::new();
    let store = open(&folder.file());
    written(&store, 3);
    let log = folder.path().join("store.db-wal");
    let kept = std::fs::read(&log).unwrap();
    assert!(!kept.is_empty());
    let moved = folder.path().join("moved.db");
    std::fs::rename(folder.file(), &moved).unwrap();
    // A process that died leaves both files behind.
    std::mem::forget(store);
    let opened = SqliteStore::open(folder.file(), SqliteOptions::default());
    assert!(
        matches!(&opened, Err(Error::Address(Address::LogWithoutFile { log, .. })) if log.ends_with("store.db-wal"))
    );
    assert!(!folder.file().exists() && std::fs::read(&log).unwrap() == kept);
    std::fs::rename(&log, folder.path().join("moved.db-wal")).unwrap();
    let found = replayed(&open(&moved), &session("s")).unwrap();
    assert_eq!((found.state.view.len(), found.damages), (3, Vec::new()));
}

#[test]
fn a_file_that_replaced_another_does_not_get_its_log() {
    let folder = Folder::new();
    let other = folder.path().join("other.db");
    written(&open(&other), 2);
    let store = open(&folder.file());
    let mut lease = written(&store, 3);
    let kept = folder.path().join("kept.db");
    std::fs::rename(folder.file(), &kept).unwrap();
    std::fs::rename(&other, folder.file()).unwrap();
    for _ in 0..2 {
        let commit = seal(&session("s"), &mut lease, 9, &["late"]);
        let sent = block_on(store.append(commit));
        assert!(matches!(&sent, Err(Error::Failed(Failed::FileReplaced { .. }))), "{sent:?}");
        assert!(block_on(store.list_sessions(None, 9)).is_err());
    }
    drop(store);
    std::fs::rename(folder.path().join("store.db-wal"), folder.path().join("kept.db-wal")).unwrap();
    let _ = std::fs::remove_file(folder.path().join("store.db-shm"));
    for (path, messages) in [(kept, 3), (folder.file(), 2)] {
        let found = replayed(&open(&path), &session("s")).unwrap();
        assert_eq!((found.state.view.len(), found.damages), (messages, Vec::new()), "{}", path.display());
    }
}
