//! Checkpoints, rollbacks and resets.
//!
//! `plan` plans checkpoints and their commits, `rollback` the two kinds of rollback, `reset` the new start.

mod plan;
mod reset;
mod rollback;

use seamline_store::{
    CheckpointId, CheckpointRecord, CheckpointState, DroppedCheckpoints, Error, Hash, Operation, Raw, Record, Rejected,
    SessionId,
};
use serde::Serialize;

use super::facts::{Batch, Facts};
use super::{Session, SessionError};

pub use reset::{ResetOptions, ResetResult};

/// A checkpoint: a named place to roll back to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckpointInfo {
    /// The id of the checkpoint.
    pub id: CheckpointId,
    /// The name of its session.
    #[serde(rename = "sessionId")]
    pub session: SessionId,
    /// The time when it was made, in milliseconds since 1970.
    #[serde(rename = "timestamp")]
    pub at: u64,
    /// The number of messages in the view at that time.
    #[serde(rename = "messageIndex")]
    pub messages: usize,
    /// The hash of these messages.
    #[serde(rename = "contentHash")]
    pub hash: Hash,
    /// The operation that it was made for.
    pub operation: Operation,
    /// The state of the checkpoint.
    pub state: CheckpointState,
    /// The messages themselves, where the policy keeps them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Vec<Raw>>,
}

impl CheckpointInfo {
    fn of(session: &SessionId, stored: &seamline_store::Checkpoint) -> Self {
        let seamline_store::Checkpoint { id, at, messages, hash, operation, state, seq: _, snapshot } = stored.clone();
        Self { id, session: session.clone(), at, messages, hash, operation, state, snapshot }
    }

    /// The checkpoint that a record will make.
    fn planned(facts: &Facts<'_>, record: &Record) -> Option<Self> {
        let Record::Checkpoint(made) = record else { return None };
        let CheckpointRecord { id, operation, hash, snapshot, messages: _ } = made.clone();
        let (session, at, messages) = (facts.id.clone(), facts.now, facts.state.view.len());
        Some(Self { id, session, at, messages, hash, operation, state: CheckpointState::Open, snapshot })
    }
}

/// The outcome of a rollback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RollbackResult {
    /// Always true: a failure is an error.
    pub success: bool,
    /// The number of messages that left the view.
    pub messages_removed: usize,
    /// The number of messages in the view now.
    pub new_message_count: usize,
}

impl Session {
    /// Makes a checkpoint. It costs the same however long the session is, unless the policy keeps the messages with
    /// it. Messages of more than 128 MiB together are not kept with it: that is an incident, once.
    ///
    /// # Errors
    /// When the store failed.
    pub async fn create_checkpoint(&mut self, operation: Operation) -> Result<CheckpointInfo, SessionError> {
        self.settle().await?;
        let facts = self.facts();
        let (id, made) = facts.plan_checkpoint(operation);
        let records: Vec<Record> = facts.plan_drop_surplus(&[]).into_iter().chain(made).collect();
        let planned = records.iter().find_map(|record| CheckpointInfo::planned(&facts, record));
        self.write_checkpoint(Batch::of(records)).await?;
        let pending = || planned.map(|made| CheckpointInfo { at: self.log.pending_at().unwrap_or(made.at), ..made });
        let made = self.get_checkpoint(&id).or_else(pending);
        made.ok_or_else(|| Rejected::NoCheckpoint(id).into())
    }

    /// Commits a checkpoint: its operation is complete. Only the last few committed checkpoints are kept.
    ///
    /// # Errors
    /// When there is no such checkpoint, or the store failed.
    pub async fn commit_checkpoint(&mut self, id: &CheckpointId) -> Result<(), SessionError> {
        self.settle().await?;
        let records = self.facts().plan_commit(id)?;
        self.write(Batch::of(records)).await
    }

