//! Waiting requests and dropped futures.

use futures_executor::block_on;
use seamline_store::cause::Unavailable;
use seamline_store::{Acquire, Appended, Error, Lease, Pending, SessionId, Store};
use seamline_store_sqlite::{SqliteOptions, SqliteStore, this_process};

use crate::bed::{Folder, open, replayed, seal, session};

/// More requests than the store keeps when their futures are dropped.
const MANY: usize = 3_000;

/// A store with a session, while another connection holds the write lock.
struct Locked {
    folder: Folder,
    store: SqliteStore,
    session: SessionId,
    lease: Lease,
    other: rusqlite::Connection,
}

impl Locked {
    fn new(options: SqliteOptions) -> Self {
        let folder = Folder::new();
        let store = SqliteStore::open(folder.file(), options).unwrap();
        let session = session("s");
        let lease = block_on(store.create(&session, &this_process(1))).unwrap();
        let other = lock(&folder);
        Self { folder, store, session, lease, other }
    }
}

fn lock(folder: &Folder) -> rusqlite::Connection {
    let other = rusqlite::Connection::open(folder.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

#[test]
fn a_dropped_future_does_not_cancel_its_request() {
    let folder = Folder::new();
    let store = open(&folder.file());
    let session = session("s");
    let mut lease = block_on(store.create(&session, &this_process(1))).unwrap();
    for number in 0..20 {
        drop(store.append(seal(&session, &mut lease, number, &["dropped"])));
    }
    drop(store);
    let replayed = replayed(&open(&folder.file()), &session).unwrap();
    assert_eq!((replayed.commits, replayed.damages), (20, Vec::new()));
}

#[test]
fn waiting_requests_run_in_order() {
    let Locked { folder: _folder, store, session, mut lease, other } = Locked::new(SqliteOptions::default());
    let waiting: Vec<Pending<'_, Appended>> =
        (0..MANY).map(|number| store.append(seal(&session, &mut lease, number as u128, &["waits"]))).collect();
    other.execute_batch("ROLLBACK").unwrap();
    // The order in which the futures are polled makes no difference.
    for pending in waiting.into_iter().rev() {
        assert_eq!(block_on(pending), Ok(Appended::New));
    }
    assert_eq!(replayed(&store, &session).unwrap().commits, MANY as u64);
}

#[test]
fn abandoned_requests_do_not_fill_the_memory() {
    let Locked { folder, store, session, mut lease, other } = Locked::new(SqliteOptions::default());
    for number in 0..MANY {
        drop(store.append(seal(&session, &mut lease, number as u128, &["waits"])));
    }
    other.execute_batch("ROLLBACK").unwrap();
    drop(store);
    let replayed = replayed(&open(&folder.file()), &session).unwrap();
    assert!((1_024..1_400).contains(&replayed.commits), "{}", replayed.commits);
    assert_eq!(replayed.damages, Vec::new());
}

#[test]
fn each_request_of_a_transaction_has_its_own_result() {
    let folder = Folder::new();
    let store = open(&folder.file());
    let names = [session("a"), session("b"), session("c")];
    let mut leases = names.clone().map(|name| block_on(store.create(&name, &this_process(1))).unwrap());
    let other = lock(&folder);
    // The first request keeps the writer busy until the others are in the queue.
    let first = store.append(seal(&names[0], &mut leases[0], 1, &["first"]));
    let good = store.append(seal(&names[0], &mut leases[0], 2, &["good"]));
    let gap = Lease { head: seamline_store::Head { seq: 7, ..leases[1].head }, ..leases[1].clone() };
    let bad = store.append(seal(&names[1], &mut gap.clone(), 3, &["with a gap"]));
    let taken = this_process(2);
    let over = store.acquire(&names[2], &taken, Acquire::TakeOver);
    let fenced = store.append(seal(&names[2], &mut leases[2], 4, &["late"]));
    let fine = store.append(seal(&names[1], &mut leases[1], 5, &["fine"]));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(block_on(first), Ok(Appended::New));
    assert_eq!(block_on(good), Ok(Appended::New));
    assert_eq!(block_on(bad), Err(Error::Conflict(names[1].clone())));
    assert_eq!(block_on(over).unwrap().epoch, 2);
    assert!(matches!(block_on(fenced), Err(Error::Fenced { current: 2, .. })));
    assert_eq!(block_on(fine), Ok(Appended::New));
}

#[test]
fn a_request_does_not_wait_for_ever_for_another_writer() {
    let options = SqliteOptions { busy_timeout: std::time::Duration::from_millis(50), ..SqliteOptions::default() };
    let Locked { folder, store, session, mut lease, other } = Locked::new(options);
    let commit = seal(&session, &mut lease, 1, &["later"]);
    let locked = Unavailable::Locked { path: std::path::absolute(folder.file()).unwrap() };
    assert_eq!(block_on(store.append(commit.clone())), Err(Error::Unavailable(locked)));
    assert_eq!(block_on(store.read_head(&session)).unwrap().seq, 0, "readers do not wait for writers");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(block_on(store.append(commit)), Ok(Appended::New));
}
