//! Places to come back to.

use std::collections::HashSet;

use seamline_store::{
    COMMIT_BYTES_MAX, CheckpointRecord, CheckpointState, Cut, Dropped, Hash, IncidentKind, IncidentSeverity, OpenCycle,
    Operation, Origin, Raw, Record, Rejected, Repair, Rollback, SessionId,
};
use serde::Serialize;

use super::context::lost_with;
use super::family::brought_by;
use super::order::is_move;
use super::{Session, SessionError, said};

/// How many bytes the messages that are kept with a checkpoint have at most: they go in one commit with what it is made
/// for.
const SNAPSHOT_BYTES_MAX: usize = COMMIT_BYTES_MAX / 2;

/// A place to come back to.
///
/// ```
/// use std::sync::Arc;
/// use seamline::session::{Session, SessionOptions};
/// use seamline::store::{MemoryStore, Operation};
///
/// # futures_executor::block_on(async {
/// let store = Arc::new(MemoryStore::new());
/// let mut session = Session::create(store, "s-1".parse()?, SessionOptions::default()).await?;
/// let checkpoint = session.checkpoint(Operation::Manual).await?;
/// assert_eq!((&checkpoint.session, checkpoint.messages), (session.id(), 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checkpoint {
    /// Its id.
    pub id: String,
    /// The session it is one of.
    #[serde(rename = "sessionId")]
    pub session: SessionId,
    /// When it was made, in milliseconds since 1970.
    #[serde(rename = "timestamp")]
    pub at: u64,
    /// How many messages there were to be seen.
    #[serde(rename = "messageIndex")]
    pub messages: usize,
    /// The hash of them.
    #[serde(rename = "contentHash")]
    pub hash: Hash,
    /// What it was made for.
    pub operation: Operation,
    /// What became of it.
    pub state: CheckpointState,
    /// The messages, where they were kept with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Vec<Raw>>,
}

impl Checkpoint {
    fn of(session: &SessionId, kept: &seamline_store::Checkpoint) -> Self {
        let seamline_store::Checkpoint { id, at, messages, hash, operation, state, seq: _, snapshot } = kept.clone();
        Self { id, session: session.clone(), at, messages, hash, operation, state, snapshot }
    }
}

/// What a rollback did.
///
/// ```
/// let result = seamline::session::RollbackResult { success: true, messages_removed: 2, new_message_count: 5 };
/// let written = serde_json::to_string(&result).unwrap();
/// assert_eq!(written, r#"{"success":true,"messagesRemoved":2,"newMessageCount":5}"#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RollbackResult {
    /// Whether it went well; what did not is an error.
    pub success: bool,
    /// How many messages are not to be seen any more.
    pub messages_removed: usize,
    /// How many are.
    pub new_message_count: usize,
}

/// What came since a checkpoint was made.
#[derive(Debug, Default)]
pub(super) struct Since {
    /// What others than the model and its tools said. It is not for an error to take back.
    spared: Vec<Raw>,
    /// The places of the rest.
    pub(super) taken: Vec<usize>,
    /// Whether it stands behind what the checkpoint was made of, and nothing else has changed.
    is_plain: bool,
}

impl Session {
    /// Makes a place to come back to. It costs the same however long the session is, unless the configuration says to
    /// keep the messages with it. Messages of more than 128 MiB together are not: that is an incident, once.
    ///
    /// # Errors
    /// When the store could not keep it.
    pub async fn checkpoint(&mut self, operation: Operation) -> Result<Checkpoint, SessionError> {
        self.settle().await?;
        let (id, made) = self.making(operation);
        self.write(self.dropping(&[]).into_iter().chain(made).collect()).await?;
        Ok(Checkpoint::of(&self.id, self.found(&id)?))
    }

    /// The records that make a place to come back to, and its id.
    pub(super) fn making(&self, operation: Operation) -> (String, Vec<Record>) {
        let record = self.checkpoint_record(operation);
        let id = record.id.clone();
        let event = self.event(IncidentKind::CheckpointCreated, &id);
        let told = self.without_snapshot();
        (id, std::iter::once(Record::Checkpoint(record)).chain(event).chain(told).collect())
    }

    /// Whether all messages together are little enough to be kept with a checkpoint.
    fn fits_snapshot(&self) -> bool {
        self.entries().iter().map(|entry| entry.message.as_bytes().len() + 1).sum::<usize>() <= SNAPSHOT_BYTES_MAX
    }

