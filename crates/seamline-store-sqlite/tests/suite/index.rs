//! Files whose index or table of commits has a damaged page.
//!
//! A damaged index loses no commit: the table has all of them. No acknowledged commit is lost, whichever page of the
//! index or of the table is damaged.

use std::path::Path;

use futures_executor::block_on;
use rusqlite::Connection;
use seamline_store::{Acquire, Entry, Error, Replayed, SessionId, Store};
use seamline_store_sqlite::{SqliteOptions, SqliteStore, this_process};

use crate::bed::{Chance, Folder, from_env, open, replayed, seal, session};

/// A database that version 0.1 wrote.
const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sessions/databases/0.1.sqlite");

/// Small pages make deep trees of few bytes.
const PAGE: usize = 512;

/// The number of changes of an ordinary run.
const SAMPLE: usize = 400;

/// The number of commits that each damaged session gets.
const MORE: u128 = 6;

#[test]
fn a_damaged_entry_of_the_index_hides_no_commit_and_loses_no_append() {
    let folder = Folder::new();
    let name = session("compactions");
    let mut file = std::fs::read(FIXTURE).unwrap();
    std::fs::write(folder.file(), &file).unwrap();
    let whole = replayed(&open(&folder.file()), &name).unwrap();
    assert_eq!((whole.commits, &whole.damages), (8, &Vec::new()));

    assert_eq!(std::mem::replace(&mut file[15525], 5), 4, "the fixture has another layout");
    overwrite(&folder.file(), &file);
    let store = open(&folder.file());
    let found = replayed(&store, &name).unwrap();
    assert_eq!((found.commits, &found.state), (8, &whole.state));
    let named: Vec<String> = found.damages.iter().map(ToString::to_string).collect();
    assert!(named.len() == 1 && named[0].contains("REINDEX"), "{named:?}");
    let mut lease = block_on(store.acquire(&name, &this_process(1), Acquire::TakeOver)).unwrap();
    block_on(store.append(seal(&name, &mut lease, 1, &["one more"]))).unwrap();
    drop(store);
    let again = replayed(&open(&folder.file()), &name).unwrap();
    assert_eq!(again.commits, 9);
    assert!(again.state.view.entries().iter().any(|entry| entry.message.as_str().contains("one more")));

    Connection::open(folder.file()).unwrap().execute_batch("REINDEX commits").unwrap();
    let mended = replayed(&open(&folder.file()), &name).unwrap();
    assert_eq!((mended.commits, mended.damages), (9, Vec::new()));
}

#[test]
fn a_damaged_index_hides_no_commit_from_an_erasure() {
    let folder = Folder::new();
    let mut file = std::fs::read(FIXTURE).unwrap();
    file[15525] = 5;
    overwrite(&folder.file(), &file);
    let left = || {
        let count = "SELECT count(*) FROM commits NOT INDEXED WHERE session = 'compactions'";
        Connection::open(folder.file()).unwrap().query_row(count, [], |row| row.get::<_, u32>(0)).unwrap()
    };
    let erased = block_on(open(&folder.file()).erase(&session("compactions")));
    assert_eq!(left(), if erased.is_ok() { 0 } else { 8 }, "{erased:?}");
    Connection::open(folder.file()).unwrap().execute_batch("REINDEX commits").unwrap();
    if erased.is_err() {
        block_on(open(&folder.file()).erase(&session("compactions"))).unwrap();
    }
    assert_eq!(left(), 0);
}

#[test]
fn no_damaged_byte_of_the_index_hides_a_commit_or_loses_an_append() {
    try_pages("sqlite_autoindex_commits_1", |change, found, whole| {
        let found = found.as_ref().unwrap_or_else(|error| panic!("{change}: {error}"));
        assert_eq!((found.commits, found.state.view.len()), (whole.commits, whole.state.view.len()), "{change}");
    });
}

#[test]
fn no_damaged_byte_of_the_table_hides_a_commit_silently_or_loses_an_append() {
    try_pages("commits", |change, found, whole| {
        let Ok(found) = found else { return };
        assert!(found.commits == whole.commits || !found.damages.is_empty(), "{change}");
    });
}

/// Damages single bytes of the pages of an index or table, checks what is read, and appends.
fn try_pages(object: &str, check: impl Fn(&str, &Result<Replayed, Error>, &Replayed)) {
    let folder = Folder::new();
    let (file, names) = write_file(&folder.file());
    let whole = names.each_ref().map(|name| replayed(&open(&folder.file()), name).unwrap());
    let pages = pages_of(&folder.file(), &file, object);
    assert!(pages.len() > 4, "{pages:?}");
    let (mut acknowledged, mut refused) = (0, 0);
    for (at, bit) in changes(&pages, &file) {
        let mut changed = file.clone();
        changed[at] ^= 1 << bit;
        overwrite(&folder.file(), &changed);
        let change = format!("page {} of {object}, byte {}, bit {bit}", at / PAGE + 1, at % PAGE);
        let Ok(store) = SqliteStore::open(folder.file(), SqliteOptions::default()) else { continue };
        for (name, whole) in names.iter().zip(&whole) {
            check(&change, &replayed(&store, name), whole);
        }
        let before = names.each_ref().map(|name| replayed(&store, name).as_ref().map(entries).unwrap_or_default());
        let stored = append_some(&store, &names);
        drop(store);
        let store = open(&folder.file());
        for ((name, stored), before) in names.iter().zip(&stored).zip(before) {
            let found = replayed(&store, name);
            if stored.is_empty() && found.is_err() {
                continue;
            }
            let found = found.unwrap_or_else(|error| panic!("{change}: {error}"));
            let (is_named, found) = (!found.damages.is_empty(), entries(&found));
            let lost = |texts: &[String]| texts.iter().any(|text| !found.contains(text));
            assert!(!lost(stored), "{change}: session {name} lost acknowledged messages");
            // Where a page of the table has a wrong free space, SQLite itself overwrites rows of that page.
            assert!(!lost(&before) || (is_named && object == "commits"), "{change}: session {name} lost messages");
        }
        let count: usize = stored.iter().map(Vec::len).sum();
        (acknowledged, refused) = (acknowledged + count, refused + MORE as usize * names.len() - count);
    }
    assert!(acknowledged > refused, "{object}: {acknowledged} appends acknowledged, {refused} refused");
}

