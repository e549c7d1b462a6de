//! A session store in PostgreSQL and compatible databases.
//!
//! A [`PostgresStore`] stores the sealed bytes of commits unchanged. One statement appends a commit: it compares the
//! epoch, the number and the hash of the session's head. If the connection is lost before the acknowledgement, the store
//! sends the same commit again, and its id tells whether it is stored already. No client clock decides anything.
//!
//! ```no_run
//! # fn main() -> Result<(), seamline_store::Error> {
//! use seamline_store::Store;
//! use seamline_store_postgres::{PostgresOptions, PostgresStore};
//!
//! # futures_executor::block_on(async {
//! let options = PostgresOptions { tenant: "acme".to_owned(), ..PostgresOptions::default() };
//! let store = PostgresStore::connect("postgres://seamline@db.example/seamline?sslmode=require", options).await?;
//! for info in store.list_sessions(None, 100).await? {
//!     println!("{} has {} commits", info.session, info.commits);
//! }
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # The database
//!
//! The first connection creates the tables; their names start with `seamline_`. Every row belongs to a tenant, and
//! row-level security shows a transaction only the rows of the tenant that it names, even if the role owns the tables.
//! Superusers and roles with `BYPASSRLS` bypass that, so give seamline its own role.
//!
//! The store uses no stored procedures, advisory locks or notifications, so `CockroachDB` (25.2 or later, for row-level
//! security) and `YugabyteDB` can serve it too. Their tables have no partitions. The tests run on PostgreSQL only, with
//! both kinds of tables. No statement is prepared and no setting outlives its transaction, so transaction poolers work.
//!
//! # Encryption
//!
//! With `sslmode=require` (or `verify-ca` or `verify-full`, which mean the same here) the connection is encrypted, and
//! the server's certificate is checked against the machine's roots or those of [`PostgresOptions::roots`]. `sslmode=prefer`, the
//! default, does the same if the server offers encryption. Use `sslmode=disable` if you trust the network.
#![deny(clippy::disallowed_methods)]

mod append;
mod connections;
mod erase;
mod failure;
mod import;
mod inbox;
mod lease;
mod options;
mod pool;
mod quarantine;
mod read;
mod row;
mod schema;
mod store;
mod tls;
mod transaction;

pub use options::PostgresOptions;
pub use store::PostgresStore;
