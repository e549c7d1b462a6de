//! A conversation that survives its process.
//!
//! A [`Session`] keeps messages byte for byte in a [store](crate::store), makes requests that the provider accepts, rolls
//! back to [checkpoints](Session::create_checkpoint), runs [tool calls](Session::execute_tool_cycle) so that a cycle is in the
//! view as a whole or not at all, and knows after a crash which calls never ran, which finished, and which have an unknown
//! outcome.
//!
//! `docs/sessions.md` describes all of it. Inside, `log` does all I/O, every other module plans records as pure functions
//! of the facts, and [`Session`] calls a planner and writes its batch.
//!
//! ```
//! use std::sync::Arc;
//! use seamline::session::{Session, SessionOptions};
//! use seamline::store::MemoryStore;
//!
//! # futures_executor::block_on(async {
//! let store = Arc::new(MemoryStore::new());
//! let options = SessionOptions { dialect: Some("openai_chat".to_owned()), ..SessionOptions::default() };
//! let mut session = Session::create(store, "s-1".parse()?, options).await?;
//! session.append(r#"{"role":"user","content":"hello"}"#).await?;
//!
//! let request = session.request(r#"{"model":"gpt-5"}"#)?;
//! assert_eq!(request.body, br#"{"model":"gpt-5","messages":[{"role":"user","content":"hello"}]}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

// A new kind of record, damage or error must not fall into an arm that was written before it.
#![warn(clippy::wildcard_enum_match_arm)]

mod checkpoint;
mod clock;
mod compact;
mod config;
mod cycle;
mod error;
mod facts;
mod host;
mod log;
mod open;
mod readdress;
mod recorded;
mod recover;
mod repair;
mod request;
mod wire;

use std::borrow::Cow;

use crate::Policy;
use crate::stream::StreamOptions;
use seamline_store::{Entry, Record, SessionId, State};

pub use checkpoint::{CheckpointInfo, ResetOptions, ResetResult, RollbackResult};
pub use clock::{Clock, SystemClock};
pub use compact::Compacted;
pub use config::{CorruptCheckpoint, Durability, LastResort, OnFailure, PersistRepairs, SessionPolicy, UnknownOutcome};
pub use cycle::{
    CycleOutcome, ExecutorFailure, Running, StopCause, ToolCycleResult, ToolExecutor, ToolOutput, Undoing,
};
pub use error::{Refusal, SessionError};
pub use host::{
    AgentEnd, AgentStart, ErrorRecovery, LostCall, RecoveryAction, RepairContext, SessionStart, ToolStart, TurnEnd,
};
pub use open::{Follower, Health, OpenOptions, SessionOptions};
pub use recover::{Recovered, ToolCallRef, Truth, Unresolved};
pub use repair::{RepairResult, ValidationResult};
pub use request::Request;
pub use wire::ToolCall;

pub use seamline_dialects::NoMessage;

use facts::{Batch, CompactionFate, Facts, Work};
use log::{Log, Sent};
use readdress::StoredIds;
use request::Reading;
use wire::Wire;

/// A durable conversation, open for writing.
///
/// [Close](Session::close) it when you are done. A session that is dropped instead, for example by an early `?`, is
/// abandoned: the next [`open`](Session::open) in this process takes it over at once, and the store releases it as soon as
/// it can.
///
/// ```
/// use std::sync::Arc;
/// use seamline::session::{OpenOptions, Session, SessionOptions};
/// use seamline::store::MemoryStore;
///
/// # futures_executor::block_on(async {
/// let store = Arc::new(MemoryStore::new());
/// let mut session = Session::create(store.clone(), "s-1".parse()?, SessionOptions::default()).await?;
/// session.append(r#"{"role":"user","content":"hello"}"#).await?;
/// session.close().await?;
///
/// let session = Session::open(store, "s-1".parse()?, OpenOptions::default()).await?;
/// assert_eq!(session.messages().next(), Some(r#"{"role":"user","content":"hello"}"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Session {
    /// The durable part: the lease and the commits.
    log: Log,
    /// The fold over all acknowledged records.
    state: State,
    /// The dialect and the policy.
    wire: Wire,
    /// The health of the log when it was opened.
    health: Health,
    /// The work that lives in this process only.
    work: Work,
    /// The reading of the last check, for the next one.
    reading: Reading,
}

impl Session {
    /// The name of the session.
    pub fn id(&self) -> &SessionId {
        self.log.id()
    }

