//! Creates and opens sessions: new ones, forks, children and read-only followers. Chooses their dialect and policy, and
//! switches the provider.

mod copies;
mod damage;
mod follower;
mod options;
mod policy;
mod switch;

use std::sync::Arc;

use seamline_store::{
    Acquire, CallId, Damage, Erased, Holder, Incident, IncidentKind, IncidentSeverity, Parent, Record, Replayed,
    SessionId, State, Store,
};

use super::facts::{Batch, Work};
use super::log::{self, Log};
use super::request::Reading;
use super::wire::Wire;
use super::{Session, SessionError, SystemClock};
use crate::{Options, Policy};
use copies::plan_copies;
use damage::first_record;
use policy::{PolicyNote, choose_policy, stored_policy};

pub use follower::Follower;
pub use options::{Health, OpenOptions, SessionOptions};

/// The dialect of a session that is created without a dialect and without a provider.
const DEFAULT_DIALECT: &str = "anthropic_messages";

impl Session {
    /// Creates a session.
    ///
    /// # Errors
    /// When there is a session of that name, the dialect or provider is not known, the provider serves another dialect, the
    /// policy names a preset or a provider that does not exist, or the store failed.
    pub async fn create(store: Arc<dyn Store>, id: SessionId, options: SessionOptions) -> Result<Self, SessionError> {
        let (parent, records) = (None, Vec::new());
        Box::pin(Self::begin(store, id, options, parent, records)).await
    }

    /// Creates a session with these records, all or none.
    async fn begin(
        store: Arc<dyn Store>,
        id: SessionId,
        options: SessionOptions,
        parent: Option<Parent>,
        records: Vec<Record>,
    ) -> Result<Self, SessionError> {
        let SessionOptions { dialect, provider, title, policy, clock } = options;
        policy.check_names()?;
        let default = || provider.is_none().then(|| DEFAULT_DIALECT.to_owned());
        let dialect = dialect.or_else(default);
        let wire = Wire::new(Options { dialect, provider, policy, ..Options::default() })?;
        let first = first_record(&wire, title, parent)?;
        let rejected = rejections(&wire.options.policy, clock.now()).map(Record::Incident);
        let records: Vec<Record> = std::iter::once(first).chain(rejected).chain(records).collect();
        if log::needs_import(&records) {
            log::import(store.as_ref(), &id, clock.now(), &records).await?;
            drop(records);
            let options = OpenOptions { recover: false, clock, ..OpenOptions::default() };
            return Self::open(store, id, options).await;
        }
        let log = Log::create(store, id, clock).await?;
        let (state, health, work) = (State::default(), Health::Whole, Work::default());
        let mut session = Self { log, state, wire, health, work, reading: Reading::default() };
        let written = session.write(Batch::of(records)).await;
        session.health = Health::of(Damage::inherited(&session.state).into_iter().collect());
        session.or_release(written).await
    }

    /// Opens a session for writing: checks every commit, puts damaged bytes into quarantine, and closes the cycles that a
    /// crash left open, unless [`OpenOptions::recover`] is off.
    ///
    /// A session that this process dropped without [closing](Self::close) it is taken over at once.
    ///
    /// # Errors
    /// When there is no such session, another process writes it, a newer version wrote some of it, its dialect is not known,
    /// or the store failed. The lease is released then.
    pub async fn open(store: Arc<dyn Store>, id: SessionId, options: OpenOptions) -> Result<Self, SessionError> {
        // The future of an opening is large: it holds the policy and the state.
        Box::pin(Self::acquire_and_load(store, id, options)).await
    }

    /// Acquires the lease, loads the session and recovers it.
    async fn acquire_and_load(
        store: Arc<dyn Store>,
        id: SessionId,
        options: OpenOptions,
    ) -> Result<Self, SessionError> {
        let OpenOptions { take_over, dialect, recover, policy, clock } = options;
        let (mut log, before) = Log::acquire(store, id, clock, acquire(take_over)).await?;
        let (wire, changes, Replayed { state, damages, .. }) = match load(&log, dialect, policy).await {
            Ok(loaded) => loaded,
            Err(error) => {
                // The caller should see the first error, not one of the release.
                let _ = log.release().await;
                return Err(error);
            }
        };
        let health = Health::of(damages.clone());
        let work = Work::default();
        let mut session = Self { log, state, wire, health, work, reading: Reading::default() };
        let opened = session.finish_opening((changes, before), &damages, recover).await;
        session.or_release(opened).await
    }

