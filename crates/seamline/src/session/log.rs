//! The log of a session: the only part of a session that talks to its store.
//!
//! It appends commits, settles writes whose acknowledgement was lost, holds the lease, reads commits back and passes the
//! inbox on. It knows nothing of what records mean.

mod lease;
mod reader;

use std::ops::Range;
use std::sync::Arc;

use seamline_store::{
    Acquire, Appended, Commit, CommitFate, CommitId, Damage, Erased, Error, Hash, Head, Holder, InboxDamage, InboxItem,
    Parent, Record, Replay, Replayed, SealKey, Sealed, SessionId, Store, StoredCommit,
};

use super::facts::CompactionFate;
use super::wire::Wire;
use super::{Batch, Clock, LostCall};

pub(super) use lease::{Lease, this_holder};
pub(super) use reader::Reader;

/// The number of times that a commit is sent again when the store does not know whether it is durable.
const UNKNOWN_RETRIES: usize = 3;

/// The approximate number of bytes that are read at a time.
const PAGE_BYTES: usize = 8 * 1024 * 1024;

/// The approximate number of bytes of the first commit of a session. More records go into several commits.
const FIRST_COMMIT_BYTES: usize = 16 * 1024 * 1024;

/// The log of one session, open for writing.
#[derive(Debug)]
pub(super) struct Log {
    lease: Lease,
    /// The epoch of the lease.
    epoch: u64,
    /// The end of the log.
    head: Head,
    clock: Arc<dyn Clock>,
    /// The end of the log when this process opened it.
    opened_at: u64,
    /// A commit that was sent and not acknowledged yet.
    sent: Option<Sent>,
    /// Records that go with the next commit.
    notes: Vec<Record>,
}

/// A commit on its way to the store, and what to do once it is durable.
#[derive(Debug)]
pub(super) struct Sent {
    commit: Arc<Sealed>,
    pub(super) at: u64,
    pub(super) records: Vec<Record>,
    pub(super) lost: Vec<LostCall>,
    pub(super) compaction: CompactionFate,
    /// The wire of the session once it is durable, where it switches.
    pub(super) switched: Option<Box<Wire>>,
    /// The number of times that it was sent.
    times: usize,
}

impl Sent {
    /// The number of its first record.
    pub(super) fn seq(&self) -> u64 {
        self.commit.seq()
    }
}

impl Log {
    /// Creates a session and its log.
    pub(super) async fn create(store: Arc<dyn Store>, id: SessionId, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let mut lease = Lease::new(store, id, this_holder(clock.as_ref()));
        let granted = lease.create().await?;
        Ok(Self::of(lease, &granted, clock, 0))
    }

    /// Acquires the lease of a session. Gives the holder that it was taken from, if there was one.
    pub(super) async fn acquire(
        store: Arc<dyn Store>,
        id: SessionId,
        clock: Arc<dyn Clock>,
        how: Acquire,
    ) -> Result<(Self, Option<Holder>), Error> {
        let mut lease = Lease::new(store, id, this_holder(clock.as_ref()));
        let (granted, before) = lease.acquire(how).await?;
        let opened_at = granted.head.seq;
        Ok((Self::of(lease, &granted, clock, opened_at), before))
    }

    fn of(lease: Lease, granted: &seamline_store::Lease, clock: Arc<dyn Clock>, opened_at: u64) -> Self {
        let seamline_store::Lease { epoch, head } = *granted;
        Self { lease, epoch, head, clock, opened_at, sent: None, notes: Vec::new() }
    }

    pub(super) fn id(&self) -> &SessionId {
        self.lease.id()
    }

    pub(super) fn store(&self) -> &Arc<dyn Store> {
        self.lease.store()
    }