    /// Rolls back to a checkpoint: messages that came after it leave the view. Nothing is erased. The messages before it
    /// are checked against their hash first. Cycles that were begun after it are rolled back: an incident says that their
    /// calls may have run, and [`Session::repair_context`] lists them.
    ///
    /// # Errors
    /// When there is no such checkpoint, the session was rolled back behind it, the messages do not match its hash, or the
    /// store failed.
    pub async fn rollback(&mut self, id: &CheckpointId, reason: &str) -> Result<RollbackResult, SessionError> {
        self.settle().await?;
        let batch = self.facts().plan_rollback(id, reason, Vec::new(), Vec::new())?;
        let before = self.state.view.len();
        self.write(batch).await?;
        let new_message_count = self.state.view.len();
        let messages_removed = before.saturating_sub(new_message_count);
        Ok(RollbackResult { success: true, messages_removed, new_message_count })
    }

    /// The last open checkpoint, the only automatic rollback target.
    pub fn latest_checkpoint(&self) -> Option<CheckpointInfo> {
        self.state.latest_open().map(|open| CheckpointInfo::of(self.id(), open))
    }

    /// The checkpoint of this id.
    pub fn get_checkpoint(&self, id: &CheckpointId) -> Option<CheckpointInfo> {
        self.state.checkpoint_of(id).map(|found| CheckpointInfo::of(self.id(), found))
    }

    /// All checkpoints, from the first to the last.
    pub fn checkpoints(&self) -> Vec<CheckpointInfo> {
        self.state.checkpoints.iter().map(|stored| CheckpointInfo::of(self.id(), stored)).collect()
    }

    /// Drops committed checkpoints but for the last `keep`, and gives the number of those.
    ///
    /// # Errors
    /// When the store failed.
    pub async fn prune_checkpoints(&mut self, keep: usize) -> Result<usize, SessionError> {
        self.settle().await?;
        let ids = self.facts().plan_prune(keep);
        self.drop_checkpoints(ids).await
    }

    /// Drops all checkpoints, and gives the number of them.
    ///
    /// # Errors
    /// When the store failed.
    pub async fn clear_checkpoints(&mut self) -> Result<usize, SessionError> {
        self.settle().await?;
        let ids = self.state.checkpoints.iter().map(|checkpoint| checkpoint.id.clone()).collect();
        self.drop_checkpoints(ids).await
    }

    async fn drop_checkpoints(&mut self, ids: Vec<CheckpointId>) -> Result<usize, SessionError> {
        let count = ids.len();
        if count > 0 {
            self.write(Record::CheckpointsDropped(DroppedCheckpoints { ids }).into()).await?;
        }
        Ok(count)
    }

    /// Resets the session: only system messages stay, and no checkpoint or open cycle. This is the last resort. Nothing is
    /// erased: the records are in the log, and with [`archive`](ResetOptions::archive) another session keeps the view,
    /// under this one's name followed by `.archive-` and a number.
    ///
    /// # Errors
    /// When the conversation cannot be read, there are a hundred archives of this state already, or the store failed. The
    /// session is as it was then; an archive may have been made.
    pub async fn reset(&mut self, options: ResetOptions) -> Result<ResetResult, SessionError> {
        self.settle().await?;
        let archive = if options.archive && !self.entries().is_empty() { Some(self.archive().await?) } else { None };
        let batch = self.facts().plan_reset(archive.clone())?;
        self.write(batch).await?;
        let remaining_messages = self.state.view.len();
        Ok(ResetResult { success: true, archived: archive.is_some(), remaining_messages, archive })
    }

    /// Forks the session into a closed one of the first free archive name.
    async fn archive(&self) -> Result<SessionId, SessionError> {
        for name in self.facts().archive_names() {
            let id: SessionId = name.parse()?;
            match self.fork(id.clone()).await {
                // An earlier attempt made it, and the reset failed.
                Err(SessionError::Store(Error::Exists(_))) => {}
                forked => {
                    forked?.close().await?;
                    return Ok(id);
                }
            }
        }
        Err(self.facts().too_many_archives().into())
    }
}
