//! Plans rollbacks: all that came after a checkpoint, or after an error only the model's part of it.

use seamline_store::{
    Checkpoint, CheckpointId, CheckpointState, Cut, DroppedCheckpoints, Entry, IncidentKind, IncidentSeverity,
    MessageRecord, OpenCycle, Operation, Origin, Raw, Record, Rejected, RepairKind, RepairRecord, Rollback,
};
use serde::Serialize;

use crate::session::SessionError;
use crate::session::cycle::roll_back::{Compensation, end_records};
use crate::session::facts::{Batch, CompactionFate, Facts};
use crate::session::host::context::lost_calls;

/// The messages that came since a checkpoint was made.
#[derive(Debug, Default)]
pub(in crate::session) struct Since {
    /// Messages of the user. An error does not remove them.
    spared: Vec<MessageRecord>,
    /// The indices of the messages of the model and its tools.
    pub(in crate::session) removed: Vec<usize>,
    /// Whether they follow the messages of the checkpoint, and nothing else has changed.
    is_plain: bool,
}

/// The report of a repair that removes messages.
#[derive(Serialize)]
struct Report<'a> {
    taken_back: &'a str,
}

impl Facts<'_> {
    /// The automatic rollback target after an error: the last open checkpoint. There is none if a cycle was committed since,
    /// or if a message since then may be the user's and not a part of the operation.
    pub(in crate::session) fn rollback_target(&self) -> Option<&Checkpoint> {
        self.state.latest_open().filter(|open| match open.operation {
            // It is committed together with the response that it was made for.
            Operation::ApiCall => true,
            // Nothing was replaced yet, and the summary may still come.
            Operation::Compaction => false,
            // Nothing of its operation is in the view yet.
            Operation::ToolCycle | Operation::Manual => {
                self.state.view.len() == open.messages && self.is_unchanged_since(open)
            }
        })
    }

    /// Whether the messages of a checkpoint are unchanged.
    fn is_unchanged_since(&self, checkpoint: &Checkpoint) -> bool {
        let view = &self.state.view;
        view.len() >= checkpoint.messages && view.hash_of(checkpoint.messages) == checkpoint.hash
    }

    /// Whether the messages of a checkpoint do not match its hash, and no repair or compaction explains it.
    pub(in crate::session) fn is_corrupt(&self, id: &CheckpointId) -> bool {
        let rollback = Rollback { checkpoint: id.clone(), since: None, reason: String::new() };
        matches!(self.state.allows(&Record::Rollback(rollback)), Err(Rejected::Mismatch(_)))
    }

    /// The messages that came since a checkpoint. Messages that a repair replaced, and late results, did not come since:
    /// they are corrections of earlier ones.
    pub(in crate::session) fn since(&self, id: &CheckpointId) -> Result<Since, SessionError> {
        let checkpoint = self.checkpoint(id)?;
        let (entries, made) = (self.entries(), checkpoint.seq);
        let indices: Vec<usize> = (0..entries.len()).filter(|at| entries[*at].seq > made).collect();
        let is_changed = indices.iter().any(|at| entries[*at].source.is_change());
        let is_plain = self.is_unchanged_since(checkpoint) && !is_changed;
        let later: Vec<&Entry> = indices.iter().map(|at| &entries[*at]).collect();
        // A message that cannot be read may be the user's.
        let by_model = self.wire.by_model(&later).unwrap_or_default();
        let mut since = Since { is_plain, ..Since::default() };
        for (number, at) in indices.into_iter().enumerate() {
            let is_model = by_model.get(number).copied().unwrap_or(false) || entries[at].origin == Origin::Synthetic;
            let is_change = entries[at].source.is_change();
            // A result that was put behind a call of the response goes with its call.
            if is_model && (!is_change || !since.removed.is_empty()) {
                since.removed.push(at);
            } else if !is_model && !is_change {
                let (message, dialect) = (entries[at].message.clone(), entries[at].dialect.clone());
                since.spared.push(MessageRecord::new(message, Origin::Said, dialect));
            }
        }
        Ok(since)
    }

    /// Plans a rollback after an error: messages of the user, repairs and late results that came since stay. Where there
    /// is nothing to remove and no cycle to end, it only plans `more` and spends no checkpoint, apart from that of the
    /// request, which is over. Gives the number of messages that are removed, those of open cycles included.
    pub(in crate::session) fn plan_rollback_response(
        &self,
        id: &CheckpointId,
        reason: &str,
        more: Vec<Record>,
    ) -> Result<(Batch, usize), SessionError> {
        let count = self.removed_since(id)?;
        let Since { spared, removed, is_plain } = self.since(id)?;
        let is_request = self.checkpoint(id)?.operation == Operation::ApiCall;
        if count == 0 && !is_request {
            return Ok((Batch::of(more), count));
        }
        let batch = if is_plain {
            self.plan_rollback(id, reason, spared, more)?
        } else {
            self.plan_remove(id, reason, &removed, more)?
        };
        Ok((batch, count))
    }

    /// Plans a rollback to a checkpoint, after which the spared messages are appended again.
    pub(in crate::session) fn plan_rollback(
        &self,
        id: &CheckpointId,
        reason: &str,
        spared: Vec<MessageRecord>,
        more: Vec<Record>,
    ) -> Result<Batch, SessionError> {
        let rollback = Record::Rollback(Rollback { checkpoint: id.clone(), since: None, reason: reason.to_owned() });
        self.state.allows(&rollback)?;
        let &Checkpoint { messages: after, seq, .. } = self.checkpoint(id)?;
        let cycles = self.cycles_since(seq);
        let mut incident = self.incident(IncidentKind::Rollback, IncidentSeverity::Warning, reason);
        incident.checkpoint = Some(id.clone());
        incident.count = self.state.view.len().saturating_sub(after + spared.len()) as u64;
        let mut records = vec![rollback];
        records.extend(spared.into_iter().map(Record::Message));
        records.push(Record::Incident(incident));
        records.extend(self.discarded_incidents(&cycles));
        records.extend(more);
        let lost = cycles.iter().flat_map(lost_calls).collect();
        Ok(Batch::of(records).losing(lost).with_compaction(self.compaction_since(seq)))
    }

    /// Plans the removal of single messages that came since a checkpoint, where more than that has changed since.
    fn plan_remove(
        &self,
        id: &CheckpointId,
        reason: &str,
        removed: &[usize],
        more: Vec<Record>,
    ) -> Result<Batch, SessionError> {
        let seq = self.checkpoint(id)?.seq;
        let cycles = self.cycles_since(seq);
        let end = |cycle| end_records(cycle, reason, Compensation::Impossible);
        let mut records: Vec<Record> = cycles.iter().flat_map(end).collect();
        if !removed.is_empty() {
            let cut = |at: &usize| Cut { at: *at as u64, removed: 1, inserted: Vec::new() };
            let (cuts, report) = (removed.iter().map(cut).collect(), Some(Raw::of(&[Report { taken_back: reason }])?));
            let (id, kind) = (self.next_id("repair").into(), RepairKind::Fix);
            records.push(Record::Repair(RepairRecord {
                id,
                kind,
                cuts,
                meant: Vec::new(),
                renamed: Vec::new(),
                report,
            }));
        }
        records.push(Record::CheckpointsDropped(DroppedCheckpoints { ids: vec![id.clone()] }));
        let mut incident = self.incident(IncidentKind::Rollback, IncidentSeverity::Warning, reason);
        incident.checkpoint = Some(id.clone());
        incident.count = removed.len() as u64;
        records.push(Record::Incident(incident));
        records.extend(self.discarded_incidents(&cycles));
        records.extend(more);
        let lost = cycles.iter().flat_map(lost_calls).collect();
        Ok(Batch::of(records).losing(lost).with_compaction(self.compaction_since(seq)))
    }

    /// The number of messages that a rollback after an error removes: those of the model and its tools, and the turns of
    /// open cycles.
    pub(in crate::session) fn removed_since(&self, id: &CheckpointId) -> Result<usize, SessionError> {
        let begun = self.cycles_since(self.checkpoint(id)?.seq);
        Ok(self.since(id)?.removed.len() + begun.iter().map(|cycle| cycle.turn.len()).sum::<usize>())
    }

    /// The open cycles that were begun after a record.
    fn cycles_since(&self, seq: u64) -> Vec<OpenCycle> {
        self.state.cycles.iter().filter(|cycle| cycle.seq >= seq).cloned().collect()
    }

    /// Whether a compaction that was begun at or after a record ends with a rollback behind it.
    fn compaction_since(&self, seq: u64) -> CompactionFate {
        let mut open = self.state.checkpoints.iter().filter(|checkpoint| checkpoint.state == CheckpointState::Open);
        if open.any(|open| open.operation == Operation::Compaction && open.seq >= seq) {
            CompactionFate::Ends
        } else {
            CompactionFate::GoesOn
        }
    }
}
