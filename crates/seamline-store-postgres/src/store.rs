//! The store interface over PostgreSQL.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use seamline_store::{
    Acquire, Appended, Erased, Error, Hash, Head, Holder, InboxDamage, InboxItem, Lease, Pending, Pushed, Quarantined,
    Sealed, SessionId, SessionInfo, Store, StoredCommit, cause,
};
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::append::Append;
use crate::connections::{Connections, Operation};
use crate::erase::Erase;
use crate::import::Import;
use crate::inbox::{Inbox, InboxDamageCheck, Push, Waiting};
use crate::lease::{Create, Release, Renew, Take};
use crate::options::PostgresOptions;
use crate::pool::pool;
use crate::quarantine::{ListQuarantined, Quarantine};
use crate::read::{FindHead, List, Read};
use crate::schema::{Find, Prepare};

/// How often the store renews a lease within its duration.
const RENEWALS: u32 = 3;

/// The shortest pause between two renewals.
const RENEWAL_MIN: Duration = Duration::from_millis(100);

/// A store of sessions in PostgreSQL.
///
/// It has its own thread, so callers need no runtime, and an operation continues when its future is dropped. If the store
/// itself is dropped, running operations may or may not take effect, as in a crash.
pub struct PostgresStore {
    connections: Arc<Connections>,
    /// The tasks that renew the leases of this store's sessions.
    renewals: Mutex<HashMap<SessionId, (u64, AbortHandle)>>,
    /// The runtime of the store; none only while it shuts down.
    runtime: Option<Runtime>,
}

impl PostgresStore {
    /// Connects to `postgres://user@host/database`. Creates the tables if they are missing, unless the store is read-only.
    ///
    /// # Errors
    /// [`Error::Address`] if the URL, the user or the tenant is wrong, or a read-only store finds no tables;
    /// [`Error::Unavailable`]; [`Error::NewerFormat`].
    pub async fn connect(url: &str, options: PostgresOptions) -> Result<Self, Error> {
        let pool = pool(url, &options)?;
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("seamline-postgres").enable_all().build();
        let runtime = runtime.map_err(|error| Error::Failed(cause::Failed::Thread(error.to_string())))?;
        let connections = Arc::new(Connections::new(pool, options));
        let store = Self { connections, renewals: Mutex::default(), runtime: Some(runtime) };
        if store.connections.options.read_only {
            store.ask(Find).await?;
        } else {
            store.ask(Prepare).await?;
        }
        Ok(store)
    }

    /// Starts an operation at once.
    fn ask<O: Operation>(&self, operation: O) -> Pending<'_, O::Output> {
        let Some(runtime) = &self.runtime else { return failed(Error::Failed(cause::Failed::Closed)) };
        let connections = self.connections.clone();
        let task = runtime.spawn(async move { connections.perform(operation).await });
        Box::pin(async move {
            task.await.unwrap_or_else(|error| {
                Err(Error::Failed(cause::Failed::Unsettled(format!("the operation was cancelled: {error}"))))
            })
        })
    }

    /// Starts an operation that takes a lease, and then renews the lease. If the caller drops the future, the lease
    /// expires.
    fn hold<'a, O: Operation<Output = Lease>>(&'a self, session: &'a SessionId, operation: O) -> Pending<'a, Lease> {
        let asked = self.ask(operation);
        Box::pin(async move {
            let lease = asked.await?;
            self.renew(Renew { session: session.clone(), epoch: lease.epoch });
            Ok(lease)
        })
    }

    fn renew(&self, renew: Renew) {
        let Some(runtime) = &self.runtime else { return };
        let (connections, session, epoch) = (self.connections.clone(), renew.session.clone(), renew.epoch);
        let task = runtime.spawn(async move {
            loop {
                sleep((connections.options.lease / RENEWALS).max(RENEWAL_MIN)).await;
                // An unreachable database is tried again: meanwhile no other process can take the session either.
                if let Ok(false) = connections.perform(renew.clone()).await {
                    break;
                }
            }
        });
        let mut renewals = self.renewals();
        renewals.retain(|_, (_, task)| !task.is_finished());
        if let Some((_, earlier)) = renewals.insert(session, (epoch, task.abort_handle())) {
            earlier.abort();
        }
    }

    /// Stops renewing a lease.
    fn stop_renewal(&self, session: &SessionId, epoch: u64) {
        let mut renewals = self.renewals();
        if renewals.get(session).is_some_and(|(held, _)| *held == epoch)
            && let Some((_, task)) = renewals.remove(session)
        {
            task.abort();
        }
    }

    fn renewals(&self) -> MutexGuard<'_, HashMap<SessionId, (u64, AbortHandle)>> {
        self.renewals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        // Waiting for the thread here would block the caller's runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("tenant", &self.connections.options.tenant).finish_non_exhaustive()
    }
}

impl Store for PostgresStore {
    fn create<'a>(&'a self, session: &'a SessionId, holder: &'a Holder) -> Pending<'a, Lease> {
        self.hold(session, Create { session: session.clone(), holder: holder.clone() })
    }

    fn acquire<'a>(&'a self, session: &'a SessionId, holder: &'a Holder, how: Acquire) -> Pending<'a, Lease> {
        self.hold(session, Take { session: session.clone(), holder: holder.clone(), how })
    }

    fn release<'a>(&'a self, session: &'a SessionId, epoch: u64) -> Pending<'a, ()> {
        self.stop_renewal(session, epoch);
        self.ask(Release { session: session.clone(), epoch })
    }

    fn append(&self, commit: Arc<Sealed>) -> Pending<'_, Appended> {
        self.ask(Append(commit))
    }

    fn read_head<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Head> {
        self.ask(FindHead(session.clone()))
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: u64, bytes_max: usize) -> Pending<'a, Vec<StoredCommit>> {
        self.ask(Read { session: session.clone(), after, bytes_max })
    }

    fn list_sessions<'a>(&'a self, after: Option<&'a SessionId>, limit: usize) -> Pending<'a, Vec<SessionInfo>> {
        self.ask(List { after: after.cloned(), limit })
    }

    fn push<'a>(&'a self, session: &'a SessionId, item: &'a InboxItem) -> Pending<'a, Pushed> {
        self.ask(Push { session: session.clone(), item: item.clone() })
    }

    fn read_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxItem>> {
        self.ask(Inbox(session.clone()))
    }

    fn count_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, u64> {
        self.ask(Waiting(session.clone()))
    }

    fn check_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxDamage>> {
        self.ask(InboxDamageCheck(session.clone()))
    }

    fn quarantine<'a>(&'a self, session: &'a SessionId, bytes: &'a [u8]) -> Pending<'a, Hash> {
        self.ask(Quarantine { session: session.clone(), bytes: bytes.to_vec() })
    }

    fn read_quarantine<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<Quarantined>> {
        self.ask(ListQuarantined(session.clone()))
    }

    fn import<'a>(&'a self, session: &'a SessionId, commits: &'a [Vec<u8>]) -> Pending<'a, Head> {
        match Import::new(session, commits) {
            Ok(import) => self.ask(import),
            Err(error) => failed(error),
        }
    }

    fn erase<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Erased> {
        self.ask(Erase(session.clone()))
    }
}

fn failed<'a, T: Send + 'a>(error: Error) -> Pending<'a, T> {
    Box::pin(std::future::ready(Err(error)))
}
