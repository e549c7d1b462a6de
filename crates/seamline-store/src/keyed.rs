//! A store whose sessions are sealed with a key.

use std::sync::Arc;

use crate::chain::chain_with;
use crate::commit::Sealed;
use crate::error::Error;
use crate::hash::Hash;
use crate::id::SessionId;
use crate::inbox_damage::InboxDamage;
use crate::loss::LogLoss;
use crate::seal::SealKey;
use crate::store::{
    Acquire, Appended, Erased, Head, Holder, InboxItem, Lease, Pending, Pushed, Quarantined, SessionInfo, Store,
    StoredCommit,
};

/// A store with a [`SealKey`]: sessions seal new commits with it. Commits that were sealed without a key stay readable.
#[derive(Debug)]
pub struct KeyedStore {
    store: Arc<dyn Store>,
    key: SealKey,
}

impl KeyedStore {
    /// Adds a key to a store.
    pub fn new(store: Arc<dyn Store>, key: SealKey) -> Self {
        Self { store, key }
    }
}

impl Store for KeyedStore {
    fn seal_key(&self) -> Option<&SealKey> {
        Some(&self.key)
    }

    fn create<'a>(&'a self, session: &'a SessionId, holder: &'a Holder) -> Pending<'a, Lease> {
        self.store.create(session, holder)
    }

    fn acquire<'a>(&'a self, session: &'a SessionId, holder: &'a Holder, how: Acquire) -> Pending<'a, Lease> {
        self.store.acquire(session, holder, how)
    }

    fn release<'a>(&'a self, session: &'a SessionId, epoch: u64) -> Pending<'a, ()> {
        self.store.release(session, epoch)
    }

    fn append(&self, commit: Arc<Sealed>) -> Pending<'_, Appended> {
        self.store.append(commit)
    }

    fn read_head<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Head> {
        self.store.read_head(session)
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: u64, bytes_max: usize) -> Pending<'a, Vec<StoredCommit>> {
        self.store.read(session, after, bytes_max)
    }

    fn list_sessions<'a>(&'a self, after: Option<&'a SessionId>, limit: usize) -> Pending<'a, Vec<SessionInfo>> {
        self.store.list_sessions(after, limit)
    }

    fn push<'a>(&'a self, session: &'a SessionId, item: &'a InboxItem) -> Pending<'a, Pushed> {
        self.store.push(session, item)
    }

    fn read_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxItem>> {
        self.store.read_inbox(session)
    }

    fn count_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, u64> {
        self.store.count_inbox(session)
    }

    fn check_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxDamage>> {
        self.store.check_inbox(session)
    }

    fn quarantine<'a>(&'a self, session: &'a SessionId, bytes: &'a [u8]) -> Pending<'a, Hash> {
        self.store.quarantine(session, bytes)
    }

    fn read_quarantine<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<Quarantined>> {
        self.store.read_quarantine(session)
    }

    fn losses(&self) -> Pending<'_, Vec<LogLoss>> {
        self.store.losses()
    }

    fn import<'a>(&'a self, session: &'a SessionId, commits: &'a [Vec<u8>]) -> Pending<'a, Head> {
        // The store below cannot check the seals.
        match chain_with(session, commits, Some(&self.key)) {
            Ok(_) => self.store.import(session, commits),
            Err(error) => Box::pin(std::future::ready(Err::<Head, Error>(error))),
        }
    }

    fn erase<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Erased> {
        self.store.erase(session)
    }
}
