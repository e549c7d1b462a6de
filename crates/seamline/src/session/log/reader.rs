//! Reads a session without its lease.

use std::sync::Arc;

use seamline_store::{Damage, Error, Head, LogLoss, Replay, SessionId, Store, StoredCommit};

use super::read_pages;
use crate::session::Clock;

/// The commits of one session, for reading.
#[derive(Debug)]
pub(in crate::session) struct Reader {
    store: Arc<dyn Store>,
    id: SessionId,
    /// The commits that the store lost before.
    losses: Vec<LogLoss>,
    clock: Arc<dyn Clock>,
}

impl Reader {
    /// Makes a reader, and asks the store which commits it lost.
    pub(in crate::session) async fn open(
        store: Arc<dyn Store>,
        id: SessionId,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let losses = store.losses().await?;
        Ok(Self { store, id, losses, clock })
    }

    pub(in crate::session) fn id(&self) -> &SessionId {
        &self.id
    }

    pub(in crate::session) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The time, in milliseconds since 1970.
    pub(in crate::session) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// The end of the log, as the store knows it now.
    pub(in crate::session) async fn read_head(&self) -> Result<Head, Error> {
        self.store.read_head(&self.id).await
    }

    /// A replay that has read no commit.
    pub(in crate::session) fn new_replay(&self) -> Replay {
        Replay::with_key(self.id.clone(), self.store.seal_key().cloned())
    }

    /// Reads the commits up to an end that a replay has not read yet.
    pub(in crate::session) async fn read_up_to(&self, head: Head, replay: &mut Replay) -> Result<(), Error> {
        let range = replay.met()..head.seq;
        let take = |page: Vec<StoredCommit>| page.iter().for_each(|commit| replay.take(commit));
        read_pages(self.store.as_ref(), &self.id, range, take).await?;
        replay.wrong_key().map_or(Ok(()), Err)
    }

    /// The damage that lost commits are, if the session ends at `head`.
    pub(in crate::session) fn lost(&self, head: Head) -> impl Iterator<Item = Damage> {
        self.losses.iter().filter_map(move |loss| loss.damage(&self.id, head))
    }
}