    /// Records the policy, the take-over and damages, and recovers open cycles.
    async fn finish_opening(
        &mut self,
        (policy, before): (PolicyNote, Option<Holder>),
        damages: &[Damage],
        recover: bool,
    ) -> Result<(), SessionError> {
        let facts = self.facts();
        let taken_over = before.map(|holder| facts.taken_over(&holder));
        // They go with the next commit, and at the latest with the close: a read-only store can be opened, too.
        let notes: Vec<Record> = facts.plan_policy(policy).into_iter().chain(taken_over).collect();
        for note in notes {
            self.log.note(note);
        }
        let new = self.facts().new_damages_of_log(damages);
        let records = self.facts().plan_damages(&new);
        self.log.quarantine_commits(&new).await?;
        self.write(Batch::of(records)).await?;
        if recover {
            self.recover().await?;
        }
        Ok(())
    }

    /// The session, or the error after the lease was released.
    async fn or_release(mut self, opened: Result<(), SessionError>) -> Result<Self, SessionError> {
        if let Err(error) = opened {
            let _ = self.log.release().await;
            return Err(error);
        }
        Ok(self)
    }

    /// Removes everything of a session, for good. A session that another process writes stays, unless `how` is
    /// [`Acquire::TakeOver`].
    ///
    /// # Errors
    /// When there is no such session, another process writes it, or the store failed.
    pub async fn erase(store: Arc<dyn Store>, id: &SessionId, how: Acquire) -> Result<Erased, SessionError> {
        Ok(log::erase(store, id.clone(), &SystemClock, how).await?)
    }

    /// Makes a session with the same messages. The fork knows which of them are synthetic and which are summaries. The fork
    /// has the same policy. The fork of a [degraded](Health::Degraded) session that lost records is degraded. Open cycles, checkpoints, incidents and the inbox stay behind; its [first record](seamline_store::Begin) names this
    /// session. Both are open for writing.
    ///
    /// # Errors
    /// When there is a session of that name, this one cannot be read, or the store failed.
    pub async fn fork(&self, id: SessionId) -> Result<Self, SessionError> {
        let options = SessionOptions {
            dialect: Some(self.wire.first_dialect.to_owned()),
            provider: first_provider(&self.state, &self.wire),
            ..self.related_options()
        };
        let copies = plan_copies(&self.wire, &self.state)?;
        let parent = Parent { is_degraded: self.health.has_losses(), ..self.log.as_parent(None) };
        self.begin_related(id, parent, options, copies).await
    }

    /// Makes an empty session for a sub-agent that works on a call of this one, in the same dialect and with the same
    /// policy. The host gives the outcome of the sub-agent as the result of that call.
    ///
    /// # Errors
    /// When there is a session of that name, or the store failed.
    pub async fn create_child(&self, id: SessionId, call: &CallId) -> Result<Self, SessionError> {
        let parent = self.log.as_parent(Some(call.clone()));
        self.begin_related(id, parent, self.related_options(), Vec::new()).await
    }

    /// Switches to another provider or dialect: from now on new messages are of its dialect, and requests are for it.
    /// Stored messages keep their bytes and their dialect, and each request renders them for the provider. Tools may be
    /// running: a cycle that was begun before is answered in the dialect of its turn. Switching back gives the original
    /// bytes again.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use seamline::session::{Session, SessionOptions};
    /// use seamline::store::MemoryStore;
    ///
    /// # futures_executor::block_on(async {
    /// let store = Arc::new(MemoryStore::new());
    /// let mut session = Session::create(store, "s-1".parse()?, SessionOptions::default()).await?;
    /// session.append(r#"{"role":"user","content":[{"type":"text","text":"hello"}]}"#).await?;
    ///
    /// session.switch_provider("gemini").await?;
    /// assert_eq!(session.dialect(), "gemini_generate");
    /// let request = session.request("{}")?;
    /// assert_eq!(request.body, br#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// When there is no provider and no dialect of that name, or the store failed.
    pub async fn switch_provider(&mut self, name: &str) -> Result<(), SessionError> {
        self.settle().await?;
        let batch = self.facts().plan_switch(name)?;
        self.write(batch).await
    }