    /// The dialect of new messages and of requests. Messages from before a [switch](Session::switch_provider) keep theirs.
    pub fn dialect(&self) -> &'static str {
        self.wire.dialect
    }

    /// The fold over all acknowledged records.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The policy of the session. The session stores it, and the next opening uses it.
    pub fn policy(&self) -> &Policy {
        &self.wire.options.policy
    }

    /// The policy with the overrides for the provider of the session: the one that it names, else the usual one of its
    /// dialect. Build the guards of its turns from it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use seamline::Policy;
    /// use seamline::guards::{Breaker, Retry};
    /// use seamline::session::{Session, SessionOptions};
    /// use seamline::store::MemoryStore;
    ///
    /// # futures_executor::block_on(async {
    /// let policy = Policy::from_toml("preset = 'kilroy'\n[provider.anthropic]\nretries_max = 5")?;
    /// let options = SessionOptions { policy, ..SessionOptions::default() };
    /// let session = Session::create(Arc::new(MemoryStore::new()), "s-1".parse()?, options).await?;
    /// let guard = session.effective_policy().guard;
    /// let (retry, breaker) = (Retry::new(guard.retry), Breaker::new(guard.breaker));
    /// assert_eq!((guard.retry.retries_max, guard.breaker.ends_turn), (5, true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn effective_policy(&self) -> Cow<'_, Policy> {
        self.wire.policy()
    }

    /// The options for the streamed responses of this session: its dialect, its provider and its policy.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use seamline::session::{Session, SessionOptions};
    /// use seamline::store::MemoryStore;
    /// use seamline::stream::ResponseStream;
    ///
    /// # futures_executor::block_on(async {
    /// let session = Session::create(Arc::new(MemoryStore::new()), "s-1".parse()?, SessionOptions::default()).await?;
    /// let options = session.stream_options();
    /// assert_eq!(options.dialect.as_deref(), Some(session.dialect()));
    /// let stream = ResponseStream::new(&options)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn stream_options(&self) -> StreamOptions {
        StreamOptions {
            dialect: Some(self.dialect().to_owned()),
            provider: self.wire.options.provider.clone(),
            framing: None,
            policy: self.effective_policy().into_owned(),
        }
    }

    /// The health of the log when it was opened.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// The epoch of its lease. The next writer gets a later one, and this writer is fenced.
    pub fn epoch(&self) -> u64 {
        self.log.epoch()
    }

    /// The messages of the view, byte for byte as they came. Open cycles are not among them.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.entries().iter().map(|entry| entry.message.as_str())
    }

    /// The messages of the view, with their origins.
    pub fn entries(&self) -> &[Entry] {
        self.state.view.entries()
    }

    /// Appends a message, byte for byte. A message that comes while the session is compacted is after the summary, and one
    /// that comes while calls run is after their results once they are there.
    ///
    /// Under [`id_mode`](crate::policy::IdMode) `canonical` the ids of calls and results become ids of the session
    /// (`hist_tool_…`), and each request has ids of its provider instead.
    ///
    /// # Errors
    /// When it is not JSON or not a message, or the store failed, with [`Fenced`](seamline_store::Error::Fenced) where
    /// another process has taken the session over. A message that does not fit the conversation is still kept:
    /// [`Session::validate`] reports it.
    pub async fn append(&mut self, message: &str) -> Result<(), SessionError> {
        self.append_all(&[message]).await
    }

    /// Appends messages, all or none.
    ///
    /// # Errors
    /// When one is not JSON or not a message, or the store failed.
    pub async fn append_all(&mut self, messages: &[&str]) -> Result<(), SessionError> {
        self.settle().await?;
        let messages = self.wire.parse_messages(messages)?;
        let stored = if self.readdresses() {
            self.work.addresses.find(&self.wire, self.state.view.entries(), &messages)?
        } else {
            StoredIds::default()
        };
        let batch = self.facts().plan_messages(&self.wire, messages, &stored)?;
        self.write(batch).await
    }

    /// Appends a message of another dialect, as [`Session::append`] does. `name` is the name of the dialect, or of a provider that
    /// serves it.
    ///
    /// # Errors
    /// When there is no provider and no dialect of that name, the value is not a message, or the store failed.
    pub async fn append_as(&mut self, name: &str, message: &str) -> Result<(), SessionError> {
        self.settle().await?;
        let wire = self.wire.named(name)?;
        let messages = wire.parse_messages(&[message])?;
        let stored = if self.readdresses() {
            self.work.addresses.find(&wire, self.state.view.entries(), &messages)?
        } else {
            StoredIds::default()
        };
        let batch = self.facts().plan_messages(&wire, messages, &stored)?;
        self.write(batch).await
    }

    /// Whether the host may name calls by ids that differ from the stored ones, so that the session replaces them. Only after
    /// a switch of the provider do calls have other ids in requests.
    fn readdresses(&self) -> bool {
        self.state.switch.is_some() && self.wire.config().enabled
    }

    /// Checks that [`Session::append_all`] would accept these messages.
    ///
    /// # Errors
    /// When one is not JSON or not a message.
    pub fn check_messages(&self, messages: &[&str]) -> Result<(), SessionError> {
        self.wire.parse_messages(messages).map(drop)
    }

    /// Closes the session and releases its lease. Open cycles stay open for the next writer. The lease is released even
    /// where the last write failed, and where the caller does not wait for this.
    ///
    /// # Errors
    /// When the last write failed, or the store could not release the lease.
    pub async fn close(mut self) -> Result<(), SessionError> {
        let written = self.write_notes().await;
        let released = self.log.release().await;
        written.and(released.map_err(SessionError::from))
    }

    /// Writes records that wait for the next commit.
    async fn write_notes(&mut self) -> Result<(), SessionError> {
        self.settle().await?;
        if self.log.notes().is_empty() { Ok(()) } else { self.commit_batch(Batch::default()).await }
    }

    /// Settles earlier writes, then makes a batch durable and applies it: the one way to write.
    ///
    /// A caller that drops this future leaves open whether the batch is durable; the next method settles that first.
    async fn write(&mut self, batch: Batch) -> Result<(), SessionError> {
        self.settle().await?;
        if batch.records.is_empty() { Ok(()) } else { self.commit_batch(batch).await }
    }

    /// Writes a batch that only makes checkpoints. Where they need not wait for the disk, the next write makes them
    /// durable, before anything else.
    async fn write_checkpoint(&mut self, batch: Batch) -> Result<(), SessionError> {
        match self.wire.config().durability {
            Durability::Sync => self.write(batch).await,
            Durability::Async => {
                self.settle().await?;
                self.seal(batch)
            }
        }
    }

    async fn commit_batch(&mut self, batch: Batch) -> Result<(), SessionError> {
        self.seal(batch)?;
        self.settle().await
    }

    /// Seals a batch into the next commit. [`Session::settle`] sends it.
    fn seal(&mut self, mut batch: Batch) -> Result<(), SessionError> {
        let mut records: Vec<Record> = self.log.notes().to_vec();
        records.append(&mut batch.records);
        self.state.name(&mut records);
        let reorder = self.facts().plan_reorder(&records);
        records.extend(reorder);
        // A switch that cannot be made is refused before it is durable.
        let switch = records.iter().rev().find_map(Record::as_switch);
        batch.switched = switch.map(|switch| self.wire.switched(switch).map(Box::new)).transpose()?;
        Ok(self.log.seal(records, batch)?)
    }

    /// Settles earlier writes: finds out whether a commit is durable whose acknowledgement was lost, because the future was
    /// dropped or ended with [`Error::Unknown`](seamline_store::Error). The log sends the same commit again, and a store
    /// takes it once. Every method that writes does this first.
    ///
    /// Call it before you repeat a request that you did not wait for: it may be durable, and [`Session::messages`] shows it
    /// only then. A message that is appended again without looking may be there twice.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use seamline::session::{Session, SessionOptions};
    /// use seamline::store::MemoryStore;
    ///
    /// # futures_executor::block_on(async {
    /// let store = Arc::new(MemoryStore::new());
    /// let mut session = Session::create(store, "s-1".parse()?, SessionOptions::default()).await?;
    /// let message = r#"{"role":"user","content":"hello"}"#;
    /// drop(session.append(message)); // a time limit around it ran out
    /// session.settle().await?;
    /// if session.messages().last() != Some(message) {
    ///     session.append(message).await?;
    /// }
    /// assert_eq!(session.messages().count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// When the store still does not know.
    pub async fn settle(&mut self) -> Result<(), SessionError> {
        if let Some(sent) = self.log.settle().await? {
            self.apply(sent);
        }
        Ok(())
    }

    /// Applies acknowledged records to the in-memory state.
    fn apply(&mut self, sent: Sent) {
        for (seq, record) in (sent.seq()..).zip(&sent.records) {
            crate::log::record_session(self.log.id(), record);
            self.work.note(&self.state, seq, record);
            self.state.apply(seq, sent.at, record);
        }
        if let Some(wire) = sent.switched {
            self.wire = *wire;
        }
        self.wire.options.policy.reject(&self.state.rejected);
        if self.state.cycles.is_empty() {
            self.work.ended.clear();
        }
        self.work.context.lose(sent.lost);
        if sent.compaction == CompactionFate::Ends {
            self.work.compaction = None;
            self.work.interrupted = None;
        }
    }

    /// The input of planners.
    fn facts(&self) -> Facts<'_> {
        Facts {
            id: self.id(),
            state: &self.state,
            wire: &self.wire,
            work: &self.work,
            next: self.log.head().seq + 1,
            now: self.log.now(),
        }
    }
}

/// The examples of the page about sessions must run.
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../../../docs/sessions.md")]
struct Page;