    /// The incident that checkpoints go without the messages that the configuration wants with them, once.
    fn without_snapshot(&self) -> Option<Record> {
        if !self.config.snapshot_messages || self.fits_snapshot() {
            return None;
        }
        let detail = format!("checkpoints go without messages that have more than {SNAPSHOT_BYTES_MAX} bytes together");
        let is_known = self.incidents().any(|incident| incident.detail == detail);
        let incident = self.incident(IncidentKind::CheckpointCreated, IncidentSeverity::Warning, detail);
        (!is_known).then_some(Record::Incident(incident))
    }

    fn checkpoint_record(&self, operation: Operation) -> CheckpointRecord {
        let view = &self.state.view;
        let snapshot = self.config.snapshot_messages && self.fits_snapshot();
        CheckpointRecord {
            id: self.next_id("ckpt"),
            operation,
            messages: view.len() as u64,
            hash: view.hash(),
            snapshot: snapshot.then(|| view.entries().iter().map(|entry| entry.message.clone()).collect()),
        }
    }

    fn found(&self, id: &str) -> Result<&seamline_store::Checkpoint, SessionError> {
        let checkpoint = self.state.checkpoint_of(id);
        checkpoint.ok_or_else(|| Rejected::NoCheckpoint(id.to_owned()).into())
    }

    /// Says that what a checkpoint was made for went well. Of the committed ones only the last few are kept.
    ///
    /// # Errors
    /// When there is none of that id, or the store could not keep it.
    pub async fn commit(&mut self, id: &str) -> Result<(), SessionError> {
        self.settle().await?;
        let records = self.commit_records(id)?;
        self.write(records).await
    }

    /// An event that is logged only where all are.
    fn event(&self, kind: IncidentKind, checkpoint: &str) -> Option<Record> {
        let mut incident = self.incident(kind, IncidentSeverity::Info, "");
        incident.checkpoint = Some(checkpoint.to_owned());
        self.config.verbose.then_some(Record::Incident(incident))
    }

    /// The records that commit a checkpoint and drop those over the limit.
    pub(super) fn commit_records(&self, id: &str) -> Result<Vec<Record>, SessionError> {
        self.state.allows(&Record::CheckpointCommit(id.to_owned()))?;
        Ok(self.committing(&[id]))
    }

    /// The records that say that the provider has answered: what was made for asking it went well, and so did what was
    /// made for a compaction that nobody is about any more. None of them is a place to go back to by itself from now on,
    /// for that would be behind the answer.
    pub(super) fn answered_records(&self) -> Vec<Record> {
        let is_over = |operation| match operation {
            Operation::ApiCall => true,
            Operation::Compaction => self.compaction.is_none(),
            Operation::ToolCycle | Operation::Manual => false,
        };
        let open = self.state.checkpoints.iter().filter(|checkpoint| checkpoint.state == CheckpointState::Open);
        let over: Vec<&str> = open.filter(|open| is_over(open.operation)).map(|open| open.id.as_str()).collect();
        self.committing(&over)
    }

    fn committing(&self, ids: &[&str]) -> Vec<Record> {
        let commits = ids.iter().map(|id| Record::CheckpointCommit((*id).to_owned()));
        let events = ids.iter().filter_map(|id| self.event(IncidentKind::CheckpointCommitted, id));
        let dropping = if ids.is_empty() { None } else { self.dropping(ids) };
        commits.chain(events).chain(dropping).collect()
    }

    /// The record that drops the checkpoints over the limit once some are committed.
    fn dropping(&self, committing: &[&str]) -> Option<Record> {
        let is_committed = |checkpoint: &&seamline_store::Checkpoint| {
            let is_about_to_be =
                checkpoint.state == CheckpointState::Open && committing.contains(&checkpoint.id.as_str());
            checkpoint.state == CheckpointState::Committed || is_about_to_be
        };
        let committed: Vec<_> = self.state.checkpoints.iter().filter(is_committed).collect();
        let surplus = committed.len().saturating_sub(self.config.checkpoint_retention);
        // Those that cannot be gone back to any more are of no use to anybody.
        let is_spent = |state| matches!(state, CheckpointState::RolledBack | CheckpointState::Expired);
        let spent = self.state.checkpoints.iter().filter(|checkpoint| is_spent(checkpoint.state));
        let dropped = committed.into_iter().take(surplus).chain(spent);
        let ids: Vec<String> = dropped.map(|checkpoint| checkpoint.id.clone()).collect();
        if ids.is_empty() { None } else { Some(Record::CheckpointsDropped(Dropped { ids })) }
    }

