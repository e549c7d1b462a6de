//! The reference store: everything in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::chain::chain;
use crate::commit::Sealed;
use crate::error::Error;
use crate::hash::Hash;
use crate::id::{CommitId, DialectName, InboxId, SessionId};
use crate::store::{
    Acquire, Appended, Erased, Head, Holder, InboxItem, InboxPage, Lease, Pending, Pushed, Quarantined, SessionInfo,
    Store, StoredCommit,
};

/// A store that keeps sessions in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    sessions: Mutex<BTreeMap<SessionId, Slot>>,
}

#[derive(Debug)]
enum Slot {
    Session(Box<Session>),
    Erased,
}

#[derive(Debug)]
struct Session {
    head: Head,
    commits: BTreeMap<u64, Vec<u8>>,
    ids: BTreeMap<CommitId, Hash>,
    holder: Option<Holder>,
    inbox: Vec<InboxItem>,
    /// Every id that was ever in the inbox, with the hash of its message if it is known.
    pushed: BTreeMap<InboxId, Option<Hash>>,
    quarantine: BTreeMap<Hash, Vec<u8>>,
    dialect: Option<DialectName>,
}

impl MemoryStore {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionId, Slot>> {
        // A panic under the lock leaves no half-done change: each change is one assignment.
        self.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn with<T>(&self, session: &SessionId, work: impl FnOnce(&mut Session) -> Result<T, Error>) -> Result<T, Error> {
        match self.lock().get_mut(session) {
            Some(Slot::Session(kept)) => work(kept),
            Some(Slot::Erased) => Err(Error::Erased(session.clone())),
            None => Err(Error::NotFound(session.clone())),
        }
    }

    fn make(&self, session: &SessionId, made: Session) -> Result<Head, Error> {
        let mut sessions = self.lock();
        match sessions.get(session) {
            Some(Slot::Session(_)) => Err(Error::Exists(session.clone())),
            Some(Slot::Erased) => Err(Error::Erased(session.clone())),
            None => {
                let head = made.head;
                sessions.insert(session.clone(), Slot::Session(Box::new(made)));
                Ok(head)
            }
        }
    }
}

impl Session {
    fn new(head: Head, holder: Option<Holder>) -> Self {
        Self {
            head,
            commits: BTreeMap::new(),
            ids: BTreeMap::new(),
            holder,
            inbox: Vec::new(),
            pushed: BTreeMap::new(),
            quarantine: BTreeMap::new(),
            dialect: None,
        }
    }

