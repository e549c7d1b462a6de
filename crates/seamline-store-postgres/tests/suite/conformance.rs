//! The conformance suite on PostgreSQL.

use std::sync::Arc;

use futures_executor::block_on;
use seamline_store::{Appended, Store, conformance};
use seamline_store_postgres::PostgresStore;

use crate::bench::{Direct, Writer, connect, database, options, unique};

fn check(store: &Arc<PostgresStore>, prefix: &str) {
    let outcomes = block_on(conformance::run(store.clone(), prefix));
    let failed: Vec<_> = outcomes.iter().filter(|outcome| outcome.failed.is_some()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn it_passes_conformance_before_and_after_a_reconnect() {
    let Some(url) = database() else { return };
    let options = options("conformance");
    let store = Arc::new(connect(&url, &options));
    check(&store, "first");
    let before = block_on(store.list_sessions(None, 1000)).unwrap();
    drop(store);
    let store = Arc::new(connect(&url, &options));
    assert_eq!(block_on(store.list_sessions(None, 1000)).unwrap(), before);
    check(&store, "second");
}

#[test]
fn portable_tables_pass_conformance() {
    let Some(url) = database() else { return };
    let schema = unique("portable").replace('-', "_");
    Direct::connect(&url).tell(&format!("CREATE SCHEMA {schema}"));
    let options = seamline_store_postgres::PostgresOptions { portable: true, ..options("portable") };
    let store = connect(&format!("{url}&options=-csearch_path%3D{schema}"), &options);
    check(&Arc::new(store), "portable");
    let parts =
        format!("SELECT relname FROM pg_class WHERE relispartition AND relnamespace = '{schema}'::regnamespace");
    assert_eq!(Direct::connect(&url).ask(&parts).unwrap(), Vec::<String>::new());
}

#[test]
fn a_dropped_future_does_not_cancel_a_commit() {
    let Some(url) = database() else { return };
    let store = Arc::new(connect(&url, &options("dropped")));
    let mut writer = Writer::create(store.clone(), "s", 1);
    let commit = writer.seal();
    drop(store.append(commit.clone()));
    // The same commit again on the same pool: whichever runs first, it is stored once.
    assert!(matches!(writer.send(&commit), Ok(Appended::New | Appended::Already)));
    let replayed = writer.replayed();
    assert_eq!((replayed.commits, replayed.damages), (1, Vec::new()));
}

#[test]
fn a_session_longer_than_a_page_is_read_and_imported_completely() {
    let Some(url) = database() else { return };
    let options = options("pages");
    let store = Arc::new(connect(&url, &options));
    let mut writer = Writer::create(store.clone(), "long", 1);
    writer.append(1_100);
    let kept = block_on(store.read(&writer.session, 0, usize::MAX)).unwrap();
    assert_eq!(kept.len(), 1_100);
    let some = block_on(store.read(&writer.session, 1_000, kept[0].bytes.len() * 3)).unwrap();
    assert!(some.len() < 4 && some[0] == kept[1_000], "{}", some.len());
    let bytes: Vec<Vec<u8>> = kept.into_iter().map(|commit| commit.bytes).collect();
    let other = connect(&url, &seamline_store_postgres::PostgresOptions { tenant: unique("pages"), ..options });
    let head = block_on(other.import(&writer.session, &bytes)).unwrap();
    assert_eq!(head, writer.lease.head);
    let moved = block_on(other.read(&writer.session, 0, usize::MAX)).unwrap();
    assert!(moved.into_iter().map(|commit| commit.bytes).eq(bytes));
}
