//! Files with flipped bits and truncated files.
//!
//! No damage makes the store return an altered message: opening or reading fails, replay reports the damage, or the
//! damaged byte was unused.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_executor::block_on;
use rusqlite::Connection;
use seamline_store::{
    Acquire, Damage, DamageKind, Entry, Error, Hash, INBOX_DAMAGES_MAX, InboxDamageKind, InboxItem, Quarantined, Raw,
    Replayed, Store,
};
use seamline_store_sqlite::{SqliteOptions, SqliteStore, this_process};

use crate::bed::{Chance, Folder, from_env, open, replayed, seal, session};

/// The number of changes of an ordinary run.
const SAMPLE: usize = 5_000;

/// One of this many damaged files is also written.
const WRITES: usize = 7;

/// The least size of the file.
const BYTES: usize = 64 * 1024;
const PAGE: usize = 4096;

/// The content of the file.
#[derive(Debug, Clone, PartialEq)]
struct Content {
    replayed: Replayed,
    inbox: Vec<InboxItem>,
    aside: Vec<Quarantined>,
}

#[derive(Debug, Clone, Copy)]
enum Change {
    Flip { at: usize, bit: u8 },
    Cut { len: usize },
}

#[test]
fn no_flipped_bit_and_no_truncation_returns_an_altered_message() {
    let (file, content) = write_file();
    println!("a file of {} bytes with {} messages", file.len(), content.replayed.state.view.len());
    let changes = changes(&file);
    let (next, counts) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let folder = Folder::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(change) = changes.get(number) else { break };
                    let options =
                        SqliteOptions { read_only: !number.is_multiple_of(WRITES), ..SqliteOptions::default() };
                    let outcome = attempt(&folder.file(), &file, *change, (&content, options));
                    let mut counts = counts.lock().unwrap();
                    *counts.entry(outcome).or_insert(0) += 1;
                    let done: usize = counts.values().sum();
                    if done.is_multiple_of(50_000) {
                        println!("{done} of {}: {counts:?}", changes.len());
                    }
                }
            });
        }
    });
    let counts = counts.into_inner().unwrap();
    println!("{} changes: {counts:?}", changes.len());
    assert_eq!(counts.values().sum::<usize>(), changes.len());
}

/// Returns every bit and every length, or a random selection of them.
fn changes(file: &[u8]) -> Vec<Change> {
    if from_env("SEAMLINE_SOAK", 0) == 1 {
        let flips = (0..file.len()).flat_map(|at| (0..8).map(move |bit| Change::Flip { at, bit }));
        return flips.chain((0..file.len()).map(|len| Change::Cut { len })).collect();
    }
    let mut chance = Chance::new(64);
    let mut at = |bound: usize| chance.below(bound as u64) as usize;
    let changes = (0..SAMPLE).map(|number| match number % 10 {
        // Page headers are a small part of the file, and all other bytes depend on them.
        0 => Change::Flip { at: at(file.len() / PAGE) * PAGE + at(120), bit: at(8) as u8 },
        1 => Change::Cut { len: at(file.len()) },
        _ => Change::Flip { at: at(file.len()), bit: at(8) as u8 },
    });
    changes.collect()
}

/// Changes the file, reads it, possibly writes to it, and returns the outcome.
fn attempt(path: &Path, file: &[u8], change: Change, (content, options): (&Content, SqliteOptions)) -> &'static str {
    let mut changed = file.to_vec();
    match change {
        Change::Flip { at, bit } => changed[at] ^= 1 << bit,
        Change::Cut { len } => changed.truncate(len),
    }
    for beside in ["store.db-wal", "store.db-shm"] {
        let _ = std::fs::remove_file(path.with_file_name(beside));
    }
    std::fs::write(path, changed).unwrap();
    let Ok(store) = SqliteStore::open(path, options) else { return "not opened" };
    let name = session("s");
    let (inbox, aside) = (block_on(store.read_inbox(&name)), block_on(store.read_quarantine(&name)));
    let replayed = replayed(&store, &name);
    if let (Ok(inbox), Ok(named)) = (inbox, block_on(store.check_inbox(&name))) {
        assert!(inbox.iter().all(|item| content.inbox.contains(item)), "{change:?}");
        assert!(inbox == content.inbox || !named.is_empty(), "{change:?}");
    }
    for aside in aside.unwrap_or_default() {
        assert!(content.aside.contains(&aside) || Hash::of(&aside.bytes) != aside.hash, "{change:?}");
    }
    write_on(&store, change, content);
    match replayed {
        Err(Error::NotFound(_)) => "not found",
        Err(_) => "not read",
        Ok(replayed) if !replayed.damages.is_empty() => {
            let good = &content.replayed.state.view;
            let is_known = |entry| good.entries().contains(entry);
            assert!(replayed.state.view.entries().iter().all(is_known), "{change:?}");
            "damage named"
        }
        Ok(replayed) => {
            assert_eq!(replayed, content.replayed, "{change:?}");
            "harmless"
        }
    }
}

