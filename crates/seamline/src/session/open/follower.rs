//! Read-only followers.

use std::ops::Range;
use std::sync::Arc;

use seamline_store::{DamageKind, Entry, Head, Parent, Replay, SessionId, State, Store};

use super::copies::plan_copies;
use super::{first_provider, stored_policy, wire_of};
use crate::outline::OutlineMessage;
use crate::session::facts::{Facts, Work};
use crate::session::log::Reader;
use crate::session::recover::truth::unresolved;
use crate::session::repair::Frontier;
use crate::session::wire::Wire;
use crate::session::{
    Clock, Health, RepairResult, Request, Session, SessionError, SessionOptions, SystemClock, Unresolved,
};
use crate::{Options, Policy};

/// A read-only follower of a session that another process writes.
///
/// ```
/// use std::sync::Arc;
/// use seamline::session::{Follower, Session, SessionOptions};
/// use seamline::store::MemoryStore;
///
/// # futures_executor::block_on(async {
/// let store = Arc::new(MemoryStore::new());
/// let mut session = Session::create(store.clone(), "s-1".parse()?, SessionOptions::default()).await?;
/// let mut follower = Follower::open(store, "s-1".parse()?).await?;
/// session.append(r#"{"role":"user","content":"hello"}"#).await?;
///
/// assert!(follower.refresh().await?);
/// assert_eq!(follower.state().view.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Follower {
    reader: Reader,
    head: Head,
    replay: Replay,
    health: Health,
}

impl Follower {
    /// Opens a session for reading.
    ///
    /// Damage is not an error: [`Follower::health`] reports it, and the intact commits are there.
    ///
    /// # Errors
    /// When there is no such session, or the store failed.
    pub async fn open(store: Arc<dyn Store>, id: SessionId) -> Result<Self, SessionError> {
        Self::open_with_clock(store, id, Arc::new(SystemClock)).await
    }

