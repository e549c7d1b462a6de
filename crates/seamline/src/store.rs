//! Where sessions are kept.
//!
//! ```
//! use seamline::store::{MemoryStore, Store};
//!
//! # futures_executor::block_on(async {
//! let store = MemoryStore::new();
//! assert!(store.sessions(None, 10).await.unwrap().is_empty());
//! # });
//! ```

use std::sync::Arc;

pub use seamline_store::{
    Acquire, Appended, Checkpoint, CheckpointState, Commit, CommitId, Damage, DamageKind, Effect, Entry, EntryId,
    Erased, Error, Flaw, Hash, Head, Holder, InboxDamage, InboxItem, Incident, IncidentKind, IncidentSeverity,
    InvalidSessionId, Lease, MemoryStore, OpenedCommit, Operation, Origin, Pending, Pushed, Quarantined, Raw, Record,
    Rejected, Replayed, Sealed, SessionId, SessionInfo, State, Store, StoredCommit, View, chain, replay,
};

/// The addresses that stores have.
const ADDRESSES: &str = "`sqlite:PATH`, `postgres://…` or `memory:`";

/// Opens the store at an address: `sqlite:PATH`, `postgres://…` or `memory:`. What is not there is made.
///
/// ```
/// # futures_executor::block_on(async {
/// assert!(seamline::open_store("memory:").await.is_ok());
/// let error = seamline::open_store("mysql://localhost").await.unwrap_err();
/// assert!(error.to_string().contains("sqlite:PATH"));
/// # });
/// ```
///
/// # Errors
/// When the address is not one of these, or the store cannot be opened.
pub async fn open_store(address: &str) -> Result<Arc<dyn Store>, Error> {
    open(address, false).await
}

/// Opens the store at an address for those who only look: a file is not made and nothing of it is written, so that it
/// can be read on a full disk, too.
///
/// ```
/// # futures_executor::block_on(async {
/// # #[cfg(feature = "sqlite")]
/// assert!(seamline::store::open_store_to_read("sqlite:/nowhere/at/all.db").await.is_err());
/// # });
/// ```
///
/// # Errors
/// As [`open_store`], and when there is no such file.
pub async fn open_store_to_read(address: &str) -> Result<Arc<dyn Store>, Error> {
    open(address, true).await
}

#[cfg_attr(not(feature = "sqlite"), expect(unused_variables, reason = "only a file is opened otherwise for reading"))]
async fn open(address: &str, read_only: bool) -> Result<Arc<dyn Store>, Error> {
    match address.split_once(':') {
        Some(("memory", "")) => Ok(Arc::new(MemoryStore::new())),
        #[cfg(feature = "sqlite")]
        Some(("sqlite", path)) if !path.is_empty() => {
            // `sqlite:///var/lib/s.db` and `sqlite:/var/lib/s.db` are the same file.
            let path = path.strip_prefix("//").unwrap_or(path);
            let options = seamline_store_sqlite::Options { read_only, ..seamline_store_sqlite::Options::default() };
            Ok(Arc::new(seamline_store_sqlite::SqliteStore::open(path, options)?))
        }
        #[cfg(feature = "postgres")]
        Some(("postgres" | "postgresql", _)) => {
            let options = seamline_store_postgres::Options::default();
            Ok(Arc::new(seamline_store_postgres::PostgresStore::connect(address, options).await?))
        }
        // An address may hold a password.
        Some((scheme, _)) => Err(Error::Address(format!("`{scheme}:` is no store\nhint: a store is {ADDRESSES}"))),
        None => Err(Error::Address(format!("this is no address of a store\nhint: a store is {ADDRESSES}"))),
    }
}
