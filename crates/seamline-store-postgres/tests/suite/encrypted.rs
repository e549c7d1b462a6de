//! Encrypted connections.

use futures_executor::block_on;
use seamline_store::cause::Unavailable;
use seamline_store::{Error, Store};
use seamline_store_postgres::{PostgresOptions, PostgresStore};

use crate::bench::{Direct, database, options, setting, unique};

#[test]
fn a_connection_is_encrypted_and_the_certificate_is_checked() {
    let Some(url) = database() else { return };
    let Some(roots) = setting("SEAMLINE_TEST_POSTGRES_ROOTS") else { return };
    let roots = Some(std::fs::read(roots).unwrap());
    let name = unique("encrypted");
    let by_name = url.replace("127.0.0.1", "localhost").replace("sslmode=disable", "sslmode=require");
    let named = format!("{by_name}&application_name={name}");
    let store =
        block_on(PostgresStore::connect(&named, PostgresOptions { roots: roots.clone(), ..options("encrypted") }));
    let store = store.unwrap();
    assert_eq!(block_on(store.list_sessions(None, 1)), Ok(Vec::new()));
    let sql =
        format!("SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = '{name}'");
    assert_eq!(Direct::connect(&url).ask(&sql).unwrap(), ["t"]);

    let unknown = block_on(PostgresStore::connect(&by_name, options("encrypted"))).unwrap_err();
    assert!(matches!(&unknown, Error::Unavailable(Unavailable::Handshake(_))), "{unknown}");
    let by_number = url.replace("sslmode=disable", "sslmode=require");
    let other =
        block_on(PostgresStore::connect(&by_number, PostgresOptions { roots, ..options("encrypted") })).unwrap_err();
    assert!(matches!(&other, Error::Unavailable(Unavailable::Handshake(_))), "{other}");
}
