//! A conversation that survives its process.
//!
//! A [`Session`] keeps messages as their exact bytes in a [store](crate::store), gives what a provider takes, comes
//! back to [checkpoints](Session::checkpoint), runs [tool calls](Session::execute_tool_cycle) so that all of a cycle is
//! there or nothing, and says after a crash which calls never ran, which finished, and of which nobody knows.
//!
//! The page `docs/sessions.md` tells the whole story.
//!
//! ```
//! use std::sync::Arc;
//! use seamline::session::{Session, SessionOptions};
//! use seamline::store::MemoryStore;
//!
//! # futures_executor::block_on(async {
//! let store = Arc::new(MemoryStore::new());
//! let options = SessionOptions { dialect: "openai_chat".to_owned(), ..SessionOptions::default() };
//! let mut session = Session::create(store, "s-1".parse()?, options).await?;
//! session.append(r#"{"role":"user","content":"hello"}"#).await?;
//!
//! let request = session.request(r#"{"model":"gpt-5"}"#)?;
//! assert_eq!(request.body, br#"{"model":"gpt-5","messages":[{"role":"user","content":"hello"}]}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod checkpoints;
mod clock;
mod closing;
mod compaction;
mod config;
mod context;
mod cuts;
mod cycle;
mod error;
mod errors;
mod executor;
mod family;
mod holding;
mod hooks;
mod identified;
mod inbox;
mod late;
mod opening;
mod order;
mod race;
mod reading;
mod recovery;
mod repairs;
mod request;
mod reset;
mod runnable;
mod running;
mod texts;
mod undoing;
mod validation;
mod wire;

use std::sync::Arc;

use seamline_store::{
    Appended, Begin, Commit, CommitId, Entry, Hash, Head, Holder, Incident, IncidentKind, IncidentSeverity, Lease,
    MessageRecord, Origin, Parent, Raw, Record, Sealed, SessionId, State, Store,
};

pub use checkpoints::{Checkpoint, RollbackResult};
pub use clock::{Clock, SystemClock};
pub use compaction::Compacted;
pub use config::{LastResort, OnFailure, PersistRepairs, SessionPolicy, UnknownOutcome};

/// Another name of [`SessionPolicy`].
///
/// ```
/// assert_eq!(seamline::session::IntegrityConfig::default(), seamline::session::SessionPolicy::default());
/// ```
pub type IntegrityConfig = SessionPolicy;
pub use context::{LostCall, RepairContext};
pub use cycle::{CycleOutcome, ToolCycleResult};
pub use error::SessionError;
pub use errors::{ErrorRecovery, RecoveryAction};
pub use executor::{ExecutorFailure, Running, Stop, ToolExecutor, ToolOutput, Undoing};
pub use family::Follower;
pub use hooks::{AgentEnd, AgentStart, SessionStart, ToolStart, TurnEnd};
pub use late::ToolCallRef;
pub use opening::{Health, OpenOptions, SessionOptions};
pub use recovery::{Recovered, Truth, Unresolved};
pub use repairs::RepairResult;
pub use request::Request;
pub use reset::{ResetOptions, ResetResult};
pub use validation::ValidationResult;
pub use wire::ToolCall;

pub use seamline_dialects::NoMessage;

use compaction::Compaction;
use holding::Hold;
use order::Ended;
use reading::Reading;
use wire::Wire;

/// How often a commit is sent again when nobody knows whether it was taken.
const UNKNOWN_RETRIES: usize = 3;

/// A conversation that survives its process, open for writing.
///
/// Whoever is done with it [closes](Session::close) it. One that is only dropped stays held by this process: opening it
/// again is refused as busy until the process is gone, unless it is [taken over](OpenOptions::take_over).
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
    store: Arc<dyn Store>,
    id: SessionId,
    /// In whose name it is held.
    holder: Holder,
    lease: Lease,
    state: State,
    wire: Wire,
    config: IntegrityConfig,
    clock: Arc<dyn Clock>,
    health: Health,
    /// The compaction that is going on.
    compaction: Option<Compaction>,
    /// One that an error broke off. It keeps nobody from anything, and may be finished still.
    broken_off: Option<Compaction>,
    /// The cycles that were made whole while others were open, as long as these are.
    ended: Vec<Ended>,
    /// What was lost and put right since the session was opened.
    context: RepairContext,
    /// What was read of its messages, for the next check.
    reading: Reading,
    /// Where the log ended when it was opened: what is before that, another process wrote.
    opened_at: u64,
    /// How many messages of the inbox are still to be taken that were looked at for damage.
    inbox_looked_at: u64,
    /// What was sent, while it is not known to be kept.
    sent: Option<Sent>,
    /// What is to be written down with whatever is written next.
    notes: Vec<Record>,
}

