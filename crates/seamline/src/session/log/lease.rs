//! The lease of a session: acquired, held while the session is open, and released in every way that it can end.
//!
//! A lease that is dropped without a release, because a session was dropped or a future was cancelled, is *abandoned*:
//! this process remembers its holder, and the next open in this process takes the session over at once. The store is
//! asked to release it as well, but the drop does not wait.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use seamline_store::{Acquire, Error, Head, Holder, SessionId, Store};
// The SQLite store finds out whether a process is gone, so its description of a process is the most exact.
#[cfg(feature = "sqlite")]
use seamline_store_sqlite::this_process;

use crate::session::Clock;

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
    /// The epoch and the end of the log, once the lease is acquired.
    granted: Option<seamline_store::Lease>,
}

impl Lease {
    /// A lease that is not acquired yet.
    pub(super) fn new(store: Arc<dyn Store>, id: SessionId, holder: Holder) -> Self {
        Self { store, id, holders: vec![holder.clone()], holder, granted: None }
    }

    pub(super) fn id(&self) -> &SessionId {
        &self.id
    }

    pub(super) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The epoch of the lease; 0 before it is acquired.
    pub(super) fn epoch(&self) -> u64 {
        self.granted.as_ref().map_or(0, |granted| granted.epoch)
    }

    /// The end of the log.
    pub(super) fn head(&self) -> Head {
        self.granted.as_ref().map_or(Head::START, |granted| granted.head)
    }

    /// Moves the end of the log to a commit that is durable.
    pub(super) fn advance(&mut self, head: Head) {
        if let Some(granted) = &mut self.granted {
            granted.head = head;
        }
    }

    /// Acquires the lease. Gives the holder that it was taken from, if that one was not abandoned.
    pub(super) async fn acquire(&mut self, how: Acquire) -> Result<Option<Holder>, Error> {
        let mut before = None;
        let lease = match self.store.acquire(&self.id, &self.holder, Acquire::IfFree).await {
            Err(Error::Busy { holder: other, .. }) if claim(&other) => {
                self.holders.push(*other);
                self.store.acquire(&self.id, &self.holder, Acquire::TakeOver).await
            }
            Err(Error::Busy { holder: other, .. }) if how == Acquire::TakeOver => {
                before = Some(*other);
                self.store.acquire(&self.id, &self.holder, Acquire::TakeOver).await
            }
            free => free,
        };
        if let Err(Error::Busy { .. } | Error::NotFound(_) | Error::Erased(_)) = &lease {
            // The store certainly gave nothing.
            self.holders.clear();
        }
        self.granted = Some(lease?);
        Ok(before)
    }

    /// Creates the session. A name that a crash left before anything was written under it is as good as new.
    pub(super) async fn create(&mut self) -> Result<(), Error> {
        let exists = match self.store.create(&self.id, &self.holder).await {
            Err(error @ Error::Exists(_)) => error,
            created => {
                self.granted = Some(created?);
                return Ok(());
            }
        };
        if self.store.head(&self.id).await?.seq > 0 {
            self.holders.clear();
            return Err(exists);
        }
        match self.acquire(Acquire::IfFree).await {
            Ok(_) if self.head().seq == 0 => Ok(()),
            Ok(_) | Err(_) => Err(exists),
        }
    }

    /// Releases the lease.
    pub(super) async fn release(&mut self) -> Result<(), Error> {
        if self.granted.is_some() {
            self.store.release(&self.id, self.epoch()).await?;
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
        if self.granted.is_some() {
            let _ = self.store.release(&self.id, self.epoch()).now_or_never();
        }
    }
}

/// This process, about to open a session. Two openings always differ, even in the same millisecond.
pub(in crate::session) fn this_holder(clock: &dyn Clock) -> Holder {
    static OPENINGS: AtomicU64 = AtomicU64::new(1);
    Holder { opening: OPENINGS.fetch_add(1, Ordering::Relaxed), ..this_process(clock.now()) }
}

/// This process, for stores that do not find out whether it is gone.
#[cfg(not(feature = "sqlite"))]
fn this_process(now: u64) -> Holder {
    Holder { host: "this host".to_owned(), pid: std::process::id(), since: now, ..Holder::default() }
}