/// Writes one more commit if that is possible, and checks that no message comes back altered.
fn write_on(store: &SqliteStore, change: Change, content: &Content) {
    let name = session("s");
    let Ok(mut lease) = block_on(store.acquire(&name, &this_process(2), Acquire::TakeOver)) else { return };
    if block_on(store.append(seal(&name, &mut lease, 1 << 90, &["one more"]))).is_err() {
        return;
    }
    let Ok(replayed) = replayed(store, &name) else { return };
    let (good, found) = (content.replayed.state.view.entries(), replayed.state.view.entries());
    let is_new = |entry: &Entry| entry.message.as_str().contains("one more");
    assert!(found.iter().all(|entry| is_new(entry) || good.contains(entry)), "{change:?}");
    if replayed.damages.is_empty() {
        let (last, before) = found.split_last().unwrap();
        assert!(is_new(last) && before == good, "{change:?}");
    }
}

/// Writes a file with two sessions, closes it, and returns its bytes and the content of one session.
fn write_file() -> (Vec<u8>, Content) {
    let folder = Folder::new();
    let path = folder.file();
    let store: Arc<dyn Store> = Arc::new(open(&path));
    let names = [session("s"), session("t")];
    let mut leases = names.clone().map(|name| block_on(store.create(&name, &this_process(1))).unwrap());
    let mut chance = Chance::new(1);
    let mut number = 0;
    let other = rusqlite::Connection::open(&path).unwrap();
    let pages = || other.pragma_query_value(None, "page_count", |row| row.get::<_, u32>(0)).unwrap() as usize;
    while pages() * PAGE < BYTES {
        number += 1;
        let text: String = (0..chance.below(900)).map(|_| char::from(b'a' + chance.below(26) as u8)).collect();
        for (name, lease) in names.iter().zip(&mut leases).take(if number < 3 { 2 } else { 1 }) {
            block_on(store.append(seal(name, lease, number, &[&text, "and more"]))).unwrap();
        }
    }
    for id in ["first", "second", "third"] {
        let item =
            InboxItem { id: id.into(), message: Raw::parse(format!("\"{id} of others\"")).unwrap(), dialect: None };
        block_on(store.push(&names[0], &item)).unwrap();
    }
    block_on(store.quarantine(&names[0], b"\xff\x00 unreadable")).unwrap();
    block_on(store.release(&names[0], 1)).unwrap();
    let content = Content {
        replayed: replayed(&*store, &names[0]).unwrap(),
        inbox: block_on(store.read_inbox(&names[0])).unwrap(),
        aside: block_on(store.read_quarantine(&names[0])).unwrap(),
    };
    assert_eq!(content.replayed.damages, Vec::new());
    drop((other, store));
    (std::fs::read(path).unwrap(), content)
}

/// Writes forty messages of one session, and returns the pages of a table or index.
fn pages_of_forty(folder: &Folder, object: &str) -> Vec<usize> {
    let store = open(&folder.file());
    let name = session("s");
    let mut lease = block_on(store.create(&name, &this_process(1))).unwrap();
    for number in 0..40 {
        let text = format!("{number} {}", "x".repeat(1500));
        block_on(store.append(seal(&name, &mut lease, number, &[&text]))).unwrap();
    }
    drop(store);
    let other = rusqlite::Connection::open(folder.file()).unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let root = other.query_row(root, [object], |row| row.get::<_, u32>(0)).unwrap() as usize;
    drop(other);
    let file = std::fs::read(folder.file()).unwrap();
    let four = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let start = (root - 1) * PAGE;
    // An inner page holds the numbers of its child pages.
    if [2, 5].contains(&file[start]) {
        let count = usize::from(u16::from_be_bytes([file[start + 3], file[start + 4]]));
        let cell = |number: usize| {
            let at = start + 12 + 2 * number;
            four(start + usize::from(u16::from_be_bytes([file[at], file[at + 1]])))
        };
        return (0..count).map(cell).chain([four(start + 8)]).collect();
    }
    vec![root]
}

#[test]
fn a_damaged_page_loses_only_its_own_commits() {
    let folder = Folder::new();
    let leaves = pages_of_forty(&folder, "commits");
    assert!(leaves.len() > 10, "{leaves:?}");
    let file = std::fs::read(folder.file()).unwrap();
    for page in &leaves {
        let mut changed = file.clone();
        changed[(page - 1) * PAGE] ^= 0x40;
        std::fs::write(folder.file(), changed).unwrap();
        let replayed = replayed(&open(&folder.file()), &session("s")).unwrap();
        assert!(replayed.state.view.len() >= 37, "page {page}: {}", replayed.state.view.len());
        assert!(!replayed.damages.is_empty(), "page {page}");
    }
}

