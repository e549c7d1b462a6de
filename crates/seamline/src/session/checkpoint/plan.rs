//! Plans checkpoints and their commits.

use seamline_store::{
    COMMIT_BYTES_MAX, Checkpoint, CheckpointId, CheckpointRecord, CheckpointState, DroppedCheckpoints, Incident,
    IncidentKind, IncidentSeverity, Operation, Record,
};

use crate::session::SessionError;
use crate::session::facts::Facts;

/// The most bytes of the messages that are kept with a checkpoint: one commit holds them and the operation's records.
const SNAPSHOT_BYTES_MAX: usize = COMMIT_BYTES_MAX / 2;

impl Facts<'_> {
    /// Plans a checkpoint, and gives its id.
    pub(in crate::session) fn plan_checkpoint(&self, operation: Operation) -> (CheckpointId, Vec<Record>) {
        let view = &self.state.view;
        let snapshot = self.config().snapshot_messages && self.fits_snapshot();
        let id = CheckpointId::from(self.next_id("ckpt"));
        let record = Record::Checkpoint(CheckpointRecord {
            id: id.clone(),
            operation,
            messages: view.len() as u64,
            hash: view.hash(),
            snapshot: snapshot.then(|| self.messages().cloned().collect()),
        });
        let event = self.event(IncidentKind::CheckpointCreated, &id);
        let too_large = self.snapshot_incident();
        (id, std::iter::once(record).chain(event).chain(too_large).collect())
    }

    /// Whether all messages together are small enough to be kept with a checkpoint.
    fn fits_snapshot(&self) -> bool {
        self.messages().map(|message| message.as_bytes().len() + 1).sum::<usize>() <= SNAPSHOT_BYTES_MAX
    }

    /// The incident that messages are too large to be kept with checkpoints, once.
    fn snapshot_incident(&self) -> Option<Record> {
        if !self.config().snapshot_messages || self.fits_snapshot() {
            return None;
        }
        let (kind, severity) = (IncidentKind::SnapshotTooLarge, IncidentSeverity::Warning);
        // Version 0.1 recorded it as a checkpoint that was created, with the severity of a warning.
        let earlier = (IncidentKind::CheckpointCreated, severity);
        let is_known = |incident: &Incident| incident.kind == kind || (incident.kind, incident.severity) == earlier;
        if self.state.incidents.iter().any(is_known) {
            return None;
        }
        let detail = format!("checkpoints go without messages that have more than {SNAPSHOT_BYTES_MAX} bytes together");
        Some(Record::Incident(self.incident(kind, severity, detail)))
    }

    /// An event that is recorded only where the policy asks for all events.
    fn event(&self, kind: IncidentKind, checkpoint: &CheckpointId) -> Option<Record> {
        let mut incident = self.incident(kind, IncidentSeverity::Info, "");
        incident.checkpoint = Some(checkpoint.clone());
        self.config().verbose.then_some(Record::Incident(incident))
    }

    /// Plans the commit of a checkpoint.
    pub(in crate::session) fn plan_commit(&self, id: &CheckpointId) -> Result<Vec<Record>, SessionError> {
        self.state.allows(&Record::CheckpointCommit(id.clone()))?;
        Ok(self.plan_commits(&[id]))
    }

    /// Plans the commit of the checkpoints that a response ends: those of requests, and those of compactions that do not
    /// go on. None of them is an automatic rollback target from now on, for that would be behind the response.
    pub(in crate::session) fn plan_response_arrived(&self) -> Vec<Record> {
        let is_over = |operation| match operation {
            Operation::ApiCall => true,
            Operation::Compaction => self.work.compaction.is_none(),
            Operation::ToolCycle | Operation::Manual => false,
        };
        let open = self.state.checkpoints.iter().filter(|checkpoint| checkpoint.state == CheckpointState::Open);
        let over: Vec<&CheckpointId> = open.filter(|open| is_over(open.operation)).map(|open| &open.id).collect();
        self.plan_commits(&over)
    }

    fn plan_commits(&self, ids: &[&CheckpointId]) -> Vec<Record> {
        let commits = ids.iter().map(|id| Record::CheckpointCommit((*id).clone()));
        let events = ids.iter().filter_map(|id| self.event(IncidentKind::CheckpointCommitted, id));
        let surplus = if ids.is_empty() { None } else { self.plan_drop_surplus(ids) };
        commits.chain(events).chain(surplus).collect()
    }

    /// Plans to drop the checkpoints over the limit once these are committed.
    pub(in crate::session) fn plan_drop_surplus(&self, committing: &[&CheckpointId]) -> Option<Record> {
        let is_committed = |checkpoint: &&Checkpoint| {
            let is_committing = checkpoint.state == CheckpointState::Open && committing.contains(&&checkpoint.id);
            checkpoint.state == CheckpointState::Committed || is_committing
        };
        let committed: Vec<_> = self.state.checkpoints.iter().filter(is_committed).collect();
        let surplus = committed.len().saturating_sub(self.config().checkpoint_retention);
        // A checkpoint that is not a rollback target any more is of no use.
        let is_spent = |state| matches!(state, CheckpointState::RolledBack | CheckpointState::Expired);
        let spent = self.state.checkpoints.iter().filter(|checkpoint| is_spent(checkpoint.state));
        let dropped = committed.into_iter().take(surplus).chain(spent);
        let ids: Vec<CheckpointId> = dropped.map(|checkpoint| checkpoint.id.clone()).collect();
        if ids.is_empty() { None } else { Some(Record::CheckpointsDropped(DroppedCheckpoints { ids })) }
    }

    /// Plans to drop committed checkpoints but for the last `keep`.
    pub(super) fn plan_prune(&self, keep: usize) -> Vec<CheckpointId> {
        let all = self.state.checkpoints.iter();
        let committed: Vec<_> = all.filter(|checkpoint| checkpoint.state == CheckpointState::Committed).collect();
        let surplus = committed.len().saturating_sub(keep);
        committed.iter().take(surplus).map(|checkpoint| checkpoint.id.clone()).collect()
    }

    /// The checkpoint of this id.
    pub(in crate::session) fn checkpoint(&self, id: &CheckpointId) -> Result<&Checkpoint, SessionError> {
        let checkpoint = self.state.checkpoint_of(id);
        checkpoint.ok_or_else(|| seamline_store::Rejected::NoCheckpoint(id.clone()).into())
    }
}