    /// Where an error leads back to: the last open checkpoint, unless something was finished since, or others said
    /// something that could not be told from what it was made for. What was is never taken back without being named.
    pub(super) fn way_back(&self) -> Option<&seamline_store::Checkpoint> {
        self.state.latest_open().filter(|open| match open.operation {
            // It is committed together with the answer that it was made for.
            Operation::ApiCall => true,
            // Nothing was replaced yet, and the summary may still come.
            Operation::Compaction => false,
            // Nothing that it was made for is to be seen yet: what is, came from others meanwhile.
            Operation::ToolCycle | Operation::Manual => {
                self.state.view.len() == open.messages && self.stands_as_at(open)
            }
        })
    }

    /// Whether the messages that a checkpoint was made of stand as they stood.
    fn stands_as_at(&self, checkpoint: &seamline_store::Checkpoint) -> bool {
        let view = &self.state.view;
        view.len() >= checkpoint.messages && view.hash_of(checkpoint.messages) == checkpoint.hash
    }

    /// What came since a checkpoint was made. What a change put where others stood, or a late result behind its call, did
    /// not come since: it is what was there before, put right.
    pub(super) async fn since(&self, id: &str) -> Result<Since, SessionError> {
        let checkpoint = self.found(id)?;
        let (entries, made) = (self.entries(), checkpoint.seq);
        let later: HashSet<u64> = entries.iter().map(|entry| entry.seq).filter(|seq| *seq > made).collect();
        let changes = brought_by(self.store.as_ref(), &self.id, made, &later, is_change).await?;
        let is_change = |seq: &u64| changes.get(seq).copied().unwrap_or(false);
        let is_plain = self.stands_as_at(checkpoint) && !later.iter().any(is_change);
        let places: Vec<usize> = (0..entries.len()).filter(|at| entries[*at].seq > made).collect();
        let behind: Vec<&Raw> = places.iter().map(|at| &entries[*at].message).collect();
        // What cannot be read may be anybody's.
        let by_model = self.wire.by_model(&behind).unwrap_or_default();
        let mut since = Since { is_plain, ..Since::default() };
        for (number, at) in places.into_iter().enumerate() {
            let is_model = by_model.get(number).copied().unwrap_or(false) || entries[at].origin == Origin::Synthetic;
            let is_change = is_change(&entries[at].seq);
            // A result that was put behind a call of the answer goes with its call.
            if is_model && (!is_change || !since.taken.is_empty()) {
                since.taken.push(at);
            } else if !is_model && !is_change {
                since.spared.push(entries[at].message.clone());
            }
        }
        Ok(since)
    }

    /// Goes back to a checkpoint: what came after it is not to be seen any more. Nothing is erased. Its messages are
    /// checked against their hash first. Cycles that were begun after it are gone: that their calls may have done
    /// something is an incident, and [`Session::repair_context`] lists them.
    ///
    /// # Errors
    /// When there is none of that id, it was gone back behind, its messages are not those it was made for, or the store
    /// could not keep it.
    pub async fn rollback(&mut self, id: &str, reason: &str) -> Result<RollbackResult, SessionError> {
        self.roll_back(id, reason, Vec::new(), Vec::new()).await
    }

    /// Goes back to a checkpoint because of an error: what others said since stays, behind what was there before, and so
    /// do repairs and late results: they are not what went wrong.
    pub(super) async fn roll_back_answer(
        &mut self,
        id: &str,
        reason: &str,
        more: Vec<Record>,
    ) -> Result<RollbackResult, SessionError> {
        self.settle().await?;
        let Since { spared, taken, is_plain } = self.since(id).await?;
        if is_plain {
            self.roll_back(id, reason, spared, more).await
        } else {
            self.take_out(id, reason, &taken, more).await
        }
    }

    /// Takes messages out that came since a checkpoint, where more than that has changed since.
    async fn take_out(
        &mut self,
        id: &str,
        reason: &str,
        taken: &[usize],
        more: Vec<Record>,
    ) -> Result<RollbackResult, SessionError> {
        let seq = self.found(id)?.seq;
        let running: Vec<OpenCycle> = self.state.cycles.iter().filter(|cycle| cycle.seq >= seq).cloned().collect();
        let mut records: Vec<Record> = running.iter().flat_map(|cycle| Self::taking_back(cycle, reason)).collect();
        if !taken.is_empty() {
            let cut = |at: &usize| Cut { at: *at as u64, removed: 1, inserted: Vec::new() };
            let (cuts, report) = (taken.iter().map(cut).collect(), Some(Raw::of(&[Told { taken_back: reason }])?));
            records.push(Record::Repair(Repair { id: self.next_id("repair"), cuts, meant: Vec::new(), report }));
        }
        records.push(Record::CheckpointsDropped(Dropped { ids: vec![id.to_owned()] }));
        let mut incident = self.incident(IncidentKind::Rollback, IncidentSeverity::Warning, reason);
        incident.checkpoint = Some(id.to_owned());
        incident.count = taken.len() as u64;
        records.push(Record::Incident(incident));
        records.extend(self.forgotten(&running));
        records.extend(more);
        let ends_compaction = self.is_compaction_since(seq);
        self.keep_losing(records, ends_compaction, running.iter().flat_map(lost_with).collect()).await?;
        let new_message_count = self.state.view.len();
        Ok(RollbackResult { success: true, messages_removed: taken.len(), new_message_count })
    }

