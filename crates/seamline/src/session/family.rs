//! Sessions that come from others, and those who only watch.

use std::sync::Arc;

use seamline_store::{Entry, Head, MessageRecord, Parent, Record, Replay, SessionId, State, Store};

use super::opening::{read_on, wire_of};
use super::recovery::unresolved;
use super::repairs::stored_options;
use super::{Health, IntegrityConfig, Session, SessionError, SessionOptions, Unresolved};
use crate::{Options, Policy};

impl Session {
    /// Makes a session with the same messages, which goes its own way from here.
    ///
    /// # Errors
    /// When there is one of that name, or the store could not keep it.
    pub async fn fork(&self, id: SessionId) -> Result<Self, SessionError> {
        self.related(id, None, copies(self.entries())).await
    }

    /// Makes an empty session for a sub-agent that works on a call of this one.
    ///
    /// # Errors
    /// When there is one of that name, or the store could not keep it.
    pub async fn child(&self, id: SessionId, call: &str) -> Result<Self, SessionError> {
        self.related(id, Some(call.to_owned()), Vec::new()).await
    }

    async fn related(&self, id: SessionId, call: Option<String>, records: Vec<Record>) -> Result<Self, SessionError> {
        let Head { seq, hash, .. } = self.lease.head;
        let parent = Parent { session: self.id.clone(), seq, hash, call };
        let options = SessionOptions {
            dialect: self.wire.dialect.to_owned(),
            provider: self.wire.options.provider.clone(),
            title: None,
            policy: self.wire.options.policy.clone(),
            config: self.config.clone(),
            clock: self.clock.clone(),
        };
        Self::begin(self.store.clone(), id, options, Some(parent), records).await
    }
}

/// Somebody who watches a session that another process writes.
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
    store: Arc<dyn Store>,
    id: SessionId,
    head: Head,
    replay: Replay,
    health: Health,
}

impl Follower {
    /// Reads a session without writing it.
    ///
    /// # Errors
    /// When there is none of that name, or the store cannot be read.
    pub async fn open(store: Arc<dyn Store>, id: SessionId) -> Result<Self, SessionError> {
        let (replay, health) = (Replay::new(id.clone()), Health::Whole);
        let mut follower = Self { store, id, head: Head { epoch: 0, ..Head::START }, replay, health };
        follower.refresh().await?;
        Ok(follower)
    }

    /// Reads what came since, and says whether anything did.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn refresh(&mut self) -> Result<bool, SessionError> {
        let mut head = self.store.head(&self.id).await?;
        if (head.seq, head.hash) == (self.head.seq, self.head.hash) {
            return Ok(false);
        }
        if head.seq < self.head.seq {
            // It is an earlier state of the store, such as one that was saved: what was read is not in it.
            self.replay = Replay::new(self.id.clone());
        }
        let range = self.replay.met()..head.seq;
        let replay = &mut self.replay;
        read_on(self.store.as_ref(), &self.id, range, |page| page.iter().for_each(|commit| replay.take(commit)))
            .await?;
        if let Some(end) = self.replay.end().filter(|end| end.seq > head.seq) {
            // Somebody wrote meanwhile, unless the store still says that the session ends before.
            let now = self.store.head(&self.id).await?;
            head = if now.seq > head.seq { Head { epoch: now.epoch, ..end } } else { now };
        }
        self.head = head;
        let damages = self.replay.damages(head);
        self.health = if damages.is_empty() { Health::Whole } else { Health::Degraded(damages) };
        Ok(true)
    }

    /// Its name.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// What the records make of it.
    pub fn state(&self) -> &State {
        self.replay.state()
    }

    /// How its messages are looked at under a policy.
    ///
    /// # Errors
    /// When its beginning, which names its dialect, is lost and nothing else tells it.
    pub fn options(&self, policy: Policy) -> Result<Options, SessionError> {
        Ok(wire_of(self.state(), None, policy)?.options)
    }

    /// How [`Session::repair`] looks at them.
    ///
    /// # Errors
    /// When its beginning, which names its dialect, is lost and nothing else tells it.
    pub fn repair_options(&self, policy: Policy, config: &IntegrityConfig) -> Result<Options, SessionError> {
        Ok(stored_options(&self.options(policy)?, config.persist_repairs))
    }

    /// A body with its messages as they are kept, behind what the request says beside them, a JSON object.
    ///
    /// # Errors
    /// When the envelope is no JSON object, or its beginning, which names its dialect, is lost.
    pub fn body(&self, envelope: &str) -> Result<Vec<u8>, SessionError> {
        let wire = wire_of(self.state(), None, Policy::default())?;
        wire.body(envelope, self.state().view.entries().iter().map(|entry| &entry.message))
    }

    /// The calls of cycles that are not whole.
    pub fn unresolved(&self) -> Vec<Unresolved> {
        unresolved(self.state())
    }

    /// Makes a session with the same messages, which goes its own way from here. Whoever writes this one is not
    /// disturbed.
    ///
    /// # Errors
    /// When there is one of that name, or the store could not keep it.
    pub async fn fork(&self, id: SessionId) -> Result<Session, SessionError> {
        self.fork_into(self.store.clone(), id).await
    }

    /// As [`Self::fork`], in another store.
    ///
    /// # Errors
    /// When there is one of that name, or the store could not keep it.
    pub async fn fork_into(&self, store: Arc<dyn Store>, id: SessionId) -> Result<Session, SessionError> {
        let Options { dialect, provider, policy, .. } = self.options(Policy::default())?;
        let Head { seq, hash, .. } = self.head;
        let parent = Parent { session: self.id.clone(), seq, hash, call: None };
        let dialect = dialect.unwrap_or_default();
        let options = SessionOptions { dialect, provider, policy, ..SessionOptions::default() };
        Session::begin(store, id, options, Some(parent), copies(self.state().view.entries())).await
    }

    /// Whether everything that was kept could be read.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Its end.
    pub fn head(&self) -> Head {
        self.head
    }
}

/// Records that say what was said elsewhere.
fn copies(entries: &[Entry]) -> Vec<Record> {
    let copy = |entry: &Entry| MessageRecord { message: entry.message.clone(), origin: entry.origin };
    entries.iter().map(|entry| Record::Message(copy(entry))).collect()
}
