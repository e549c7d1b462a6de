//! How long a session stays its writer's.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use futures_executor::block_on;
use seamline_store::{Acquire, Error, Store};
use seamline_store_postgres::Options;

use crate::bench::{Writer, connect, database, holder, options};

#[test]
fn a_lease_is_renewed_by_commits_and_runs_out_without_them() {
    let Some(url) = database() else { return };
    let lease = Duration::from_secs(3);
    let store = Arc::new(connect(&url, &Options { lease, ..options("lease") }));
    let mut writer = Writer::create(store.clone(), "s", 1);
    let ask = || block_on(store.acquire(&writer_session(), &holder(2), Acquire::IfFree));
    for _ in 0..3 {
        writer.append(1);
        sleep(lease / 2);
        assert!(matches!(ask(), Err(Error::Busy { holder, .. }) if holder.pid == 1));
    }
    sleep(lease);
    assert_eq!(block_on(store.sessions(None, 10)).unwrap()[0].holder, None);
    assert_eq!(ask().unwrap().epoch, 2);
    let late = writer.seal();
    assert!(matches!(writer.send(&late), Err(Error::Fenced { epoch: 1, current: 2, .. })));
}

fn writer_session() -> seamline_store::SessionId {
    "s".parse().unwrap()
}

#[test]
fn whoever_holds_a_session_gets_it_again() {
    let Some(url) = database() else { return };
    let store = Arc::new(connect(&url, &options("again")));
    let writer = Writer::create(store.clone(), "s", 1);
    let again = block_on(store.acquire(&writer.session, &holder(1), Acquire::IfFree)).unwrap();
    assert_eq!(again.epoch, 2);
}