    /// Opens a session for reading, as [`Follower::open`] does, with the clock that gives the time of what it plans.
    ///
    /// # Errors
    /// As for [`Follower::open`].
    pub async fn open_with_clock(
        store: Arc<dyn Store>,
        id: SessionId,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SessionError> {
        let reader = Reader::open(store, id, clock).await?;
        let (replay, head) = (reader.new_replay(), Head { epoch: 0, ..Head::START });
        let mut follower = Self { reader, head, replay, health: Health::Whole };
        follower.refresh().await?;
        follower.health = follower.current_health();
        Ok(follower)
    }

    /// Reads new commits, and says whether there were any. Where the store was restored to an earlier state, the follower
    /// reads all commits again.
    ///
    /// # Errors
    /// When the store failed.
    pub async fn refresh(&mut self) -> Result<bool, SessionError> {
        let mut head = self.reader.read_head().await?;
        if (head.seq, head.hash) == (self.head.seq, self.head.hash) {
            return Ok(false);
        }
        if head.seq <= self.head.seq {
            // The store was restored from a backup that does not have all commits that were read.
            self.replay = self.reader.new_replay();
        }
        let known = self.broken_commits(self.head);
        self.reader.read_up_to(head, &mut self.replay).await?;
        if self.head.seq > 0 && self.broken_commits(head) > known {
            // New commits may not follow the ones that were read: a restored store can have grown since.
            self.replay = self.reader.new_replay();
            self.reader.read_up_to(head, &mut self.replay).await?;
        }
        if let Some(end) = self.replay.end().filter(|end| end.seq > head.seq) {
            // Another process wrote meanwhile, unless the store still says that the session ends before.
            let now = self.reader.read_head().await?;
            head = if now.seq > head.seq { Head { epoch: now.epoch, ..end } } else { now };
        }
        self.head = head;
        self.health = self.current_health();
        Ok(true)
    }

    fn current_health(&self) -> Health {
        Health::of(self.replay.damages(self.head).into_iter().chain(self.reader.lost(self.head)).collect())
    }

    /// The number of damages, apart from an end that the store may not report yet.
    fn broken_commits(&self, head: Head) -> usize {
        self.replay.damages(head).iter().filter(|damage| damage.kind != DamageKind::Head).count()
    }

    /// The name of the session.
    pub fn id(&self) -> &SessionId {
        self.reader.id()
    }

    /// The fold over all intact commits.
    pub fn state(&self) -> &State {
        self.replay.state()
    }

    /// Reads the policy that the session stores. A session that stores none has the default.
    ///
    /// # Errors
    /// When this version cannot read the policy. [`Session::open`] uses the default then.
    pub fn policy(&self) -> Result<Policy, SessionError> {
        stored_policy(self.state())
    }

    /// The options for a check of its messages under a policy.
    ///
    /// # Errors
    /// When its first record, which names the dialect, is damaged, and the messages could be of several dialects.
    pub fn options(&self, policy: Policy) -> Result<Options, SessionError> {
        Ok(wire_of(self.state(), policy)?.options)
    }

    /// Plans the repair of [`Session::repair_with`], and stores nothing.
    ///
    /// # Errors
    /// When tools are running ([`InFlight`](seamline_store::Rejected::InFlight)), or the conversation cannot be read.
    pub fn preview_repair(&self, policy: Policy) -> Result<RepairResult, SessionError> {
        let (wire, work) = (wire_of(self.state(), policy)?, Work::default());
        let (next, now) = (self.head.seq + 1, self.reader.now());
        let facts = Facts { id: self.id(), state: self.state(), wire: &wire, work: &work, next, now };
        Ok(facts.plan_repair(&wire.options, wire.config().persist_repairs, Frontier::Open)?.0)
    }

    /// Writes a request body: the members of the envelope, a JSON object, then the messages as they are stored. Messages
    /// of other dialects than the current one are rendered in it.
    ///
    /// # Errors
    /// When the envelope is not a JSON object, or its first record, which names the dialect, is damaged.
    pub fn body(&self, envelope: &str) -> Result<Vec<u8>, SessionError> {
        self.body_by(&wire_of(self.state(), self.policy_to_use())?, envelope)
    }

    /// Makes the body that the provider gets, as [`Session::request`] does.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use seamline::session::{Follower, Session, SessionOptions};
    /// use seamline::store::MemoryStore;
    ///
    /// # futures_executor::block_on(async {
    /// let store = Arc::new(MemoryStore::new());
    /// let mut session = Session::create(store.clone(), "s-1".parse()?, SessionOptions::default()).await?;
    /// session.append(r#"{"role":"user","content":"hello"}"#).await?;
    ///
    /// let follower = Follower::open(store, "s-1".parse()?).await?;
    /// let envelope = r#"{"model":"claude-sonnet-4-5","max_tokens":64}"#;
    /// assert_eq!(follower.request(envelope)?, session.request(envelope)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// As for [`Session::request`].
    pub fn request(&self, envelope: &str) -> Result<Request, SessionError> {
        self.request_with(envelope, self.policy_to_use())
    }

    /// As [`Self::request`], with another policy than the stored one.
    ///
    /// # Errors
    /// As for [`Session::request`].
    pub fn request_with(&self, envelope: &str, policy: Policy) -> Result<Request, SessionError> {
        Request::of_entries(&wire_of(self.state(), policy)?, self.state().view.entries(), envelope)
    }

    /// Makes the body for another provider or dialect under a policy, as [`Session::request_for`] does.
    ///
    /// # Errors
    /// As for [`Session::request_for`].
    pub fn request_for(&self, name: &str, envelope: &str, policy: Policy) -> Result<Request, SessionError> {
        let wire = wire_of(self.state(), policy)?.named(name)?;
        Request::of_entries(&wire, self.state().view.entries(), envelope)
    }

    /// The stored policy, or the default where this version cannot read it: [`Session::open`] does the same.
    fn policy_to_use(&self) -> Policy {
        self.policy().unwrap_or_default()
    }

    fn body_by(&self, wire: &Wire, envelope: &str) -> Result<Vec<u8>, SessionError> {
        let (entries, envelope) = wire.rendered(self.state().view.entries())?.for_envelope(envelope);
        wire.body(&envelope, entries.iter().map(|entry| &entry.message))
    }

    /// Outlines messages of the view, each in its own dialect.
    ///
    /// # Errors
    /// When the messages cannot be read, or the first record, which names the dialect, is damaged.
    pub fn outline(&self, range: Range<usize>) -> Result<Vec<OutlineMessage>, SessionError> {
        let wire = wire_of(self.state(), self.policy_to_use())?;
        let entries: Vec<&Entry> = self.state().view.entries().iter().collect();
        let outline = wire.outline_each(&entries)?.into_iter();
        Ok(outline.skip(range.start).take(range.len()).collect())
    }

    /// Lists the calls of open cycles.
    pub fn unresolved(&self) -> Vec<Unresolved> {
        unresolved(self.state())
    }

    /// Makes a session with the same messages and the same policy. The writer of this one is not disturbed.
    ///
    /// # Errors
    /// When there is a session of that name, or the store failed.
    pub async fn fork(&self, id: SessionId) -> Result<Session, SessionError> {
        self.fork_into(self.reader.store().clone(), id).await
    }

    /// As [`Self::fork`], in another store.
    ///
    /// # Errors
    /// When there is a session of that name, or the store failed.
    pub async fn fork_into(&self, store: Arc<dyn Store>, id: SessionId) -> Result<Session, SessionError> {
        let wire = wire_of(self.state(), self.policy_to_use())?;
        let Head { seq, hash, .. } = self.head;
        let is_degraded = self.health().has_losses();
        let parent = Parent { session: self.id().clone(), seq, hash, call: None, is_degraded };
        let (dialect, provider) = (Some(wire.first_dialect.to_owned()), first_provider(self.state(), &wire));
        let policy = wire.options.policy.clone();
        let options = SessionOptions { dialect, provider, policy, ..SessionOptions::default() };
        let copies = plan_copies(&wire, self.state())?;
        Box::pin(Session::begin(store, id, options, Some(parent), copies)).await
    }

    /// The health of the log.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// The end of the log.
    pub fn head(&self) -> Head {
        self.head
    }
}
