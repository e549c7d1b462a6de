//! Sessions in PostgreSQL, and in what speaks its protocol.
//!
//! A [`PostgresStore`] keeps the sealed bytes of commits as they are. A commit is one statement that compares the epoch,
//! the number and the hash of the session's head, and is told apart by its id: where the connection is lost and nobody
//! knows whether it was taken, it is sent again until that is known. Nothing is decided by the clock of a client.
//!
//! ```no_run
//! # fn main() -> Result<(), seamline_store::Error> {
//! use seamline_store::Store;
//! use seamline_store_postgres::{Options, PostgresStore};
//!
//! # futures_executor::block_on(async {
//! let options = Options { tenant: "acme".to_owned(), ..Options::default() };
//! let store = PostgresStore::connect("postgres://seamline@db.example/seamline?sslmode=require", options).await?;
//! for info in store.sessions(None, 100).await? {
//!     println!("{} has {} commits", info.session, info.commits);
//! }
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # The database
//!
//! Tables are made at the first connection and start with `seamline_`. Every row belongs to a tenant, and row-level
//! security lets a transaction see only the rows of the tenant that it names, the tables' owner included. Superusers and
//! roles with `BYPASSRLS` are not bound by that: give seamline a role of its own.
//!
//! No stored procedures, advisory locks or notifications are used, so that `CockroachDB` (from 25.2 on, for row-level
//! security) and `YugabyteDB` can serve it too; there the tables have no partitions. Tests run against PostgreSQL only, on
//! such tables as well. No statement is prepared and no setting outlives its transaction, so poolers that hand out
//! connections by transaction are fine.
//!
//! # Encryption
//!
//! With `sslmode=require` (or `verify-ca` or `verify-full`: here they are the same) the connection is encrypted and the
//! certificate of the server is checked against the roots of the machine, or those of [`Options::roots`].
//! `sslmode=prefer`, which is what counts where nothing is said, does the same where the server offers encryption. Where
//! the network is trusted, say `sslmode=disable`.
#![deny(clippy::disallowed_methods)]

mod append;
mod connections;
mod erase;
mod fault;
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

pub use options::Options;
pub use store::PostgresStore;