    pub(super) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    pub(super) fn now(&self) -> u64 {
        self.clock.now()
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(super) fn head(&self) -> Head {
        self.head
    }

    pub(super) fn opened_at(&self) -> u64 {
        self.opened_at
    }

    /// This session as the parent of another one that copies no message of it.
    pub(super) fn as_parent(&self, call: Option<seamline_store::CallId>) -> Parent {
        let Head { seq, hash, .. } = self.head();
        Parent { session: self.id().clone(), seq, hash, call, is_degraded: false }
    }

    /// The records that go with the next commit.
    pub(super) fn notes(&self) -> &[Record] {
        &self.notes
    }

    /// Adds a record that goes with the next commit, whenever that is.
    pub(super) fn note(&mut self, record: Record) {
        self.notes.push(record);
    }

    /// Seals records into the next commit. [`Log::settle`] sends it.
    pub(super) fn seal(&mut self, records: Vec<Record>, batch: Batch) -> Result<(), Error> {
        let (at, head, epoch) = (self.now(), self.head(), self.epoch());
        let id = commit_id(self.id(), epoch, head);
        let commit =
            Commit { session: self.id(), epoch, head, id, at, records: &records }.seal_with(self.store().seal_key())?;
        let Batch { records: _, lost, compaction, switched } = batch;
        self.sent = Some(Sent { commit: Arc::new(commit), at, records, lost, compaction, switched, times: 0 });
        Ok(())
    }

    /// The time of the commit that is not sent yet.
    pub(super) fn pending_at(&self) -> Option<u64> {
        self.sent.as_ref().map(|sent| sent.at)
    }

    /// Sends the pending commit until the store has answered, or has said too often that it does not know. Gives the
    /// commit once it is durable.
    pub(super) async fn settle(&mut self) -> Result<Option<Sent>, Error> {
        for retries in 0.. {
            let Some(sent) = &mut self.sent else { break };
            sent.times += 1;
            let (commit, is_first) = (sent.commit.clone(), sent.times == 1);
            match self.lease.store().append(commit).await {
                Ok(Appended::New | Appended::Already) => {
                    let durable = self.sent.take();
                    if let Some(sent) = &durable {
                        self.head = sent.commit.after();
                        self.notes.clear();
                    }
                    return Ok(durable);
                }
                Err(Error::Unknown { .. }) if retries < UNKNOWN_RETRIES => {}
                Err(error) => {
                    if is_certain(&error, is_first) {
                        self.sent = None;
                    }
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    /// Reads the whole log, checks every commit, and folds the intact ones. Commits that the store lost count as damage.
    pub(super) async fn replay(&self) -> Result<Replayed, Error> {
        let mut replay = Replay::with_key(self.id().clone(), self.store().seal_key().cloned());
        let take = |page: Vec<StoredCommit>| page.iter().for_each(|commit| replay.take(commit));
        read_pages(self.store().as_ref(), self.id(), 0..u64::MAX, take).await?;
        let mut replayed = replay.finish(self.head());
        if let Some(error) = replayed.wrong_key() {
            return Err(error);
        }
        let losses = self.store().losses().await?;
        replayed.damages.extend(losses.iter().filter_map(|loss| loss.damage(self.id(), self.head())));
        replayed.newer().map_or(Ok(replayed), Err)
    }

    /// Puts the bytes of damaged commits into quarantine. They are read once more, since they need not all fit into memory.
    pub(super) async fn quarantine_commits(&self, damages: &[&Damage]) -> Result<(), Error> {
        for damage in damages.iter().filter(|damage| damage.bytes.is_some()) {
            let first = damage.commit();
            let commits = self.store().read(self.id(), first.saturating_sub(1), 1).await?;
            if let Some(commit) = commits.iter().find(|commit| commit.seq == first) {
                self.store().quarantine(self.id(), &commit.bytes).await?;
            }
        }
        Ok(())
    }

    /// Puts bytes into quarantine.
    pub(super) async fn quarantine(&self, bytes: &[u8]) -> Result<Hash, Error> {
        self.store().quarantine(self.id(), bytes).await
    }

    /// The first messages of the inbox.
    pub(super) async fn read_inbox(&self) -> Result<Vec<InboxItem>, Error> {
        self.store().read_inbox(self.id()).await
    }

    /// The number of messages in the inbox.
    pub(super) async fn count_inbox(&self) -> Result<u64, Error> {
        self.store().count_inbox(self.id()).await
    }

    /// The damaged messages of the inbox.
    pub(super) async fn check_inbox(&self) -> Result<Vec<InboxDamage>, Error> {
        self.store().check_inbox(self.id()).await
    }

    /// Releases the lease.
    pub(super) async fn release(&mut self) -> Result<(), Error> {
        self.lease.release().await
    }
}

/// Removes everything of a session. Another process that writes it keeps it, unless its lease is taken over.
pub(super) async fn erase(
    store: Arc<dyn Store>,
    id: SessionId,
    clock: &dyn Clock,
    how: Acquire,
) -> Result<Erased, Error> {
    let mut lease = Lease::new(store.clone(), id.clone(), this_holder(clock));
    lease.acquire(how).await?;
    let erased = store.erase(&id).await;
    match &erased {
        Ok(_) => lease.forget(),
        Err(_) => drop(lease.release().await),
    }
    erased
}

/// Creates a session whose records need more than one commit: the store imports all of them or none.
pub(super) async fn import(store: &dyn Store, id: &SessionId, now: u64, records: &[Record]) -> Result<(), Error> {
    let commits = chain(id, now, records, store.seal_key())?;
    store.import(id, &commits).await.map(drop)
}

/// Whether records need more than one commit.
pub(super) fn needs_import(records: &[Record]) -> bool {
    records.iter().map(Record::bytes_about).sum::<usize>() > FIRST_COMMIT_BYTES
}

/// Reads the commits after the start of a range, page by page, until there is none or the end is reached.
async fn read_pages(
    store: &dyn Store,
    id: &SessionId,
    range: Range<u64>,
    mut take: impl FnMut(Vec<StoredCommit>),
) -> Result<(), Error> {
    let mut after = range.start;
    while after < range.end {
        let page = store.read(id, after, PAGE_BYTES).await?;
        let Some(last) = page.last().map(|commit| commit.seq) else { break };
        // A damaged store must not make this loop run forever.
        if last <= after {
            return Err(Error::Damaged(seamline_store::cause::Damaged::Disorder));
        }
        after = last;
        take(page);
    }
    Ok(())
}

/// The commits of a new session, one after the other.
fn chain(id: &SessionId, at: u64, records: &[Record], key: Option<&SealKey>) -> Result<Vec<Vec<u8>>, Error> {
    let (mut commits, mut head, mut rest) = (Vec::new(), Head::START, records);
    while !rest.is_empty() {
        let mut bytes = 0;
        let fitting = rest.iter().take_while(|record| {
            bytes += record.bytes_about();
            bytes <= FIRST_COMMIT_BYTES
        });
        let (records, later) = rest.split_at(fitting.count().max(1));
        let own = commit_id(id, head.epoch, head);
        let commit = Commit { session: id, epoch: head.epoch, head, id: own, at, records }.seal_with(key)?;
        head = commit.after();
        commits.push(commit.bytes().to_vec());
        rest = later;
    }
    Ok(commits)
}

/// An id that only the next commit of this writer can have: no other writer has the epoch, no other commit the place.
fn commit_id(session: &SessionId, epoch: u64, head: Head) -> CommitId {
    let place = [epoch.to_be_bytes(), head.seq.to_be_bytes()].concat();
    let hash = head.hash.then(session.as_str().as_bytes()).then(&place);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_bytes()[..16]);
    CommitId::from_bytes(bytes)
}

/// Whether an error says that a commit is not durable.
fn is_certain(error: &Error, is_first: bool) -> bool {
    match error.commit_fate() {
        CommitFate::NotStored => true,
        CommitFate::NotStoredByThisCall => is_first,
        CommitFate::Unknown => false,
    }
}