/// Appends to both sessions in turn, and returns the acknowledged messages of each.
fn append_some(store: &SqliteStore, names: &[SessionId; 2]) -> [Vec<String>; 2] {
    let mut stored = [Vec::new(), Vec::new()];
    let mut leases =
        names.each_ref().map(|name| block_on(store.acquire(name, &this_process(2), Acquire::TakeOver)).ok());
    for number in 0..MORE {
        for ((name, lease), stored) in names.iter().zip(&mut leases).zip(&mut stored) {
            let Some(lease) = lease else { continue };
            let text = format!("more {number} {}", "y".repeat(90 * number as usize));
            let before = lease.head;
            let commit = seal(name, lease, (1 << 90) + number, &[&text]);
            match block_on(store.append(commit)) {
                Ok(_) => stored.push(format!("{{\"role\":\"user\",\"content\":\"{text}\"}}")),
                Err(_) => lease.head = before,
            }
        }
    }
    stored
}

fn entries(replayed: &Replayed) -> Vec<String> {
    replayed.state.view.entries().iter().map(|entry: &Entry| entry.message.as_str().to_owned()).collect()
}

/// Every byte of the pages with one of its bits, or a random selection that always has the page headers.
fn changes(pages: &[usize], file: &[u8]) -> Vec<(usize, u8)> {
    let mut chance = Chance::new(9);
    let starts = pages.iter().map(|page| (page - 1) * PAGE);
    if from_env("SEAMLINE_SOAK", 0) == 1 {
        return starts.flat_map(|start| start..start + PAGE).flat_map(|at| (0..8).map(move |bit| (at, bit))).collect();
    }
    let all: Vec<usize> = starts.clone().flat_map(|start| start..start + PAGE).collect();
    // The headers of inner pages and their first cells hold the structure of the tree.
    let inner = starts.filter(|start| [2, 5].contains(&file[*start])).flat_map(|start| start..start + 20);
    let mut at: Vec<usize> = inner.take(SAMPLE / 4).collect();
    at.extend((at.len()..SAMPLE).map(|_| all[chance.below(all.len() as u64) as usize]).collect::<Vec<_>>());
    at.into_iter().map(|at| (at, chance.below(8) as u8)).collect()
}

/// Writes two sessions in turn, closes the file, and returns its bytes.
fn write_file(path: &Path) -> (Vec<u8>, [SessionId; 2]) {
    Connection::open(path).unwrap().execute_batch(&format!("PRAGMA page_size = {PAGE}; VACUUM")).unwrap();
    let store = open(path);
    let names = [session("first"), session("second")];
    let mut leases = names.each_ref().map(|name| block_on(store.create(name, &this_process(1))).unwrap());
    let mut chance = Chance::new(5);
    for number in 0..60 {
        for (name, lease) in names.iter().zip(&mut leases) {
            let text = format!("{number} {}", "x".repeat(chance.below(200) as usize));
            let texts = [&*text, "and more"];
            let count = 1 + chance.below(2) as usize;
            block_on(store.append(seal(name, lease, number, &texts[..count]))).unwrap();
        }
    }
    drop(store);
    let file = std::fs::read(path).unwrap();
    assert_eq!(usize::from(u16::from_be_bytes([file[16], file[17]])), PAGE);
    (file, names)
}

/// The pages of a table or index: inner pages and leaves.
fn pages_of(path: &Path, file: &[u8], object: &str) -> Vec<usize> {
    let other = Connection::open(path).unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let mut pages = vec![other.query_row(root, [object], |row| row.get::<_, u32>(0)).unwrap() as usize];
    let four = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let two = |at: usize| usize::from(u16::from_be_bytes([file[at], file[at + 1]]));
    let mut next = 0;
    while let Some(page) = pages.get(next) {
        let start = (page - 1) * PAGE;
        if [2, 5].contains(&file[start]) {
            let cells = (0..two(start + 3)).map(|number| four(start + two(start + 12 + 2 * number)));
            pages.extend(cells.chain([four(start + 8)]).collect::<Vec<_>>());
        }
        next += 1;
    }
    pages
}

fn overwrite(path: &Path, file: &[u8]) {
    for beside in ["store.db-wal", "store.db-shm"] {
        let _ = std::fs::remove_file(path.with_file_name(beside));
    }
    std::fs::write(path, file).unwrap();
}
