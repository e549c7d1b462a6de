//! Making and opening sessions.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use seamline_store::{
    Begin, Commit, Damage, Erased, Head, Holder, IncidentKind, IncidentSeverity, Parent, Record, Replay, Replayed,
    SessionId, State, Store, StoredCommit,
};
// The store that can tell whether a process is gone knows it best.
#[cfg(feature = "sqlite")]
use seamline_store_sqlite::this_process;

use super::holding::Hold;
use super::reading::Reading;
use super::wire::Wire;
use super::{Clock, IntegrityConfig, RepairContext, Session, SessionError, SystemClock, beginning, commit_id};
use crate::{Options, Policy};

/// About how many bytes are read at a time.
pub(super) const PAGE_BYTES: usize = 8 * 1024 * 1024;

/// About the most bytes of a commit that a session begins with. What is more comes in several.
const BEGIN_BYTES: usize = 16 * 1024 * 1024;

/// How a session is made.
///
/// ```
/// use seamline::session::SessionOptions;
///
/// let options = SessionOptions { dialect: "gemini_generate".to_owned(), ..SessionOptions::default() };
/// assert!(options.config.enabled);
/// ```
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// The dialect of its messages. Nothing here means that of the provider.
    pub dialect: String,
    /// The provider, by name. It has to serve the dialect.
    pub provider: Option<String>,
    /// What people call it.
    pub title: Option<String>,
    /// How damage is put right.
    pub policy: Policy,
    /// How careful it is.
    pub config: IntegrityConfig,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            dialect: "anthropic_messages".to_owned(),
            provider: None,
            title: None,
            policy: Policy::default(),
            config: IntegrityConfig::default(),
            clock: Arc::new(SystemClock),
        }
    }
}

/// How a session is opened.
///
/// ```
/// assert!(!seamline::session::OpenOptions::default().take_over);
/// ```
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Whether it is taken from another process that writes it, or from this one if it was dropped and not closed. The
    /// older writer is fenced: nothing of it is kept from then on. Without it such a session is
    /// [`Busy`](seamline_store::Error::Busy).
    pub take_over: bool,
    /// The dialect of its messages, for a session whose beginning is lost. What the beginning says counts first.
    pub dialect: Option<String>,
    /// Whether cycles that a crash left open are closed at once, by [`Session::recover`] without an executor. Else
    /// [`Session::unresolved`] lists their calls until somebody closes them.
    pub recover: bool,
    /// How damage is put right.
    pub policy: Policy,
    /// How careful it is.
    pub config: IntegrityConfig,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        let SessionOptions { policy, config, clock, .. } = SessionOptions::default();
        Self { take_over: false, dialect: None, recover: true, policy, config, clock }
    }
}

/// Whether everything that was kept could be read.
///
/// ```
/// assert!(seamline::session::Health::Whole.is_whole());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It could.
    Whole,
    /// Some of it is damaged. What could be read is there, the rest was put aside, and nothing altered is taken for
    /// what was said.
    Degraded(Vec<Damage>),
}

impl Health {
    /// Whether it could.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Whole)
    }
}

impl Session {
    /// Makes a session.
    ///
    /// # Errors
    /// When there is one of that name, the dialect or provider is not known, the provider serves another dialect, or the
    /// store could not keep it.
    pub async fn create(store: Arc<dyn Store>, id: SessionId, options: SessionOptions) -> Result<Self, SessionError> {
        Self::begin(store, id, options, None, Vec::new()).await
    }

    /// Makes a session that begins with these records, all at once.
    pub(super) async fn begin(
        store: Arc<dyn Store>,
        id: SessionId,
        options: SessionOptions,
        parent: Option<Parent>,
        records: Vec<Record>,
    ) -> Result<Self, SessionError> {
        let SessionOptions { dialect, provider, title, policy, config, clock } = options;
        let wire = Wire::new(Options { dialect: Some(dialect), provider, policy, kept: false })?;
        let first = beginning(&wire, title, parent);
        let records: Vec<Record> = std::iter::once(first).chain(records).collect();
        if records.iter().map(Record::bytes_about).sum::<usize>() > BEGIN_BYTES {
            let policy = wire.options.policy;
            let options = OpenOptions { recover: false, policy, config, clock, ..OpenOptions::default() };
            return Self::begin_large(store, id, options, &records).await;
        }
        let (asked, name, holder) = (store.clone(), id.clone(), holder(clock.as_ref()));
        let mut hold = Hold::new(asked.as_ref(), &name, holder.clone());
        let lease = hold.begin().await?;
        let mut session = Self {
            store,
            id,
            holder,
            lease,
            state: State::default(),
            wire,
            config,
            clock,
            health: Health::Whole,
            compaction: None,
            broken_off: None,
            ended: Vec::new(),
            context: RepairContext::default(),
            reading: Reading::default(),
            opened_at: 0,
            inbox_looked_at: 0,
            sent: None,
            notes: Vec::new(),
        };
        let begun = session.write(records).await;
        hold.handed_over(begun).await?;
        Ok(session)
    }

