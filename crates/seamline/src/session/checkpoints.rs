//! Places to come back to.

use seamline_store::{
    Checkpoint, CheckpointRecord, CheckpointState, Dropped, IncidentKind, IncidentSeverity, Operation, Record,
    Rejected, Rollback,
};
use serde::Serialize;

use super::{Session, SessionError};

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

impl Session {
    /// Makes a place to come back to. It costs the same however long the session is, unless the configuration says to
    /// keep the messages with it.
    ///
    /// # Errors
    /// When the store could not keep it.
    pub async fn checkpoint(&mut self, operation: Operation) -> Result<Checkpoint, SessionError> {
        self.settle().await?;
        let record = self.checkpoint_record(operation);
        let id = record.id.clone();
        let event = self.event(IncidentKind::CheckpointCreated, &id);
        self.write(std::iter::once(Record::Checkpoint(record)).chain(event).collect()).await?;
        self.found(&id)
    }

    pub(super) fn checkpoint_record(&self, operation: Operation) -> CheckpointRecord {
        let view = &self.state.view;
        let snapshot = self.config.snapshot_messages;
        CheckpointRecord {
            id: self.next_id("ckpt"),
            operation,
            messages: view.len() as u64,
            hash: view.hash(),
            snapshot: snapshot.then(|| view.entries().iter().map(|entry| entry.message.clone()).collect()),
        }
    }

    pub(super) fn found(&self, id: &str) -> Result<Checkpoint, SessionError> {
        let checkpoint = self.state.checkpoint_of(id).cloned();
        checkpoint.ok_or_else(|| Rejected::NoCheckpoint(id.to_owned()).into())
    }

    /// Says that what a checkpoint was made for went well. Of the committed ones only the last few are kept.
    ///
    /// # Errors
    /// When there is none of that id, or the store could not keep it.
    pub async fn commit(&mut self, id: &str) -> Result<(), SessionError> {
        self.settle().await?;
        let mut records = self.commit_records(id)?;
        records.extend(self.event(IncidentKind::CheckpointCommitted, id));
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
        let commit = Record::CheckpointCommit(id.to_owned());
        self.state.allows(&commit)?;
        let mut records = vec![commit];
        let others = self.state.checkpoints.iter().filter(|checkpoint| checkpoint.id != id);
        let committed: Vec<_> = others.filter(|other| other.state == CheckpointState::Committed).collect();
        // The one that is about to be committed counts too.
        let surplus = (committed.len() + 1).saturating_sub(self.config.checkpoint_retention.max(1));
        // Those that cannot be gone back to any more are of no use to anybody.
        let is_spent = |state| matches!(state, CheckpointState::RolledBack | CheckpointState::Expired);
        let spent = self.state.checkpoints.iter().filter(|checkpoint| is_spent(checkpoint.state));
        let dropped = committed.into_iter().take(surplus).chain(spent);
        let ids: Vec<String> = dropped.map(|checkpoint| checkpoint.id.clone()).collect();
        if !ids.is_empty() {
            records.push(Record::CheckpointsDropped(Dropped { ids }));
        }
        Ok(records)
    }

    /// Goes back to a checkpoint: what came after it is not to be seen any more. Nothing is erased. Its messages are
    /// checked against their hash first.
    ///
    /// # Errors
    /// When there is none of that id, it was gone back behind, its messages are not those it was made for, or the store
    /// could not keep it.
    pub async fn rollback(&mut self, id: &str, reason: &str) -> Result<RollbackResult, SessionError> {
        self.roll_back(id, reason, Vec::new()).await
    }

    pub(super) async fn roll_back(
        &mut self,
        id: &str,
        reason: &str,
        more: Vec<Record>,
    ) -> Result<RollbackResult, SessionError> {
        self.settle().await?;
        let before = self.state.view.len();
        let rollback = Record::Rollback(Rollback { checkpoint: id.to_owned(), since: None, reason: reason.to_owned() });
        self.state.allows(&rollback)?;
        let after = self.found(id)?.messages;
        let mut incident = self.incident(IncidentKind::Rollback, IncidentSeverity::Warning, reason);
        incident.checkpoint = Some(id.to_owned());
        incident.count = before.saturating_sub(after) as u64;
        let records = [rollback, Record::Incident(incident)].into_iter().chain(more).collect();
        self.write(records).await?;
        let new_message_count = self.state.view.len();
        Ok(RollbackResult {
            success: true,
            messages_removed: before.saturating_sub(new_message_count),
            new_message_count,
        })
    }

    /// The last checkpoint that is open: the only one that is gone back to without being named.
    pub fn latest_checkpoint(&self) -> Option<&Checkpoint> {
        self.state.latest_open()
    }

    /// A checkpoint.
    pub fn get_checkpoint(&self, id: &str) -> Option<&Checkpoint> {
        self.state.checkpoint_of(id)
    }

    /// The checkpoints, from the first to the last.
    pub fn checkpoints(&self) -> &[Checkpoint] {
        &self.state.checkpoints
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
