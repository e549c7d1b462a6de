//! The lease of a session: acquired, held while the session is open, and released in every way that it can end.
//!
//! A lease that is dropped without a release, because a session was dropped or a future was cancelled, is *abandoned*:
//! this process remembers its holder, and the next open in this process takes the session over at once. The store is
//! asked to release it as well, but the drop does not wait.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use seamline_store::{Acquire, Error, Holder, Lease as Grant, SessionId, Store};
// The SQLite store finds out whether a process is gone, so its description of a process is the most exact.
#[cfg(feature = "sqlite")]
use seamline_store_sqlite::this_process;

use crate::session::Clock;
#[cfg(not(feature = "sqlite"))]
use own_process as this_process;

/// The most abandoned holders that are remembered. A session of an older one has to be taken over.
const ABANDONED_MAX: usize = 10_000;

/// Holders of this process whose lease was dropped without a release.
static ABANDONED: Mutex<VecDeque<Holder>> = Mutex::new(VecDeque::new());

fn abandoned() -> MutexGuard<'static, VecDeque<Holder>> {
    ABANDONED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers holders as abandoned.
fn abandon(holders: impl Iterator<Item = Holder>) {
    let mut abandoned = abandoned();
    abandoned.extend(holders);
    let surplus = abandoned.len().saturating_sub(ABANDONED_MAX);
    abandoned.drain(..surplus);
}

/// Whether a holder is abandoned. The first caller gets its session, and no other one.
fn claim(holder: &Holder) -> bool {
    let mut abandoned = abandoned();
    let found = abandoned.iter().position(|other| other == holder);
    found.is_some_and(|place| abandoned.remove(place).is_some())
}

/// The right to write a session, or the attempt to get it.
#[derive(Debug)]
pub(in crate::session) struct Lease {
    store: Arc<dyn Store>,
    id: SessionId,
    holder: Holder,
    /// The holders in whose name the store may have the session: this one, and an abandoned one that it replaces.
    holders: Vec<Holder>,
    /// The epoch of the lease, once it is acquired.
    epoch: Option<u64>,
}

impl Lease {
    /// A lease that is not acquired yet.
    pub(super) fn new(store: Arc<dyn Store>, id: SessionId, holder: Holder) -> Self {
        Self { store, id, holders: vec![holder.clone()], holder, epoch: None }
    }

    pub(super) fn id(&self) -> &SessionId {
        &self.id
    }

    pub(super) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Acquires the lease. Gives the grant of the store, and the holder that it was taken from, if that one was not
    /// abandoned.
    pub(super) async fn acquire(&mut self, how: Acquire) -> Result<(Grant, Option<Holder>), Error> {
        let mut lease = self.store.acquire(&self.id, &self.holder, Acquire::IfFree).await;
        if let Err(Error::Busy { holder, .. }) = &lease
            && claim(holder)
        {
            // Another process may have been faster, and keeps the session then.
            let from = Acquire::TakeOverFrom(holder.clone());
            self.holders.push((**holder).clone());
            lease = self.store.acquire(&self.id, &self.holder, from).await;
        }
        let mut before = None;
        if let Err(Error::Busy { holder, .. }) = &lease
            && how == Acquire::TakeOver
        {
            before = Some((**holder).clone());
            lease = self.store.acquire(&self.id, &self.holder, Acquire::TakeOver).await;
        }
        if let Err(Error::Busy { .. } | Error::NotFound(_) | Error::Erased(_)) = &lease {
            // The store certainly gave nothing.
            self.holders.clear();
        }
        Ok((self.note(lease?), before))
    }

    /// Notes the epoch of a grant, for the release.
    fn note(&mut self, granted: Grant) -> Grant {
        self.epoch = Some(granted.epoch);
        granted
    }

    /// Creates the session. Reuses the name of a session that crashed before its first commit.
    pub(super) async fn create(&mut self) -> Result<Grant, Error> {
        let exists = match self.store.create(&self.id, &self.holder).await {
            Err(error @ Error::Exists(_)) => error,
            created => {
                return Ok(self.note(created?));
            }
        };
        if self.store.read_head(&self.id).await?.seq > 0 {
            self.holders.clear();
            return Err(exists);
        }
        match self.acquire(Acquire::IfFree).await {
            Ok((granted, _)) if granted.head.seq == 0 => Ok(granted),
            // Another process writes it, or has written it.
            Ok(_) | Err(Error::Busy { .. }) => Err(exists),
            Err(error) => Err(error),
        }
    }

    /// Releases the lease.
    pub(super) async fn release(&mut self) -> Result<(), Error> {
        if let Some(epoch) = self.epoch {
            self.store.release(&self.id, epoch).await?;
            self.holders.clear();
        }
        Ok(())
    }

    /// Forgets a lease whose session is erased.
    pub(super) fn forget(&mut self) {
        self.holders.clear();
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.holders.is_empty() {
            return;
        }
        abandon(self.holders.drain(..));
        // A store does what it is asked whether the caller waits or not, so this never blocks.
        if let Some(epoch) = self.epoch {
            let _ = self.store.release(&self.id, epoch).now_or_never();
        }
    }
}

/// This process, about to open a session. Two openings always differ, even in the same millisecond.
pub(in crate::session) fn this_holder(clock: &dyn Clock) -> Holder {
    static OPENINGS: AtomicU64 = AtomicU64::new(1);
    Holder { opening: OPENINGS.fetch_add(1, Ordering::Relaxed), ..this_process(clock.now()) }
}

/// This process, for stores that do not find out whether it is gone.
#[cfg(any(test, not(feature = "sqlite")))]
fn own_process(now: u64) -> Holder {
    Holder { host: host(), pid: std::process::id(), since: now, ..Holder::default() }
}

/// The name of this machine. Two processes on different machines may have the same number.
#[cfg(all(unix, any(test, not(feature = "sqlite"))))]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The name of this machine, which Windows gives only in the environment.
#[cfg(all(not(unix), any(test, not(feature = "sqlite"))))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_names_its_machine() {
        let own = own_process(7);
        assert_eq!((own.pid, own.since), (std::process::id(), 7));
        assert!(own.host != "this host" && !own.host.is_empty());
        #[cfg(feature = "sqlite")]
        assert_eq!(own.host, this_process(7).host);
    }
}
