//! An erased session leaves no byte in the files.

use std::path::Path;

use futures_executor::block_on;
use seamline_store::{Erased, Error, InboxItem, Raw, Store, cause};
use seamline_store_sqlite::{SqliteOptions, SqliteStore, this_process};

use crate::bed::{Chance, Folder, open, replayed, seal, session};

const MARK: &str = "UNFORGETTABLE";

#[test]
fn no_byte_of_an_erased_session_is_in_the_files() {
    let folder = Folder::new();
    let path = folder.file();
    let store = open(&path);
    let (kept, gone) = (session("kept"), session("gone"));
    let mut leases = [&kept, &gone].map(|name| block_on(store.create(name, &this_process(1))).unwrap());
    let mut chance = Chance::new(5);
    for number in 0..400 {
        // All sizes occur, so that rows move between pages and use overflow pages.
        let filler = "x".repeat(chance.below(if number % 10 == 0 { 20_000 } else { 900 }) as usize);
        let (secret, plain) = (MARK.repeat(1 + filler.len() / MARK.len()), filler);
        block_on(store.append(seal(&gone, &mut leases[1], number, &[&secret]))).unwrap();
        block_on(store.append(seal(&kept, &mut leases[0], number, &[&plain]))).unwrap();
        let message = Raw::parse(format!("\"{secret}\"")).unwrap();
        block_on(store.push(&gone, &InboxItem { id: format!("{MARK}{number}").into(), message, dialect: None }))
            .unwrap();
        block_on(store.quarantine(&gone, format!("{number}{secret}").as_bytes())).unwrap();
    }
    assert!(count(&path) > 0);
    let erased = block_on(store.erase(&gone)).unwrap();
    assert!(matches!(erased, Erased { commits: 400, bytes: 200_000.. }), "{erased:?}");
    assert_eq!(count(&path), 0);
    assert_eq!(block_on(store.erase(&gone)), Err(Error::Erased(gone.clone())));
    assert_eq!(replayed(&store, &kept).unwrap().damages, Vec::new());
    drop(store);
    assert_eq!(count(&path), 0);
    let store = open(&path);
    assert_eq!(block_on(store.read_head(&gone)), Err(Error::Erased(gone)));
    assert_eq!(replayed(&store, &kept).unwrap().commits, 400);
}

#[test]
fn bytes_that_another_connection_reads_are_reported_and_removed_later() {
    let folder = Folder::new();
    let path = folder.file();
    let options = SqliteOptions { busy_timeout: std::time::Duration::from_millis(50), ..SqliteOptions::default() };
    let store = SqliteStore::open(&path, options).unwrap();
    let (kept, gone) = (session("kept"), session("gone"));
    block_on(store.create(&kept, &this_process(1))).unwrap();
    let mut lease = block_on(store.create(&gone, &this_process(1))).unwrap();
    block_on(store.append(seal(&gone, &mut lease, 1, &[MARK]))).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN").unwrap();
    other.query_row("SELECT count(*) FROM sessions", [], |row| row.get::<_, i64>(0)).unwrap();
    let said = block_on(store.erase(&gone)).unwrap_err();
    assert!(matches!(&said, Error::Failed(cause::Failed::EraseIncomplete(_))), "{said}");
    assert_eq!(block_on(store.read_head(&gone)), Err(Error::Erased(gone)));
    other.execute_batch("ROLLBACK").unwrap();
    block_on(store.release(&kept, 1)).unwrap();
    // The writer empties the log after it sent the result.
    drop(store);
    assert_eq!(count(&path), 0);
}

/// Counts the mark in the files of a store.
fn count(path: &Path) -> usize {
    let folder = std::fs::read_dir(path.parent().unwrap()).unwrap();
    let files = folder.map(|file| std::fs::read(file.unwrap().path()).unwrap());
    files.map(|bytes| bytes.windows(MARK.len()).filter(|window| *window == MARK.as_bytes()).count()).sum()
}