    /// Makes a session that begins with more than one commit has room for: the store takes all of them in or none.
    async fn begin_large(
        store: Arc<dyn Store>,
        id: SessionId,
        options: OpenOptions,
        records: &[Record],
    ) -> Result<Self, SessionError> {
        let commits = chained(&id, options.clock.now(), records)?;
        store.import(&id, &commits).await?;
        drop(commits);
        Self::open(store, id, options).await
    }

    /// Opens a session for writing: checks all that was kept, puts damaged bytes aside, and closes the cycles that a
    /// crash left open, unless that is to wait.
    ///
    /// # Errors
    /// When there is none of that name, another process writes it or this one did and did not [close](Self::close) it, a
    /// newer version wrote some of it, its dialect is not known any more, or the store cannot be read or written. Then it
    /// is not held.
    pub async fn open(store: Arc<dyn Store>, id: SessionId, options: OpenOptions) -> Result<Self, SessionError> {
        let (asked, name) = (store.clone(), id.clone());
        let mut hold = Hold::new(asked.as_ref(), &name, holder(options.clock.as_ref()));
        let opened = Self::opened(store, id, options, &mut hold).await;
        hold.handed_over(opened).await
    }

    async fn opened(
        store: Arc<dyn Store>,
        id: SessionId,
        options: OpenOptions,
        hold: &mut Hold<'_>,
    ) -> Result<Self, SessionError> {
        let OpenOptions { take_over, dialect, recover, policy, config, clock } = options;
        let holder = hold.holder();
        let (lease, before) = hold.acquire(take_over).await?;
        let Replayed { state, damages, .. } = read(store.as_ref(), &id, lease.head).await?;
        let wire = wire_of(&state, dialect, policy)?;
        let health = if damages.is_empty() { Health::Whole } else { Health::Degraded(damages.clone()) };
        let (context, opened_at) = (RepairContext::default(), lease.head.seq);
        let mut session = Self {
            store,
            id,
            holder,
            lease,
            state,
            wire,
            config,
            clock,
            health,
            compaction: None,
            broken_off: None,
            ended: Vec::new(),
            context,
            opened_at,
            reading: Reading::default(),
            inbox_looked_at: 0,
            sent: None,
            notes: Vec::new(),
        };
        session.notes.extend(before.map(|holder| session.taken_over(&holder)));
        session.put_aside(&damages).await?;
        if recover {
            session.recover(None).await?;
        }
        Ok(session)
    }

    /// The incident that the session was taken from a process that wrote it. It goes with the first records that are
    /// written, and before the session is closed: a store that can only be read is no reason not to look.
    fn taken_over(&self, before: &Holder) -> Record {
        let detail = format!("taken from {before}, which could write it until then");
        Record::Incident(self.incident(IncidentKind::TakenOver, IncidentSeverity::Warning, detail))
    }

    /// Removes everything of a session, for good. Another process that writes it keeps it, unless it is to be taken over.
    ///
    /// # Errors
    /// When there is none of that name, another process writes it, or the store could not remove it.
    pub async fn erase(store: &dyn Store, id: &SessionId, take_over: bool) -> Result<Erased, SessionError> {
        let mut hold = Hold::new(store, id, holder(&SystemClock));
        hold.acquire(take_over).await?;
        Ok(hold.handed_over(store.erase(id).await).await?)
    }

    /// Puts damaged bytes aside and writes down what was found, once.
    async fn put_aside(&mut self, damages: &[Damage]) -> Result<(), SessionError> {
        let known = |damage: &Damage| {
            let mut incidents = self.state.incidents.iter();
            incidents.any(|incident| incident.kind == IncidentKind::Damaged && incident.seq == Some(damage.seq))
        };
        let new: Vec<&Damage> = damages.iter().filter(|damage| !known(damage)).collect();
        let mut records = Vec::with_capacity(new.len() + 1);
        if self.state.begin.is_none() {
            // Whoever comes next need not be told again.
            let Options { dialect, provider, .. } = &self.wire.options;
            let (dialect, provider) = (dialect.clone().unwrap_or_default(), provider.clone());
            records.push(Record::Begin(Begin { dialect, provider, title: None, parent: None }));
        }
        for damage in new {
            if damage.bytes.is_some() {
                self.put_commit_aside(damage.seq).await?;
            }
            let mut incident = self.incident(IncidentKind::Damaged, IncidentSeverity::Critical, damage.to_string());
            incident.seq = Some(damage.seq);
            records.push(Record::Incident(incident));
        }
        self.write(records).await
    }