#[test]
fn a_damaged_index_loses_no_commit() {
    let folder = Folder::new();
    let pages = pages_of_forty(&folder, "sqlite_autoindex_commits_1");
    let mut file = std::fs::read(folder.file()).unwrap();
    for page in pages {
        file[(page - 1) * PAGE] ^= 0x40;
    }
    std::fs::write(folder.file(), file).unwrap();
    let replayed = replayed(&open(&folder.file()), &session("s")).unwrap();
    let unindexed = Damage { seq: 1, kind: DamageKind::Unindexed { commits: 40 }, bytes: None };
    assert_eq!((replayed.state.view.len(), replayed.damages), (40, vec![unindexed]));
}

#[test]
fn one_damaged_message_of_the_inbox_does_not_block_the_others() {
    let folder = Folder::new();
    let store = open(&folder.file());
    let name = session("s");
    block_on(store.create(&name, &this_process(1))).unwrap();
    let items = ["1", "2", "3"].map(|id| InboxItem { id: id.into(), message: Raw::parse(id).unwrap(), dialect: None });
    for item in &items {
        block_on(store.push(&name, item)).unwrap();
    }
    let other = rusqlite::Connection::open(folder.file()).unwrap();
    other.execute_batch("UPDATE inbox SET message = '7' WHERE id = '2'").unwrap();
    assert_eq!(block_on(store.read_inbox(&name)).unwrap(), [items[0].clone(), items[2].clone()]);
    let damage = block_on(store.check_inbox(&name)).unwrap();
    assert_eq!(damage.iter().map(|damage| damage.bytes.as_slice()).collect::<Vec<_>>(), [b"7"]);
    other.execute_batch("DELETE FROM inbox WHERE id = '2'").unwrap();
    assert_eq!(block_on(store.read_inbox(&name)).unwrap().len(), 2);
    assert_eq!(block_on(store.check_inbox(&name)).unwrap().len(), 1, "one is missing");
}

#[test]
fn altered_quarantined_bytes_do_not_hide_the_others() {
    let folder = Folder::new();
    let store = open(&folder.file());
    let name = session("s");
    block_on(store.create(&name, &this_process(1))).unwrap();
    for bytes in [b"one", b"two", b"six"] {
        block_on(store.quarantine(&name, bytes)).unwrap();
    }
    let other = rusqlite::Connection::open(folder.file()).unwrap();
    for (what, left) in [("bytes = x'00' WHERE bytes = x'6f6e65'", 3), ("hash = x'00' WHERE bytes = x'74776f'", 3)] {
        other.execute_batch(&format!("UPDATE quarantine SET {what}")).unwrap();
        assert_eq!(block_on(store.read_quarantine(&name)).unwrap().len(), left, "{what}");
    }
    let aside = block_on(store.read_quarantine(&name)).unwrap();
    let whole: Vec<&[u8]> =
        aside.iter().filter(|piece| Hash::of(&piece.bytes) == piece.hash).map(|piece| &*piece.bytes).collect();
    assert_eq!(whole, [b"six"]);
}

#[test]
fn a_session_with_an_early_head_continues_after_its_last_commit() {
    let folder = Folder::new();
    let store = open(&folder.file());
    let name = session("s");
    let mut lease = block_on(store.create(&name, &this_process(1))).unwrap();
    for number in 0..3 {
        block_on(store.append(seal(&name, &mut lease, number, &["one", "two"]))).unwrap();
    }
    let other = rusqlite::Connection::open(folder.file()).unwrap();
    other.execute_batch("UPDATE sessions SET head_seq = 3").unwrap();
    assert!(!replayed(&store, &name).unwrap().damages.is_empty());
    let mut again = block_on(store.acquire(&name, &this_process(1), Acquire::TakeOver)).unwrap();
    assert_eq!((again.head.seq, again.head.hash), (lease.head.seq, lease.head.hash));
    block_on(store.append(seal(&name, &mut again, 9, &["more"]))).unwrap();
    let replayed = replayed(&store, &name).unwrap();
    assert_eq!((replayed.state.view.len(), replayed.damages), (7, Vec::new()));
}

#[test]
fn damage_of_an_inbox_is_reported_up_to_a_limit() {
    let folder = Folder::new();
    let (store, name) = (open(&folder.file()), session("s"));
    block_on(store.create(&name, &this_process(1))).unwrap();
    for id in 0..INBOX_DAMAGES_MAX + 7 {
        let item = InboxItem { id: id.to_string().into(), message: Raw::default(), dialect: None };
        block_on(store.push(&name, &item)).unwrap();
    }
    Connection::open(folder.file()).unwrap().execute_batch("UPDATE inbox SET message = '7'").unwrap();
    let damages = block_on(store.check_inbox(&name)).unwrap();
    assert_eq!(damages.len(), INBOX_DAMAGES_MAX + 1);
    assert_eq!(damages.last().unwrap().kind, InboxDamageKind::More { count: 7 });
}
