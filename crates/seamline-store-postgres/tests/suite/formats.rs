//! The formats of the tables.

use std::sync::Arc;
use std::thread;

use futures_executor::block_on;
use seamline_store::cause::Address;
use seamline_store::{Begin, DialectName, Error, InboxItem, Raw, Record, Store};
use seamline_store_postgres::{PostgresOptions, PostgresStore};

use crate::bench::{Direct, Writer, connect, database, options, unique};

/// Creates a schema and returns its name and a URL that selects it.
fn schema(url: &str, name: &str) -> (String, String) {
    let schema = unique(name).replace('-', "_");
    Direct::connect(url).tell(&format!("CREATE SCHEMA {schema}"));
    let url = format!("{url}&options=-csearch_path%3D{schema}");
    (schema, url)
}

#[test]
fn a_newer_format_is_rejected() {
    let Some(url) = database() else { return };
    let (schema, own) = schema(&url, "newer");
    connect(&own, &options("newer"));
    Direct::connect(&url).tell(&format!("UPDATE {schema}.seamline_format SET version = 99"));
    let refused = block_on(PostgresStore::connect(&own, options("newer"))).unwrap_err();
    assert_eq!(refused, Error::NewerFormat { found: 99, known: 4 });
}

#[test]
fn a_read_only_store_creates_no_tables() {
    let Some(url) = database() else { return };
    let (schema, own) = schema(&url, "reading");
    let own_options = options("reading");
    let reading = PostgresOptions { read_only: true, ..own_options.clone() };
    let refused = block_on(PostgresStore::connect(&own, reading.clone())).unwrap_err();
    assert_eq!(refused, Error::Address(Address::NoTables));
    let tables = format!("SELECT count(*) FROM pg_tables WHERE schemaname = '{schema}'");
    assert_eq!(Direct::connect(&url).ask(&tables).unwrap().concat(), "0");
    let mut writer = Writer::create(Arc::new(connect(&own, &own_options)), "s", 1);
    writer.append(1);
    let reading = connect(&own, &reading);
    assert_eq!(block_on(reading.read_head(&writer.session)), Ok(writer.lease.head));
    assert!(matches!(block_on(reading.append(writer.seal())), Err(Error::ReadOnly(_))));
}

#[test]
fn an_older_format_is_read_unchanged_and_upgraded_by_a_writer() {
    let Some(url) = database() else { return };
    let (schema, own) = schema(&url, "older");
    let own_options = options("older");
    let mut writer = Writer::create(Arc::new(connect(&own, &own_options)), "s", 1);
    let begin = Begin { dialect: "openai_chat".into(), provider: None, title: None, parent: None, policy: None };
    let first = writer.seal_records(&[Record::Begin(begin)]);
    writer.send(&first).unwrap();
    let direct = Direct::connect(&url);
    let item = InboxItem { id: "i".into(), message: Raw::default(), dialect: None };
    block_on(writer.store.push(&writer.session, &item)).unwrap();
    direct.tell(&format!(
        "DROP INDEX {schema}.seamline_inbox_waiting; ALTER TABLE {schema}.seamline_inbox DROP COLUMN dialect;
         ALTER TABLE {schema}.seamline_sessions DROP COLUMN dialect;
         UPDATE {schema}.seamline_format SET version = 1"
    ));
    let version = || direct.ask(&format!("SELECT version FROM {schema}.seamline_format")).unwrap().concat();
    let reading = connect(&own, &PostgresOptions { read_only: true, ..own_options.clone() });
    assert_eq!((block_on(reading.read_head(&writer.session)), version()), (Ok(writer.lease.head), "1".to_owned()));
    assert_eq!(block_on(reading.read_inbox(&writer.session)), Ok(vec![item.clone()]));
    let dialects = |store: &PostgresStore| -> Vec<Option<DialectName>> {
        let listed = block_on(store.list_sessions(None, 10)).unwrap();
        listed.into_iter().map(|info| info.dialect).collect()
    };
    assert_eq!(dialects(&reading), [Some("openai_chat".into())]);
    let upgraded = connect(&own, &own_options);
    assert_eq!(version(), "4");
    assert_eq!(dialects(&upgraded), [Some("openai_chat".into())]);
    assert_eq!(block_on(upgraded.read_inbox(&writer.session)), Ok(vec![item]));
}

#[test]
fn concurrent_first_connections_create_the_tables_once() {
    let Some(url) = database() else { return };
    let (_, own) = schema(&url, "first");
    let stores: Vec<_> = (0..8)
        .map(|_| {
            let own = own.clone();
            thread::spawn(move || connect(&own, &options("first")))
        })
        .collect();
    for store in stores {
        let mut writer = Writer::create(Arc::new(store.join().unwrap()), "s", 1);
        writer.append(1);
    }
}

#[test]
fn writing_to_a_read_only_database_fails() {
    let Some(url) = database() else { return };
    let options = options("read_only");
    let mut writer = Writer::create(Arc::new(connect(&url, &options)), "s", 1);
    writer.append(1);
    let only_read = connect(&format!("{url}&options=-cdefault_transaction_read_only%3Don"), &options);
    assert_eq!(block_on(only_read.read_head(&writer.session)), Ok(writer.lease.head));
    let commit = writer.seal();
    let sent = block_on(only_read.append(commit));
    assert!(matches!(sent, Err(Error::ReadOnly(_))), "{sent:?}");
}

#[test]
fn a_wrong_url_or_tenant_differs_from_a_stopped_server() {
    let wrong = |url: &str, tenant: &str| {
        let options = PostgresOptions { tenant: tenant.to_owned(), ..PostgresOptions::default() };
        block_on(PostgresStore::connect(url, options)).unwrap_err()
    };
    assert_eq!(wrong("http://example", "a"), Error::Address(Address::Url));
    for tenant in ["", "a'; --"] {
        assert_eq!(wrong("postgres://h/d", tenant), Error::Address(Address::TenantName), "{tenant}");
    }
    assert_eq!(wrong("postgres://user:hunter2@host:notaport/d", "a"), Error::Address(Address::Url));
    let Some(url) = database() else { return };
    let nowhere = url.replace("/seamline?", "/nowhere?");
    assert!(matches!(wrong(&nowhere, "a"), Error::Address(Address::Login(_))));
}
