//! Session stores: the interface, the stores behind a URL, and the types of records.
//!
//! ```
//! use seamline::store::{MemoryStore, Store};
//!
//! # futures_executor::block_on(async {
//! let store = MemoryStore::new();
//! assert!(store.list_sessions(None, 10).await.unwrap().is_empty());
//! # });
//! ```

use std::sync::Arc;

pub use seamline_store::{
    AcceptedFinding, Acquire, Appended, Begin, CallId, CallOutcome, CallState, CallStep, Checkpoint, CheckpointId,
    CheckpointState, Commit, CommitId, CycleId, CycleState, CycleStep, Damage, DamageKind, DialectName, Effect, Entry,
    EntryId, EntrySource, Erased, Error, Flaw, Hash, Head, Holder, INBOX_BYTES_MAX, INBOX_DAMAGES_MAX,
    INBOX_MESSAGES_MAX, InboxDamage, InboxDamageKind, InboxDamages, InboxId, InboxItem, InboxPage, Incident,
    IncidentKind, IncidentSeverity, InvalidSessionId, KeyedStore, Lease, LogLoss, MemoryStore, OpenCall, OpenCycle,
    OpenedCommit, Operation, Origin, Pending, PendingCompensation, Pushed, Quarantined, Raw, Record, Rejected,
    RejectedMembers, RepairId, RepairKind, Replayed, ResultText, SealKey, Sealed, SessionId, SessionInfo,
    SpentCheckpoint, State, Store, StoredCommit, Switch, View, cause, chain, chain_with, replay, replay_with,
};
// Only the SQLite store can tell whether a process has ended.
#[cfg(feature = "sqlite")]
pub use seamline_store_sqlite::{Presence, presence};

/// Opens the store at a URL: `sqlite:PATH`, `postgres://…` or `memory:`. Creates the file or the tables if they are
/// missing.
///
/// `sqlite:` needs the feature `sqlite` of this crate and `postgres:` the feature `postgres`; both are off by default.
///
/// In PostgreSQL every session belongs to a tenant. The URL names it: `postgres://…/DATABASE?tenant=acme`. The default
/// tenant is `default`.
///
/// ```
/// # futures_executor::block_on(async {
/// let store = seamline::open_store("memory:").await.unwrap();
/// assert!(store.list_sessions(None, 10).await.unwrap().is_empty());
/// let error = seamline::open_store("mysql://localhost").await.unwrap_err();
/// assert_eq!(error.message(), "unsupported store URL scheme `mysql:`");
/// # });
/// ```
///
/// # Errors
/// When the URL has another scheme, or the store cannot be opened.
pub async fn open_store(address: &str) -> Result<Arc<dyn Store>, Error> {
    open(address, Access::Write).await
}

/// Opens the store at a URL for reading. It creates no file and no table and writes nothing, so it also works on a full
/// disk.
///
/// ```
/// # futures_executor::block_on(async {
/// # #[cfg(feature = "sqlite")]
/// let error = seamline::store::open_store_to_read("sqlite:/nowhere/at/all.db").await.unwrap_err();
/// # #[cfg(feature = "sqlite")]
/// assert!(error.message().contains("does not exist"), "{error}");
/// # });
/// ```
///
/// # Errors
/// As [`open_store`], and when the file does not exist or the database has no store.
pub async fn open_store_to_read(address: &str) -> Result<Arc<dyn Store>, Error> {
    open(address, Access::Read).await
}

/// The purpose for which a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

#[cfg_attr(not(feature = "postgres"), expect(clippy::unused_async, reason = "only PostgreSQL waits when it is opened"))]
async fn open(address: &str, access: Access) -> Result<Arc<dyn Store>, Error> {
    let read_only = access == Access::Read;
    crate::log::record_opening(address, read_only);
    match address.split_once(':') {
        Some(("memory", "")) => Ok(Arc::new(MemoryStore::new())),
        #[cfg(feature = "sqlite")]
        Some(("sqlite", path)) if !path.is_empty() => {
            // `sqlite:///var/lib/s.db` and `sqlite:/var/lib/s.db` are the same file.
            let path = path.strip_prefix("//").unwrap_or(path);
            if is_of_a_shell(path) {
                return Err(Error::Address(cause::Address::Tilde));
            }
            let options =
                seamline_store_sqlite::SqliteOptions { read_only, ..seamline_store_sqlite::SqliteOptions::default() };
            Ok(Arc::new(seamline_store_sqlite::SqliteStore::open(path, options)?))
        }
        #[cfg(feature = "postgres")]
        Some(("postgres" | "postgresql", _)) => {
            let (url, tenant) = without_tenant(address)?;
            let mut options = seamline_store_postgres::PostgresOptions { read_only, ..Default::default() };
            options.tenant = tenant.unwrap_or(options.tenant);
            Ok(Arc::new(seamline_store_postgres::PostgresStore::connect(&url, options).await?))
        }
        #[cfg(not(feature = "sqlite"))]
        Some(("sqlite", _)) => Err(Error::Address(cause::Address::Feature { store: "SQLite", feature: "sqlite" })),
        #[cfg(not(feature = "postgres"))]
        Some(("postgres" | "postgresql", _)) => {
            Err(Error::Address(cause::Address::Feature { store: "PostgreSQL", feature: "postgres" }))
        }
        Some((scheme, _)) => Err(Error::Address(cause::Address::Scheme { scheme: scheme.to_owned() })),
        None => Err(Error::Address(cause::Address::NoScheme)),
    }
}

/// Whether a path starts with a home folder in a shell's notation. SQLite would create a folder called `~`.
#[cfg(feature = "sqlite")]
fn is_of_a_shell(path: &str) -> bool {
    path == "~" || path.starts_with('~') && path.contains('/')
}

/// Splits a URL into the URL for the driver and the tenant that it names.
#[cfg(feature = "postgres")]
fn without_tenant(address: &str) -> Result<(String, Option<String>), Error> {
    let Some((place, query)) = address.split_once('?') else { return Ok((address.to_owned(), None)) };
    let (named, others): (Vec<&str>, Vec<&str>) = query.split('&').partition(|setting| setting.starts_with("tenant="));
    let url = if others.is_empty() { place.to_owned() } else { format!("{place}?{}", others.join("&")) };
    match named.as_slice() {
        [] => Ok((url, None)),
        [tenant] => Ok((url, tenant.strip_prefix("tenant=").map(str::to_owned))),
        _ => Err(Error::Address(cause::Address::Tenants)),
    }
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_is_split_off_the_address() {
        let parted = |address: &str| without_tenant(address).unwrap();
        let plain = |url: &str, tenant: Option<&str>| (url.to_owned(), tenant.map(str::to_owned));
        assert_eq!(parted("postgres://h/d"), plain("postgres://h/d", None));
        assert_eq!(parted("postgres://h/d?tenant=acme"), plain("postgres://h/d", Some("acme")));
        assert_eq!(
            parted("postgres://h/d?sslmode=require&tenant=a:b&options=-cx%3Dy"),
            plain("postgres://h/d?sslmode=require&options=-cx%3Dy", Some("a:b"))
        );
        assert_eq!(parted("postgres://h/d?tenant="), plain("postgres://h/d", Some("")));
        assert!(matches!(
            without_tenant("postgres://h/d?tenant=a&tenant=b"),
            Err(Error::Address(cause::Address::Tenants))
        ));
    }
}
