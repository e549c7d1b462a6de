//! A store that fails where the test says.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;

use futures_util::future::{Either, select};
use seamline::store::{
    Acquire, Appended, Erased, Error, Hash, Head, Holder, InboxDamage, InboxItem, Lease, Pending, Pushed, Quarantined,
    Sealed, SessionId, SessionInfo, Store, StoredCommit,
};

/// A fault of the store.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// The process dies at this call of the store, counted from 0, before it or right after it, and does nothing more.
    Dies { at: usize, after: bool },
    /// Every write fails with this.
    Fails(fn() -> Error),
    /// This write fails, counted from 0, and no other.
    FailsOnce { at: usize },
    /// This write, counted from 0, never returns, whether it was stored or not.
    Silent { at: usize, kept: bool },
    /// This call of the store, counted from 0, never returns, whether it was done or not; all others return.
    Stalls { at: usize, done: bool },
    /// A bit of this commit is flipped when it is read.
    Alters { seq: u64 },
    /// This commit has the format of a newer version.
    Newer { seq: u64 },
    /// Another process takes the session over right after this one was told that it is busy. No release arrives.
    Overtaken,
    /// No lease is given to anyone, with this error.
    NoLease(fn() -> Error),
    /// How often the store still reports the old end of the session.
    Lags { head: Head, times: usize },
}

/// A store that fails where the test says.
#[derive(Debug)]
pub(crate) struct Faulty {
    inner: Arc<dyn Store>,
    fault: Fault,
    /// How often the operation that can fail was done.
    count: AtomicUsize,
    dead: AtomicBool,
}

impl Faulty {
    pub(crate) fn new(inner: Arc<dyn Store>, fault: Fault) -> Arc<Self> {
        Arc::new(Self { inner, fault, count: AtomicUsize::new(0), dead: AtomicBool::new(false) })
    }

    /// Runs an operation, unless the process dies before it. In a dead process it never returns.
    fn alive<'a, T: Send + 'a>(&'a self, does: impl FnOnce() -> Pending<'a, T>) -> Pending<'a, T> {
        if let Fault::Stalls { at, done } = self.fault {
            return self.stalled(does, at, done);
        }
        let Fault::Dies { at, after } = self.fault else { return does() };
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        if number > at || (number == at && !after) {
            return self.die();
        }
        let doing = does();
        Box::pin(async move {
            let done = doing.await;
            if number == at { self.die().await } else { done }
        })
    }

    fn stalled<'a, T: Send + 'a>(
        &self,
        does: impl FnOnce() -> Pending<'a, T>,
        at: usize,
        done: bool,
    ) -> Pending<'a, T> {
        if self.count.fetch_add(1, Ordering::SeqCst) != at {
            return does();
        }
        let doing = done.then(does);
        Box::pin(async move {
            if let Some(doing) = doing {
                doing.await?;
            }
            std::future::pending().await
        })
    }

    fn die<'a, T: Send + 'a>(&self) -> Pending<'a, T> {
        self.dead.store(true, Ordering::SeqCst);
        Box::pin(std::future::pending())
    }

    /// The outcome of a future, or `None` if its process dies before: the future is dropped.
    pub(crate) async fn until_death<T>(&self, running: impl Future<Output = T>) -> Option<T> {
        let death = std::future::poll_fn(|_| if self.is_dead() { Poll::Ready(()) } else { Poll::Pending });
        // The killer is polled first, so the second needs no wake-up.
        match select(std::pin::pin!(running), death).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }

    /// Whether the process has died.
    fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }
}

fn failed<'a, T: Send + 'a>(error: Error) -> Pending<'a, T> {
    Box::pin(std::future::ready(Err(error)))
}

