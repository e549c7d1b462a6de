//! How long a lease lasts.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use futures_executor::block_on;
use seamline_store::{Acquire, Error, Store};
use seamline_store_postgres::{PostgresOptions, PostgresStore};

use crate::bench::{Writer, connect, database, holder, options};

const LEASE: Duration = Duration::from_secs(2);

/// Opens two stores of the same tenant, like two processes.
fn rivals(url: &str) -> (Arc<PostgresStore>, PostgresStore) {
    let options = PostgresOptions { lease: LEASE, ..options("lease") };
    (Arc::new(connect(url, &options)), connect(url, &options))
}

#[test]
fn a_lease_lasts_as_long_as_its_store_lives() {
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
    // Like the end of its process: the lease is not released.
    drop(writer);
    sleep(LEASE + LEASE / 2);
    assert_eq!(block_on(other.list_sessions(None, 10)).unwrap()[0].holder, None);
    assert_eq!(ask().unwrap().epoch, 2);
    assert!(matches!(block_on(other.append(late)), Err(Error::Fenced { epoch: 1, current: 2, .. })));
}

#[test]
fn a_writer_that_lost_or_released_its_lease_does_not_block_others() {
    let Some(url) = database() else { return };
    let (store, other) = rivals(&url);
    let writer = Writer::create(store.clone(), "s", 1);
    let taken = block_on(other.acquire(&writer.session, &holder(2), Acquire::TakeOver)).unwrap();
    // The first store still runs and renews a lease that it has lost.
    sleep(LEASE);
    block_on(other.release(&writer.session, taken.epoch)).unwrap();
    sleep(LEASE);
    assert_eq!(block_on(other.list_sessions(None, 10)).unwrap()[0].holder, None);
    let again = block_on(store.acquire(&writer.session, &holder(1), Acquire::IfFree)).unwrap();
    block_on(store.release(&writer.session, taken.epoch)).unwrap();
    sleep(LEASE + LEASE / 2);
    let ask = || block_on(other.acquire(&writer.session, &holder(3), Acquire::IfFree));
    assert!(matches!(ask(), Err(Error::Busy { .. })), "an earlier epoch releases nothing");
    block_on(store.release(&writer.session, again.epoch)).unwrap();
    assert_eq!(ask().unwrap().epoch, again.epoch + 1);
}

#[test]
fn the_holder_of_a_lease_can_take_it_again() {
    let Some(url) = database() else { return };
    let store = Arc::new(connect(&url, &options("again")));
    let writer = Writer::create(store.clone(), "s", 1);
    let again = block_on(store.acquire(&writer.session, &holder(1), Acquire::IfFree)).unwrap();
    assert_eq!(again.epoch, 2);
}
