//! How long a session stays its writer's.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use futures_executor::block_on;
use seamline_store::{Acquire, Error, Store};
use seamline_store_postgres::{Options, PostgresStore};

use crate::bench::{Writer, connect, database, holder, options};

const LEASE: Duration = Duration::from_secs(2);

/// A store of the same tenant, as another process has it.
fn rivals(url: &str) -> (Arc<PostgresStore>, PostgresStore) {
    let options = Options { lease: LEASE, ..options("lease") };
    (Arc::new(connect(url, &options)), connect(url, &options))
}

#[test]
fn a_session_stays_its_writers_as_long_as_the_store_lives() {
    let Some(url) = database() else { return };
    let (store, other) = rivals(&url);
    let mut writer = Writer::create(store, "s", 1);
    let session = writer.session.clone();
    let ask = || block_on(other.acquire(&session, &holder(2), Acquire::IfFree));
    for _ in 0..4 {
        sleep(LEASE / 2);
        assert!(matches!(ask(), Err(Error::Busy { holder, .. }) if holder.pid == 1), "without a commit");
    }
    writer.append(1);
    let late = writer.seal();
    // As when its process ends: nobody lets the session go.
    drop(writer);
    sleep(LEASE + LEASE / 2);
    assert_eq!(block_on(other.sessions(None, 10)).unwrap()[0].holder, None);
    assert_eq!(ask().unwrap().epoch, 2);
    assert!(matches!(block_on(other.append(late)), Err(Error::Fenced { epoch: 1, current: 2, .. })));
}

#[test]
fn whoever_lost_a_session_or_let_it_go_does_not_hold_it_up() {
    let Some(url) = database() else { return };
    let (store, other) = rivals(&url);
    let writer = Writer::create(store.clone(), "s", 1);
    let taken = block_on(other.acquire(&writer.session, &holder(2), Acquire::TakeOver)).unwrap();
    // The first one is still there, and says so for a session that is not its own any more.
    sleep(LEASE);
    block_on(other.release(&writer.session, taken.epoch)).unwrap();
    sleep(LEASE);
    assert_eq!(block_on(other.sessions(None, 10)).unwrap()[0].holder, None);
    let again = block_on(store.acquire(&writer.session, &holder(1), Acquire::IfFree)).unwrap();
    block_on(store.release(&writer.session, taken.epoch)).unwrap();
    sleep(LEASE + LEASE / 2);
    let ask = || block_on(other.acquire(&writer.session, &holder(3), Acquire::IfFree));
    assert!(matches!(ask(), Err(Error::Busy { .. })), "an earlier epoch lets nothing go");
    block_on(store.release(&writer.session, again.epoch)).unwrap();
    assert_eq!(ask().unwrap().epoch, again.epoch + 1);
}

#[test]
fn whoever_holds_a_session_gets_it_again() {
    let Some(url) = database() else { return };
    let store = Arc::new(connect(&url, &options("again")));
    let writer = Writer::create(store.clone(), "s", 1);
    let again = block_on(store.acquire(&writer.session, &holder(1), Acquire::IfFree)).unwrap();
    assert_eq!(again.epoch, 2);
}