    fn append(&mut self, commit: &Sealed) -> Result<Appended, Error> {
        if self.ids.get(&commit.id()).is_some_and(|hash| *hash == commit.hash()) {
            return Ok(Appended::Already);
        }
        if commit.epoch() != self.head.epoch {
            let (session, epoch, current) = (commit.session().clone(), commit.epoch(), self.head.epoch);
            return Err(Error::Fenced { session, epoch, current });
        }
        if commit.before() != self.head || self.ids.contains_key(&commit.id()) {
            return Err(Error::Conflict(commit.session().clone()));
        }
        self.inbox.retain(|item| !commit.taken().contains(&item.id));
        self.ids.insert(commit.id(), commit.hash());
        self.commits.insert(commit.seq(), commit.bytes().to_vec());
        self.head = commit.after();
        self.dialect = commit.dialect().cloned().or(self.dialect.take());
        Ok(Appended::New)
    }
}

impl Store for MemoryStore {
    fn create<'a>(&'a self, session: &'a SessionId, holder: &'a Holder) -> Pending<'a, Lease> {
        let made = self.make(session, Session::new(Head::START, Some(holder.clone())));
        ready(made.map(|head| Lease { epoch: head.epoch, head }))
    }

    fn acquire<'a>(&'a self, session: &'a SessionId, holder: &'a Holder, how: Acquire) -> Pending<'a, Lease> {
        ready(self.with(session, |kept| {
            let other = kept.holder.as_ref().filter(|other| *other != holder);
            if let Some(busy) = other.filter(|other| !how.takes_over(other)) {
                return Err(Error::Busy { session: session.clone(), holder: Box::new(busy.clone()) });
            }
            kept.holder = Some(holder.clone());
            kept.head.epoch += 1;
            Ok(Lease { epoch: kept.head.epoch, head: kept.head })
        }))
    }

    fn release<'a>(&'a self, session: &'a SessionId, epoch: u64) -> Pending<'a, ()> {
        ready(self.with(session, |kept| {
            if kept.head.epoch == epoch {
                kept.holder = None;
            }
            Ok(())
        }))
    }

    fn append(&self, commit: Arc<Sealed>) -> Pending<'_, Appended> {
        ready(self.with(commit.session(), |kept| kept.append(&commit)))
    }

    fn read_head<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Head> {
        ready(self.with(session, |kept| Ok(kept.head)))
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: u64, bytes_max: usize) -> Pending<'a, Vec<StoredCommit>> {
        ready(self.with(session, |kept| {
            let mut bytes = 0;
            let commits = kept.commits.range(after + 1..).take_while(|(_, commit)| {
                let fits = bytes == 0 || bytes + commit.len() <= bytes_max;
                bytes += commit.len();
                fits
            });
            Ok(commits.map(|(seq, bytes)| StoredCommit { seq: *seq, bytes: bytes.clone(), is_indexed: true }).collect())
        }))
    }

    fn list_sessions<'a>(&'a self, after: Option<&'a SessionId>, limit: usize) -> Pending<'a, Vec<SessionInfo>> {
        let sessions = self.lock();
        let later = sessions.iter().filter(|(session, _)| after.is_none_or(|after| *session > after));
        let infos = later.filter_map(|(session, kept)| match kept {
            Slot::Session(kept) => Some(SessionInfo {
                session: session.clone(),
                head: kept.head,
                commits: kept.commits.len() as u64,
                bytes: kept.commits.values().map(|commit| commit.len() as u64).sum(),
                holder: kept.holder.clone(),
                dialect: kept.dialect.clone(),
            }),
            Slot::Erased => None,
        });
        ready(Ok(infos.take(limit).collect()))
    }

    fn push<'a>(&'a self, session: &'a SessionId, item: &'a InboxItem) -> Pending<'a, Pushed> {
        ready(self.with(session, |kept| {
            item.fits()?;
            let hash = Hash::of(item.message.as_bytes());
            if let Some(before) = kept.pushed.get(&item.id) {
                return item.again(session, before.is_none_or(|before| before == hash));
            }
            kept.pushed.insert(item.id.clone(), Some(hash));
            kept.inbox.push(item.clone());
            Ok(Pushed::New)
        }))
    }

    fn read_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxItem>> {
        ready(self.with(session, |kept| {
            let mut page = InboxPage::default();
            kept.inbox.iter().all(|item| page.take(item.clone()));
            Ok(page.into_items())
        }))
    }

    fn count_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, u64> {
        ready(self.with(session, |kept| Ok(kept.inbox.len() as u64)))
    }

    fn quarantine<'a>(&'a self, session: &'a SessionId, bytes: &'a [u8]) -> Pending<'a, Hash> {
        ready(self.with(session, |kept| {
            let hash = Hash::of(bytes);
            kept.quarantine.insert(hash, bytes.to_vec());
            Ok(hash)
        }))
    }

    fn read_quarantine<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<Quarantined>> {
        ready(self.with(session, |kept| {
            let quarantine = kept.quarantine.iter();
            Ok(quarantine.map(|(hash, bytes)| Quarantined { hash: *hash, bytes: bytes.clone() }).collect())
        }))
    }

    fn import<'a>(&'a self, session: &'a SessionId, commits: &'a [Vec<u8>]) -> Pending<'a, Head> {
        ready(chain(session, commits).and_then(|(head, opened)| {
            let mut made = Session::new(head, None);
            for (commit, bytes) in opened.iter().zip(commits) {
                made.ids.insert(commit.id, commit.hash);
                made.commits.insert(commit.seq, bytes.clone());
                made.dialect = commit.dialect().or(made.dialect);
                made.pushed.extend(commit.taken().map(|id| (id.clone(), None)));
            }
            self.make(session, made)
        }))
    }

    fn erase<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Erased> {
        let mut sessions = self.lock();
        let erased = match sessions.get(session) {
            Some(Slot::Session(kept)) => Ok(Erased {
                commits: kept.commits.len() as u64,
                bytes: kept.commits.values().map(|commit| commit.len() as u64).sum(),
            }),
            Some(Slot::Erased) => Err(Error::Erased(session.clone())),
            None => Err(Error::NotFound(session.clone())),
        };
        if erased.is_ok() {
            sessions.insert(session.clone(), Slot::Erased);
        }
        ready(erased)
    }
}

fn ready<'a, T: Send + 'a>(result: Result<T, Error>) -> Pending<'a, T> {
    Box::pin(std::future::ready(result))
}
