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
    Acquire, Appended, CallId, CallState, Checkpoint, CheckpointId, CheckpointState, Commit, CommitId, CycleId,
    CycleState, CycleStep, Damage, DamageKind, Effect, Entry, EntryId, EntrySource, Erased, Error, Flaw, Hash, Head,
    Holder, INBOX_BYTES_MAX, INBOX_DAMAGES_MAX, INBOX_MESSAGES_MAX, InboxDamage, InboxDamages, InboxItem, InboxPage,
    Incident, IncidentKind, IncidentSeverity, InvalidSessionId, Lease, MemoryStore, OpenCall, OpenCycle, OpenedCommit,
    Operation, Origin, Pending, Pushed, Quarantined, Raw, Record, Rejected, RepairId, RepairKind, Replayed, Sealed,
    SessionId, SessionInfo, State, Store, StoredCommit, View, chain, replay,
};
// The store that can tell whether a process is gone knows it best.
#[cfg(feature = "sqlite")]
pub use seamline_store_sqlite::{Presence, presence};

/// The addresses that stores have.
const ADDRESSES: &str = "`sqlite:PATH`, `postgres://…` or `memory:`";

/// Opens the store at an address: `sqlite:PATH`, `postgres://…` or `memory:`. What is not there is made.
///
/// In PostgreSQL sessions belong to a tenant, which is named in the address: `postgres://…/DATABASE?tenant=acme`. Where
/// none is named it is `default`.
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

/// Opens the store at an address for those who only look: no file and no table is made and nothing is written, so that
/// it can be read on a full disk, too.
///
/// ```
/// # futures_executor::block_on(async {
/// # #[cfg(feature = "sqlite")]
/// assert!(seamline::store::open_store_to_read("sqlite:/nowhere/at/all.db").await.is_err());
/// # });
/// ```
///
/// # Errors
/// As [`open_store`], and when there is no such file or the database has no store.
pub async fn open_store_to_read(address: &str) -> Result<Arc<dyn Store>, Error> {
    open(address, true).await
}

#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    expect(unused_variables, reason = "what is in memory is not opened otherwise for reading")
)]
async fn open(address: &str, read_only: bool) -> Result<Arc<dyn Store>, Error> {
    match address.split_once(':') {
        Some(("memory", "")) => Ok(Arc::new(MemoryStore::new())),
        #[cfg(feature = "sqlite")]
        Some(("sqlite", path)) if !path.is_empty() => {
            // `sqlite:///var/lib/s.db` and `sqlite:/var/lib/s.db` are the same file.
            let path = path.strip_prefix("//").unwrap_or(path);
            if is_of_a_shell(path) {
                return Err(Error::Address(
                    "`~` stands for a home folder in a shell only\nhint: write the path out; `sqlite:./~/…` means a folder \
                     of that name"
                        .to_owned(),
                ));
            }
            let options = seamline_store_sqlite::Options { read_only, ..seamline_store_sqlite::Options::default() };
            Ok(Arc::new(seamline_store_sqlite::SqliteStore::open(path, options)?))
        }
        #[cfg(feature = "postgres")]
        Some(("postgres" | "postgresql", _)) => {
            let (url, tenant) = without_tenant(address)?;
            let mut options = seamline_store_postgres::Options { read_only, ..Default::default() };
            options.tenant = tenant.unwrap_or(options.tenant);
            Ok(Arc::new(seamline_store_postgres::PostgresStore::connect(&url, options).await?))
        }
        // An address may hold a password.
        Some((scheme, _)) => Err(Error::Address(format!("`{scheme}:` is no store\nhint: a store is {ADDRESSES}"))),
        None => Err(Error::Address(format!("this is no address of a store\nhint: a store is {ADDRESSES}"))),
    }
}

/// Whether a path begins with a home folder as shells write it. A folder of that name would be made for it.
#[cfg(feature = "sqlite")]
fn is_of_a_shell(path: &str) -> bool {
    path == "~" || path.starts_with('~') && path.contains('/')
}

/// The address that the driver understands, and the tenant that was named in it.
#[cfg(feature = "postgres")]
fn without_tenant(address: &str) -> Result<(String, Option<String>), Error> {
    let Some((place, query)) = address.split_once('?') else { return Ok((address.to_owned(), None)) };
    let (named, others): (Vec<&str>, Vec<&str>) = query.split('&').partition(|setting| setting.starts_with("tenant="));
    let url = if others.is_empty() { place.to_owned() } else { format!("{place}?{}", others.join("&")) };
    match named.as_slice() {
        [] => Ok((url, None)),
        [tenant] => Ok((url, tenant.strip_prefix("tenant=").map(str::to_owned))),
        _ => Err(Error::Address("the address names more than one tenant".to_owned())),
    }
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_is_taken_out_of_the_address() {
        let parted = |address: &str| without_tenant(address).unwrap();
        let plain = |url: &str, tenant: Option<&str>| (url.to_owned(), tenant.map(str::to_owned));
        assert_eq!(parted("postgres://h/d"), plain("postgres://h/d", None));
        assert_eq!(parted("postgres://h/d?tenant=acme"), plain("postgres://h/d", Some("acme")));
        assert_eq!(
            parted("postgres://h/d?sslmode=require&tenant=a:b&options=-cx%3Dy"),
            plain("postgres://h/d?sslmode=require&options=-cx%3Dy", Some("a:b"))
        );
        assert_eq!(parted("postgres://h/d?tenant="), plain("postgres://h/d", Some("")));
        assert!(matches!(without_tenant("postgres://h/d?tenant=a&tenant=b"), Err(Error::Address(_))));
    }
}
