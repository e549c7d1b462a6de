//! Sessions that come from others, and those who only watch.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use seamline_store::{
    CycleRecord, Entry, Head, Insert, MessageRecord, OpenedCommit, Origin, Parent, Record, Replay, SessionId, State,
    Store, Turn,
};

use super::late::{Knows, knows};
use super::opening::{read_on, wire_of};
use super::recovery::unresolved;
use super::repairs::stored_options;
use super::wire::Wire;
use super::{Health, IntegrityConfig, Session, SessionError, SessionOptions, Unresolved};
use crate::{Options, Policy};

impl Session {
    /// Makes a session with the same messages, which goes its own way from here. What is known of them goes with them:
    /// which were made up, and which stand for others. Cycles that are not whole, checkpoints and incidents do not, nor
    /// what waits in the inbox; its [beginning](seamline_store::Begin) names this session. It is open for writing, and
    /// this one stays so.
    ///
    /// # Errors
    /// When there is one of that name, this one cannot be read, or the store could not keep it.
    pub async fn fork(&self, id: SessionId) -> Result<Self, SessionError> {
        let copies = copies(self.store.as_ref(), &self.id, &self.wire, self.entries()).await?;
        self.related(id, None, copies).await
    }

    /// Makes an empty session for a sub-agent that works on a call of this one, in the same dialect and with the same
    /// configuration. What it comes to is for the host to give as the result of that call.
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
    /// Damage is no error: [`Follower::health`] says so, and what could be read is there.
    ///
    /// # Errors
    /// When there is none of that name, or the store cannot be read.
    pub async fn open(store: Arc<dyn Store>, id: SessionId) -> Result<Self, SessionError> {
        let (replay, health) = (Replay::new(id.clone()), Health::Whole);
        let mut follower = Self { store, id, head: Head { epoch: 0, ..Head::START }, replay, health };
        follower.refresh().await?;
        Ok(follower)
    }

    /// Reads what came since, and says whether anything did. Where the store was put back to an earlier state, all is read
    /// anew.
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
        let wire = wire_of(self.state(), None, Policy::default())?;
        let copies = copies(self.store.as_ref(), &self.id, &wire, self.state().view.entries()).await?;
        Session::begin(store, id, options, Some(parent), copies).await
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

/// Records that say what was said elsewhere. What came of a cycle comes of one again: so it is known which results were
/// made up, whatever they say.
async fn copies(
    store: &dyn Store,
    id: &SessionId,
    wire: &Wire,
    entries: &[Entry],
) -> Result<Vec<Record>, SessionError> {
    let asked = entries.iter().map(|entry| entry.seq).collect();
    let known = brought_by(store, id, 0, &asked, knows).await?;
    let mut records = Vec::with_capacity(entries.len());
    for together in entries.chunk_by(|one, next| one.seq == next.seq) {
        match known.get(&together[0].seq) {
            Some(Knows::Cycle) => copy_cycle(together, &mut records),
            Some(Knows::Late) => {
                for entry in together {
                    let is_result = entry.origin == Origin::Said && holds_only_results(wire, entry)?;
                    if is_result {
                        copy_cycle(std::slice::from_ref(entry), &mut records);
                    } else {
                        records.push(copy(entry));
                    }
                }
            }
            Some(Knows::Nothing) | None => records.extend(together.iter().map(copy)),
        }
    }
    Ok(records)
}

fn copy(entry: &Entry) -> Record {
    Record::Message(MessageRecord { message: entry.message.clone(), origin: entry.origin })
}

/// Messages that came of one cycle, as one that is whole at once. A turn is something that was said, so what was made up
/// before the first that was is copied as it is.
fn copy_cycle(entries: &[Entry], records: &mut Vec<Record>) {
    let said = entries.iter().position(|entry| entry.origin == Origin::Said).unwrap_or(entries.len());
    let (before, cycle) = entries.split_at(said);
    records.extend(before.iter().map(copy));
    let Some((first, results)) = cycle.split_first() else { return };
    let id = format!("copied_{}", records.len());
    let results = results.iter().map(|entry| Insert { message: entry.message.clone(), origin: entry.origin });
    let (message, more, calls) = (first.message.clone(), Vec::new(), Vec::new());
    records.push(Record::Turn(Turn { cycle: id.clone(), checkpoint: None, message, more, calls }));
    records.push(Record::Cycle(CycleRecord { cycle: id, results: results.collect() }));
}

fn holds_only_results(wire: &Wire, entry: &Entry) -> Result<bool, SessionError> {
    let body = wire.body("{}", std::iter::once(&entry.message))?;
    let outline = crate::outline(&body, &wire.options, 0..1)?;
    Ok(outline.iter().flat_map(|message| &message.blocks).all(|block| block.kind == "result"))
}

/// What is asked of records, by their numbers, in one pass over the log behind a place of it.
pub(super) async fn brought_by<T>(
    store: &dyn Store,
    id: &SessionId,
    from: u64,
    asked: &HashSet<u64>,
    ask: impl Fn(&Record) -> T,
) -> Result<HashMap<u64, T>, SessionError> {
    let mut known = HashMap::new();
    let last = asked.iter().max().copied().unwrap_or(0);
    read_on(store, id, from..last, |page| {
        for commit in page.iter().filter_map(|commit| OpenedCommit::open(&commit.bytes).ok()) {
            let records = (commit.seq..).zip(&commit.records).filter(|(seq, _)| asked.contains(seq));
            known.extend(records.map(|(seq, record)| (seq, ask(record))));
        }
    })
    .await?;
    Ok(known)
}