    async fn roll_back(
        &mut self,
        id: &str,
        reason: &str,
        spared: Vec<Raw>,
        more: Vec<Record>,
    ) -> Result<RollbackResult, SessionError> {
        self.settle().await?;
        let before = self.state.view.len();
        let rollback = Record::Rollback(Rollback { checkpoint: id.to_owned(), since: None, reason: reason.to_owned() });
        self.state.allows(&rollback)?;
        let &seamline_store::Checkpoint { messages: after, seq, .. } = self.found(id)?;
        let running: Vec<OpenCycle> = self.state.cycles.iter().filter(|cycle| cycle.seq >= seq).cloned().collect();
        let mut incident = self.incident(IncidentKind::Rollback, IncidentSeverity::Warning, reason);
        incident.checkpoint = Some(id.to_owned());
        incident.count = before.saturating_sub(after + spared.len()) as u64;
        let told = self.forgotten(&running);
        let spared = spared.into_iter().map(said);
        let records =
            std::iter::once(rollback).chain(spared).chain([Record::Incident(incident)]).chain(told).chain(more);
        let ends_compaction = self.is_compaction_since(seq);
        let lost = running.iter().flat_map(lost_with).collect();
        self.keep_losing(records.collect(), ends_compaction, lost).await?;
        let new_message_count = self.state.view.len();
        Ok(RollbackResult {
            success: true,
            messages_removed: before.saturating_sub(new_message_count),
            new_message_count,
        })
    }

    /// Whether the compaction that is going on was begun at or behind a place of the log.
    fn is_compaction_since(&self, seq: u64) -> bool {
        let mut open = self.state.checkpoints.iter().filter(|checkpoint| checkpoint.state == CheckpointState::Open);
        open.any(|open| open.operation == Operation::Compaction && open.seq >= seq)
    }

    /// The last checkpoint that is open: the only one that is gone back to without being named.
    pub fn latest_checkpoint(&self) -> Option<Checkpoint> {
        self.state.latest_open().map(|open| Checkpoint::of(&self.id, open))
    }

    /// A checkpoint.
    pub fn get_checkpoint(&self, id: &str) -> Option<Checkpoint> {
        self.found(id).ok().map(|found| Checkpoint::of(&self.id, found))
    }

    /// The checkpoints, from the first to the last.
    pub fn checkpoints(&self) -> Vec<Checkpoint> {
        self.state.checkpoints.iter().map(|kept| Checkpoint::of(&self.id, kept)).collect()
    }

    /// Forgets committed checkpoints but for the last `keep`, and says how many.
    ///
    /// # Errors
    /// When the store could not keep it.
    pub async fn prune_checkpoints(&mut self, keep: usize) -> Result<usize, SessionError> {
        self.settle().await?;
        let all = self.state.checkpoints.iter();
        let committed: Vec<_> = all.filter(|checkpoint| checkpoint.state == CheckpointState::Committed).collect();
        let surplus = committed.len().saturating_sub(keep);
        let ids: Vec<String> = committed.iter().take(surplus).map(|checkpoint| checkpoint.id.clone()).collect();
        self.drop_checkpoints(ids).await
    }

    /// Forgets all checkpoints, and says how many.
    ///
    /// # Errors
    /// When the store could not keep it.
    pub async fn clear_checkpoints(&mut self) -> Result<usize, SessionError> {
        self.settle().await?;
        let ids = self.state.checkpoints.iter().map(|checkpoint| checkpoint.id.clone()).collect();
        self.drop_checkpoints(ids).await
    }

    async fn drop_checkpoints(&mut self, ids: Vec<String>) -> Result<usize, SessionError> {
        let count = ids.len();
        if count > 0 {
            self.write(vec![Record::CheckpointsDropped(Dropped { ids })]).await?;
        }
        Ok(count)
    }
}

/// What is said of messages that were taken out.
#[derive(Serialize)]
struct Told<'a> {
    taken_back: &'a str,
}

/// Whether a record put messages where others stood. What only moved a cycle is still what the cycle brought.
fn is_change(record: &Record) -> bool {
    match record {
        Record::Repair(repair) => !is_move(repair),
        Record::Compact(_) => true,
        _ => false,
    }
}