    /// Puts the bytes of a commit aside. They are read once more: until all were, nobody knows how many are damaged, and
    /// they would not have to fit into memory.
    async fn put_commit_aside(&self, seq: u64) -> Result<(), SessionError> {
        let commits = self.store.read(&self.id, seq.saturating_sub(1), 1).await?;
        if let Some(commit) = commits.iter().find(|commit| commit.seq == seq) {
            self.store.quarantine(&self.id, &commit.bytes).await?;
        }
        Ok(())
    }
}

/// Reads a whole session and checks it, page by page: no more than one of them is in memory beside what they make of it.
async fn read(store: &dyn Store, id: &SessionId, head: Head) -> Result<Replayed, SessionError> {
    let mut replay = Replay::new(id.clone());
    read_on(store, id, 0..u64::MAX, |page| page.iter().for_each(|commit| replay.take(commit))).await?;
    let replayed = replay.finish(head);
    replayed.newer().map_or(Ok(replayed), |newer| Err(newer.into()))
}

/// Reads the commits behind the start of a range, page by page, until there is none or the end is reached.
pub(super) async fn read_on(
    store: &dyn Store,
    id: &SessionId,
    range: Range<u64>,
    mut take: impl FnMut(Vec<StoredCommit>),
) -> Result<(), SessionError> {
    let mut after = range.start;
    while after < range.end {
        let page = store.read(id, after, PAGE_BYTES).await?;
        let Some(last) = page.last().map(|commit| commit.seq) else { break };
        // A damaged store must not make this go round for ever.
        if last <= after {
            return Err(seamline_store::Error::Damaged(seamline_store::cause::Damaged::Disorder).into());
        }
        after = last;
        take(page);
    }
    Ok(())
}

/// The dialect of a session: what its beginning says, or where that is lost what it is told or what only one dialect has.
pub(super) fn wire_of(state: &State, told: Option<String>, policy: Policy) -> Result<Wire, SessionError> {
    let begun = state.begin.as_ref().map(|begin| (begin.dialect.clone(), begin.provider.clone()));
    let known = begun.or_else(|| told.or_else(|| certain_dialect(state)).map(|dialect| (dialect, None)));
    let lost = seamline_store::Error::Damaged(seamline_store::cause::Damaged::NoDialect);
    let (dialect, provider) = known.ok_or(lost)?;
    Ok(Wire::new(Options { dialect: Some(dialect), provider, policy, kept: false })?)
}

/// The dialect that the messages are certainly written in.
fn certain_dialect(state: &State) -> Option<String> {
    let messages: Vec<&str> = state.view.entries().iter().map(|entry| entry.message.as_str()).collect();
    let list = format!("[{}]", messages.join(","));
    seamline_dialects::contradiction(list.as_bytes(), "").map(|dialect| dialect.name().to_owned())
}

/// This process, about to open a session. No two openings are taken for one, however soon they follow each other.
pub(super) fn holder(clock: &dyn Clock) -> Holder {
    static OPENINGS: AtomicU64 = AtomicU64::new(1);
    Holder { opening: OPENINGS.fetch_add(1, Ordering::Relaxed), ..this_process(clock.now()) }
}

/// This process. No other store looks whether it is gone.
#[cfg(not(feature = "sqlite"))]
fn this_process(now: u64) -> Holder {
    Holder { host: "this host".to_owned(), pid: std::process::id(), since: now, ..Holder::default() }
}

/// The first commits of a session, one after the other.
fn chained(id: &SessionId, at: u64, records: &[Record]) -> Result<Vec<Vec<u8>>, seamline_store::Error> {
    let (mut commits, mut head, mut rest) = (Vec::new(), Head::START, records);
    while !rest.is_empty() {
        let mut bytes = 0;
        let fitting = rest.iter().take_while(|record| {
            bytes += record.bytes_about();
            bytes <= BEGIN_BYTES
        });
        let (records, later) = rest.split_at(fitting.count().max(1));
        let own = commit_id(id, head.epoch, head);
        let commit = Commit { session: id, epoch: head.epoch, head, id: own, at, records }.seal()?;
        head = commit.after();
        commits.push(commit.bytes().to_vec());
        rest = later;
    }
    Ok(commits)
}