    /// The options of this session, for one that is made from it.
    fn related_options(&self) -> SessionOptions {
        SessionOptions {
            dialect: Some(self.wire.dialect.to_owned()),
            provider: self.wire.options.provider.clone(),
            title: None,
            policy: self.wire.options.policy.clone(),
            clock: self.log.clock().clone(),
        }
    }

    async fn begin_related(
        &self,
        id: SessionId,
        parent: Parent,
        options: SessionOptions,
        records: Vec<Record>,
    ) -> Result<Self, SessionError> {
        Box::pin(Self::begin(self.log.store().clone(), id, options, Some(parent), records)).await
    }
}

/// The incident that stores the members which the provider rejected before the session began: a policy that is stored does
/// not have them.
fn rejections(policy: &Policy, now: u64) -> Option<Incident> {
    let rejected = Some(policy.rejections()).filter(|rejected| !rejected.is_empty())?;
    let detail = "the provider rejected members before this session began";
    let incident = Incident::new(now, IncidentKind::Corruption, IncidentSeverity::Info, detail);
    Some(Incident { rejected: Some(Box::new(rejected)), ..incident })
}

fn acquire(take_over: bool) -> Acquire {
    if take_over { Acquire::TakeOver } else { Acquire::IfFree }
}

/// Reads and checks the log, and finds the dialect and the policy.
async fn load(
    log: &Log,
    dialect: Option<String>,
    given: Option<Policy>,
) -> Result<(Wire, PolicyNote, Replayed), SessionError> {
    let replayed = log.replay().await?;
    let (policy, note) = choose_policy(&replayed.state, given)?;
    Ok((wire_given(&replayed.state, dialect, policy)?, note, replayed))
}

/// The provider of the first record, which a switch does not change.
fn first_provider(state: &State, wire: &Wire) -> Option<String> {
    match (&state.begin, &state.switch) {
        (Some(begin), _) => begin.provider.clone(),
        (None, Some(_)) => None,
        (None, None) => wire.options.provider.clone(),
    }
}

/// The dialect of a session for which the caller names none.
fn wire_of(state: &State, policy: Policy) -> Result<Wire, SessionError> {
    let given = None;
    wire_given(state, given, policy)
}

/// The dialect of a session: that of its first record, else the one that the caller gives, else the only one that the
/// messages can be of, else the one that it was switched to.
fn wire_given(state: &State, given: Option<String>, mut policy: Policy) -> Result<Wire, SessionError> {
    policy.reject(&state.rejected);
    let begun = state.begin.as_ref().map(|begin| (begin.dialect.to_string(), begin.provider.clone()));
    let switched = || state.switch.as_ref().map(|switch| switch.dialect.to_string());
    let guessed = || given.or_else(|| certain_dialect(state)).or_else(switched);
    let known = begun.or_else(|| guessed().map(|dialect| (dialect, None)));
    let lost = seamline_store::Error::Damaged(seamline_store::cause::Damaged::NoDialect);
    let (dialect, provider) = known.ok_or(lost)?;
    let wire = Wire::new(Options { dialect: Some(dialect), provider, policy, ..Options::default() })?;
    Ok(match &state.switch {
        Some(switch) => wire.switched(switch)?,
        None => wire,
    })
}

/// The only dialect that the messages that name none can be of.
fn certain_dialect(state: &State) -> Option<String> {
    let unnamed = state.view.entries().iter().filter(|entry| entry.dialect.is_none());
    let messages: Vec<&str> = unnamed.map(|entry| entry.message.as_str()).collect();
    let list = format!("[{}]", messages.join(","));
    seamline_dialects::contradiction(list.as_bytes(), "").map(|dialect| dialect.name().to_owned())
}