impl Store for Faulty {
    fn create<'a>(&'a self, session: &'a SessionId, holder: &'a Holder) -> Pending<'a, Lease> {
        self.alive(|| self.inner.create(session, holder))
    }

    fn acquire<'a>(&'a self, session: &'a SessionId, holder: &'a Holder, how: Acquire) -> Pending<'a, Lease> {
        match self.fault {
            Fault::Overtaken => Box::pin(async move {
                let asked = self.inner.acquire(session, holder, how).await;
                if !self.dead.swap(true, Ordering::SeqCst) {
                    self.inner.acquire(session, &rival(), Acquire::TakeOver).await?;
                }
                asked
            }),
            Fault::NoLease(error) => failed(error()),
            _ => self.alive(|| self.inner.acquire(session, holder, how)),
        }
    }

    fn release<'a>(&'a self, session: &'a SessionId, epoch: u64) -> Pending<'a, ()> {
        match self.fault {
            Fault::Overtaken => Box::pin(std::future::pending()),
            _ => self.alive(|| self.inner.release(session, epoch)),
        }
    }

    fn append(&self, commit: Arc<Sealed>) -> Pending<'_, Appended> {
        if let Fault::Dies { .. } | Fault::Stalls { .. } = self.fault {
            return self.alive(|| self.inner.append(commit));
        }
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        match self.fault {
            Fault::Fails(error) => failed(error()),
            Fault::FailsOnce { at } if number == at => failed(Error::NoSpace("disk full".to_owned())),
            Fault::Silent { at, kept } if number == at => Box::pin(async move {
                if kept {
                    self.inner.append(commit).await?;
                }
                std::future::pending().await
            }),
            _ => self.inner.append(commit),
        }
    }

    fn read_head<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Head> {
        match self.fault {
            Fault::Lags { head, times } if self.count.fetch_add(1, Ordering::SeqCst) < times => {
                Box::pin(std::future::ready(Ok(head)))
            }
            _ => self.alive(|| self.inner.read_head(session)),
        }
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: u64, bytes_max: usize) -> Pending<'a, Vec<StoredCommit>> {
        Box::pin(async move {
            let mut commits = self.alive(|| self.inner.read(session, after, bytes_max)).await?;
            if let Fault::Alters { seq } = self.fault {
                commits.iter_mut().filter(|commit| commit.seq == seq).for_each(|commit| commit.bytes[40] ^= 1);
            }
            if let Fault::Newer { seq } = self.fault {
                commits
                    .iter_mut()
                    .filter(|commit| commit.seq == seq)
                    .for_each(|commit| commit.bytes = newer(&commit.bytes));
            }
            Ok(commits)
        })
    }

    fn list_sessions<'a>(&'a self, after: Option<&'a SessionId>, limit: usize) -> Pending<'a, Vec<SessionInfo>> {
        self.alive(|| self.inner.list_sessions(after, limit))
    }

    fn push<'a>(&'a self, session: &'a SessionId, item: &'a InboxItem) -> Pending<'a, Pushed> {
        self.alive(|| self.inner.push(session, item))
    }

    fn read_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxItem>> {
        self.alive(|| self.inner.read_inbox(session))
    }

    fn check_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxDamage>> {
        self.alive(|| self.inner.check_inbox(session))
    }

    fn count_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, u64> {
        self.alive(|| self.inner.count_inbox(session))
    }

    fn quarantine<'a>(&'a self, session: &'a SessionId, bytes: &'a [u8]) -> Pending<'a, Hash> {
        self.alive(|| self.inner.quarantine(session, bytes))
    }

    fn read_quarantine<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<Quarantined>> {
        self.alive(|| self.inner.read_quarantine(session))
    }

    fn import<'a>(&'a self, session: &'a SessionId, commits: &'a [Vec<u8>]) -> Pending<'a, Head> {
        self.alive(|| self.inner.import(session, commits))
    }

    fn erase<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Erased> {
        self.alive(|| self.inner.erase(session))
    }
}

/// The process that overtakes another one.
pub(crate) fn rival() -> Holder {
    Holder { host: "elsewhere".to_owned(), pid: 7, ..Holder::default() }
}

/// A commit as a newer version seals it.
fn newer(bytes: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).unwrap().replacen("{\"v\":1", "{\"v\":2", 1);
    let (inside, _) = text.rsplit_once(",\"hash\":").unwrap();
    format!("{inside},\"hash\":\"{}\"}}", Hash::of(inside.as_bytes())).into_bytes()
}