/// Records on their way to the store.
#[derive(Debug)]
struct Sent {
    commit: Arc<Sealed>,
    at: u64,
    records: Vec<Record>,
    /// Whether they end a compaction.
    ends_compaction: bool,
    /// The calls that are lost with them.
    lost: Vec<LostCall>,
    /// How often they were sent.
    times: usize,
}

impl Session {
    /// Its name.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// The dialect of its messages.
    pub fn dialect(&self) -> &'static str {
        self.wire.dialect
    }

    /// What its records make of it.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// How careful it is.
    pub fn config(&self) -> &IntegrityConfig {
        &self.config
    }

    /// Whether everything that was kept could be read.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// The epoch in which it is written: whoever opens it next gets a later one, and this writer is fenced.
    pub fn epoch(&self) -> u64 {
        self.lease.epoch
    }

    /// The messages that are to be seen, byte for byte as they came. Those of a cycle that is not whole are not among
    /// them.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.entries().iter().map(|entry| entry.message.as_str())
    }

    /// The messages and where they come from.
    pub fn entries(&self) -> &[Entry] {
        self.state.view.entries()
    }

    /// Adds a message: its exact bytes are kept. What comes while the session is compacted stands behind the summary, and
    /// what comes while calls run stands behind their results once they are there.
    ///
    /// # Errors
    /// When it is no JSON or no message at all, or the store could not keep it; among the latter
    /// [`Fenced`](seamline_store::Error::Fenced), when another process has taken the session over. Whether it fits what
    /// was said before is no reason not to keep it: [`Session::validate`] says so.
    pub async fn append(&mut self, message: &str) -> Result<(), SessionError> {
        self.append_all(&[message]).await
    }

    /// Adds messages, all or none.
    ///
    /// # Errors
    /// When one is no JSON or no message at all, or the store could not keep them.
    pub async fn append_all(&mut self, messages: &[&str]) -> Result<(), SessionError> {
        let raws = self.messages_of(messages)?;
        self.write(raws.into_iter().map(said).collect()).await
    }

    /// Messages that somebody gives, each a message of the dialect as far as can be told without judging it.
    fn messages_of(&self, messages: &[&str]) -> Result<Vec<Raw>, SessionError> {
        let raws: Vec<Raw> = messages.iter().map(|message| Raw::parse(*message)).collect::<Result<_, _>>()?;
        for (number, message) in (1..).zip(&raws) {
            if let Some(what) = NoMessage::of(Some(self.wire.dialect), message.as_str()) {
                return Err(SessionError::NoMessage { number, what });
            }
        }
        Ok(raws)
    }

    /// Whether these are messages that [`Session::append_all`] would take, as far as can be told without judging them.
    ///
    /// # Errors
    /// When one is no JSON or no message at all.
    pub fn takes(&self, messages: &[&str]) -> Result<(), SessionError> {
        self.messages_of(messages).map(drop)
    }

    /// What happened to its integrity, from the first to the last: the last thousand. Earlier ones are in the log.
    pub fn incidents(&self) -> impl DoubleEndedIterator<Item = &Incident> {
        self.state.incidents.iter()
    }

    /// Lets the session go, so that others may write it without taking it over. Open cycles stay open, for whoever opens it
    /// next. It is let go also where what was to be written before could not be, and where nobody waits for this.
    ///
    /// # Errors
    /// When something that was to be written may not be kept, or the store could not be told.
    pub async fn close(mut self) -> Result<(), SessionError> {
        let (store, id) = (self.store.clone(), self.id.clone());
        let hold = Hold::held(store.as_ref(), &id, self.holder.clone(), self.lease.epoch);
        let written = self.write_last().await;
        let let_go = hold.let_go().await;
        written.and(let_go.map_err(SessionError::from))
    }

    async fn write_last(&mut self) -> Result<(), SessionError> {
        self.settle().await?;
        let notes = std::mem::take(&mut self.notes);
        self.write(notes).await
    }

    /// Makes records durable, and then what the session is.
    ///
    /// Whoever drops this while it waits leaves open what becomes of them, and the next one who asks something of the
    /// session [settles](Self::settle) that first.
    async fn write(&mut self, records: Vec<Record>) -> Result<(), SessionError> {
        self.keep(records, false).await
    }

    async fn keep(&mut self, records: Vec<Record>, ends_compaction: bool) -> Result<(), SessionError> {
        self.keep_losing(records, ends_compaction, Vec::new()).await
    }

    /// Makes records durable with which calls are lost: those are, once the records are kept.
    async fn write_losing(&mut self, records: Vec<Record>, lost: Vec<LostCall>) -> Result<(), SessionError> {
        self.keep_losing(records, false, lost).await
    }

    async fn keep_losing(
        &mut self,
        records: Vec<Record>,
        ends_compaction: bool,
        lost: Vec<LostCall>,
    ) -> Result<(), SessionError> {
        self.settle().await?;
        if records.is_empty() {
            return Ok(());
        }
        let mut records: Vec<Record> = self.notes.iter().cloned().chain(records).collect();
        self.state.name(&mut records);
        let (at, head) = (self.clock.now(), self.lease.head);
        let id = commit_id(&self.id, self.lease.epoch, head);
        records.extend(self.in_order(head.seq + 1, &records));
        let commit = Commit { session: &self.id, epoch: self.lease.epoch, head, id, at, records: &records }.seal()?;
        self.sent = Some(Sent { commit: Arc::new(commit), at, records, ends_compaction, lost, times: 0 });
        Ok(self.send().await?)
    }

    /// Finds out what became of records that nobody waited for: the same commit is sent again, and a store takes it
    /// once. Every method that writes does it first.
    ///
    /// Call it after a future of this session was dropped, or ended with [`Error::Unknown`](seamline_store::Error), and
    /// before the same is asked again: what was dropped may be kept all the same, and [`Session::messages`] shows it only
    /// then. Whoever appends a message again without looking has it twice.
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
    /// drop(session.append(message)); // a time limit around it had run out
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
    /// When the store still does not say.
    pub async fn settle(&mut self) -> Result<(), SessionError> {
        Ok(self.send().await?)
    }

    /// Sends what is to be kept until it is known what became of it, or the store says again and again that it does not
    /// know.
    async fn send(&mut self) -> Result<(), seamline_store::Error> {
        for retries in 0.. {
            let Some(sent) = &mut self.sent else { break };
            sent.times += 1;
            let (commit, is_first) = (sent.commit.clone(), sent.times == 1);
            match self.store.append(commit).await {
                Ok(Appended::New | Appended::Already) => {
                    if let Some(sent) = self.sent.take() {
                        self.take_in(sent);
                    }
                }
                Err(seamline_store::Error::Unknown { .. }) if retries < UNKNOWN_RETRIES => {}
                Err(error) => {
                    if is_answer(&error, is_first) {
                        self.sent = None;
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Makes of the session what records that are kept make of it.
    fn take_in(&mut self, sent: Sent) {
        for (seq, record) in (sent.commit.seq()..).zip(&sent.records) {
            self.note_end(seq, record);
            self.state.apply(seq, sent.at, record);
        }
        if self.state.cycles.is_empty() {
            self.ended.clear();
        }
        self.lease.head = sent.commit.after();
        self.notes.clear();
        self.context.lose(sent.lost);
        if sent.ends_compaction {
            self.compaction = None;
            self.broken_off = None;
        }
    }

    /// An id for something of this session that comes with the next commit, such as `ckpt_12`.
    fn next_id(&self, what: &str) -> String {
        format!("{what}_{}", self.lease.head.seq + 1)
    }

    fn incident(&self, kind: IncidentKind, severity: IncidentSeverity, detail: impl Into<String>) -> Incident {
        let at = self.clock.now();
        Incident {
            kind,
            severity,
            at,
            checkpoint: None,
            count: 0,
            seq: None,
            inbox_damage: None,
            detail: detail.into(),
        }
    }
}

/// An id that only a writer's next commit can have: nobody else has the epoch, and no other commit the place.
fn commit_id(session: &SessionId, epoch: u64, head: Head) -> CommitId {
    let place = [epoch.to_be_bytes(), head.seq.to_be_bytes()].concat();
    let hash = head.hash.then(session.as_str().as_bytes()).then(&place);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_bytes()[..16]);
    CommitId::from_bytes(bytes)
}

/// Whether an error says that a commit was not kept. Of one that was sent before, only those errors say so that tell
/// what the store has.
fn is_answer(error: &seamline_store::Error, is_first: bool) -> bool {
    use seamline_store::Error;
    match error {
        Error::Unknown { .. } => false,
        Error::Conflict(_) | Error::Fenced { .. } | Error::NotFound(_) | Error::Erased(_) => true,
        _ => is_first,
    }
}

fn said(message: Raw) -> Record {
    Record::Message(MessageRecord { message, origin: Origin::Said })
}

/// How a session begins.
fn beginning(wire: &Wire, title: Option<String>, parent: Option<Parent>) -> Record {
    let (dialect, provider) = (wire.dialect.to_owned(), wire.options.provider.clone());
    Record::Begin(Begin { dialect, provider, title, parent })
}

/// What makes two runs of a call the same for a tool that can tell.
fn idempotency_key(session: &SessionId, generation: u32, cycle: &str, call: &str) -> String {
    let hash = Hash::of(session.as_str().as_bytes()).then(&generation.to_be_bytes());
    let hash = hash.then(cycle.as_bytes()).then(&[0]).then(call.as_bytes());
    format!("k_{}", &hash.to_string()[..32])
}

/// What the page about sessions shows must run.
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../../../docs/sessions.md")]
struct Page;
