//! Only a tenant itself sees its rows.

use std::sync::Arc;

use futures_executor::block_on;
use seamline_store::{Error, Head, InboxItem, Raw, Store};
use seamline_store_postgres::PostgresStore;

use crate::bench::{Direct, Writer, connect, database, holder, options};

const TABLES: [&str; 4] = ["seamline_sessions", "seamline_commits", "seamline_inbox", "seamline_quarantine"];

/// Writes a row into every table.
fn filled(store: &Arc<PostgresStore>) -> Writer {
    let mut writer = Writer::create(store.clone(), "secret", 1);
    writer.append(3);
    let item = InboxItem { id: "1".into(), message: Raw::default(), dialect: None };
    block_on(store.push(&writer.session, &item)).unwrap();
    block_on(store.quarantine(&writer.session, b"aside")).unwrap();
    writer
}

#[test]
fn another_tenant_sees_no_row_of_any_table() {
    let Some(url) = database() else { return };
    let (one, other) = (options("one"), options("other"));
    let store = Arc::new(connect(&url, &one));
    let writer = filled(&store);
    let direct = Direct::connect(&url);
    let count = |tenant: &str, table: &str| {
        let sql = format!("SELECT count(*) FROM {table}");
        direct.tell(&format!("BEGIN; SELECT set_config('seamline.tenant', '{tenant}', true)"));
        let rows = direct.ask(&sql).unwrap();
        direct.tell("COMMIT");
        rows[0].parse::<u64>().unwrap()
    };
    for table in TABLES {
        assert!(count(&one.tenant, table) > 0, "{table}");
        assert_eq!(count(&other.tenant, table), 0, "{table}");
    }
    // The partitions themselves show no rows to any tenant.
    for part in 0..16 {
        assert_eq!(count(&one.tenant, &format!("seamline_commits_{part}")), 0, "{part}");
    }
    for table in TABLES {
        direct.tell_as(&other.tenant, &format!("DELETE FROM {table}"));
        let (own, theirs) = (&one.tenant, &other.tenant);
        direct.tell_as(theirs, &format!("UPDATE {table} SET tenant = '{theirs}' WHERE tenant = '{own}'"));
    }
    let replayed = writer.replayed();
    assert_eq!((replayed.commits, replayed.damages), (3, Vec::new()));

    let stranger = connect(&url, &other);
    assert_eq!(block_on(stranger.list_sessions(None, 10)), Ok(Vec::new()));
    assert_eq!(block_on(stranger.read_head(&writer.session)), Err(Error::NotFound(writer.session.clone())));
    let made = block_on(stranger.create(&writer.session, &holder(2))).unwrap();
    assert_eq!(made.head, Head::START);
    assert_eq!(block_on(store.read_head(&writer.session)), Ok(writer.lease.head));
}

#[test]
fn a_tenant_cannot_insert_rows_for_another_tenant() {
    let Some(url) = database() else { return };
    let (one, other) = (options("one"), options("other"));
    let writer = filled(&Arc::new(connect(&url, &one)));
    let direct = Direct::connect(&url);
    direct.tell(&format!("BEGIN; SELECT set_config('seamline.tenant', '{}', true)", other.tenant));
    let forged = format!(
        "INSERT INTO seamline_inbox (tenant, session, id, place, message) VALUES ('{}', 'secret', 'x', 9, '{{}}')",
        one.tenant
    );
    assert_eq!(direct.ask(&forged).unwrap_err().code().map(tokio_postgres::error::SqlState::code), Some("42501"));
    assert_eq!(block_on(writer.store.read_inbox(&writer.session)).unwrap().len(), 1);
}

#[test]
fn a_transaction_without_a_tenant_sees_no_row() {
    let Some(url) = database() else { return };
    let options = options("one");
    filled(&Arc::new(connect(&url, &options)));
    for table in TABLES {
        let sql = format!("SELECT count(*) FROM {table}");
        let fresh = Direct::connect(&url);
        assert!(fresh.ask(&sql).is_err(), "{table}");
        // An earlier transaction of this connection named a tenant; the setting ended with it.
        fresh.tell_as(&options.tenant, "SELECT 1");
        assert_eq!(fresh.ask(&sql).unwrap_or_default().concat().replace('0', ""), "", "{table}");
    }
}
