//! The state of a session: a pure fold over its records.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::changes::{Changes, Swap};
use crate::checkpoint::{Checkpoint, CheckpointState};
use crate::cycle::{CallState, CycleStep, OpenCall, OpenCycle, PendingCompensation};
use crate::id::{CallId, CheckpointId, CycleId, RepairId};
use crate::incident::{Incident, RejectedMembers};
use crate::naming::{self, Accuracy, Places};
use crate::raw::Raw;
use crate::record::{
    AcceptedFinding, Begin, CheckpointRecord, Compact, Compensated, CycleEnd, CycleRecord, EntryId, Insert, Intent,
    Meant, Origin, Record, RenamedCall, RepairRecord, Reset, Rollback, Staged, Switch, Turn,
};
use crate::rejected::{CallStep, Rejected, SpentCheckpoint};
use crate::repairs::{Applied, Repairs};
use crate::view::{Entry, EntrySource, View, hash_of};

/// The number of incidents in memory; the log has the earlier ones.
const INCIDENTS_MAX: usize = 1_000;

/// The state that the records of a session give.
///
/// The same records give the same state. The fold skips and counts a record that does not fit; writers ask
/// [`State::allows`] first, so that they write none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// The first record of the session.
    pub begin: Option<Begin>,
    /// The last change of the dialect or the provider.
    pub switch: Option<Switch>,
    /// The policy of the session, if a record has one.
    pub policy: Option<Raw>,
    /// How often it started over.
    pub generation: u32,
    /// The messages that a provider gets.
    pub view: View,
    /// The cycles that are neither committed nor rolled back.
    pub cycles: Vec<OpenCycle>,
    /// The checkpoints, from the first to the last.
    pub checkpoints: Vec<Checkpoint>,
    /// The findings that the caller accepted.
    pub accepted: Vec<AcceptedFinding>,
    /// The tool calls that have another id than before, from the first to the last.
    pub renamed: Vec<RenamedCall>,
    /// The calls that were about to be undone, and whose outcome is not recorded.
    pub compensations: Vec<PendingCompensation>,
    /// The latest incidents, from the first to the last.
    pub incidents: VecDeque<Incident>,
    /// The members that the provider rejected, as incidents name them.
    pub rejected: RejectedMembers,
    /// The number of records of unknown kinds.
    pub unknown: u64,
    /// The number of records that did not fit, or only in part.
    pub skipped: u64,
    /// Whether earlier records are lost. Later records are then applied to the messages that they name, as far as these
    /// exist.
    has_gaps: bool,
    /// The repairs that can be undone; the last one is undone first.
    repairs: Repairs,
    /// The changes since the first checkpoint that can be a rollback target.
    changes: Changes,
}

impl State {
    /// Applies a record.
    pub fn apply(&mut self, seq: u64, at: u64, record: &Record) {
        let fits = if self.has_gaps { self.fits(record) } else { self.allows(record).is_ok() };
        if !fits {
            self.skipped += 1;
            return;
        }
        match record {
            Record::Begin(begin) => {
                self.policy = begin.policy.clone().or(self.policy.take());
                self.begin = Some(begin.clone());
            }
            Record::Message(record) => self.show(seq, EntrySource::Message, std::iter::once(record.clone().into())),
            Record::Turn(turn) => self.begin_cycle(seq, turn),
            Record::Intent(intent) => self.start_call(at, intent),
            Record::Staged(staged) => self.finish_call(staged),
            Record::Cycle(cycle) => self.end_cycle(seq, cycle),
            Record::CycleEnd(end) => self.discard_cycle(end),
            Record::Compensated(done) => self.compensate(done),
            Record::Accepted(accepted) => self.accepted.clone_from(&accepted.findings),
            Record::Checkpoint(record) => self.checkpoint(seq, at, record),
            Record::CheckpointCommit(id) => self.set_checkpoint(id, CheckpointState::Committed),
            Record::CheckpointsDropped(dropped) => {
                self.checkpoints.retain(|checkpoint| !dropped.ids.contains(&checkpoint.id));
                self.forget_changes();
            }
            Record::Rollback(rollback) => self.roll_back(rollback),
            Record::Repair(repair) => self.repair(seq, repair),
            Record::Undo(_) => self.undo(seq),
            Record::Compact(compact) => self.compact(seq, compact),
            Record::Incident(incident) => self.note(incident),
            Record::Inbox(_) => {}
            Record::Reset(reset) => self.reset(reset),
            Record::Switch(switch) => self.switch = Some(switch.clone()),
            Record::Policy(record) => self.policy = Some(record.policy.clone()),
            Record::Renamed(renamed) => self.renamed.extend(renamed.calls.iter().cloned()),
            Record::Unknown(_) => self.unknown += 1,
            Record::Unreadable(_) => self.skipped += 1,
        }
    }

    /// Checks that a record fits.
    ///
    /// # Errors
    /// Returns the reason why it does not fit.
    pub fn allows(&self, record: &Record) -> Result<(), Rejected> {
        match record {
            Record::Turn(turn) if self.cycle(&turn.cycle).is_some() => Err(Rejected::CycleExists(turn.cycle.clone())),
            Record::Intent(intent) => {
                self.allows_call(&intent.cycle, &intent.call, CallStep::Start)?;
                self.allows_steps(&intent.cycle, &[CycleStep::Start])
            }
            Record::Staged(staged) => {
                self.allows_call(&staged.cycle, &staged.call, CallStep::Finish)?;
                self.allows_steps(&staged.cycle, &[self.step_of_result(&staged.cycle)])
            }
            // The record has the results of all calls, so it also is the last step before the commit.
            Record::Cycle(CycleRecord { cycle, .. }) => {
                self.allows_steps(cycle, &[CycleStep::Record, CycleStep::Commit])
            }
            Record::CycleEnd(end) => self.allows_steps(&end.cycle, &[CycleStep::RollBack]),
            // A rollback checks the messages of its checkpoint: after damage, the checkpoint may exist without its
            // messages.
            Record::Checkpoint(record) if self.checkpoint_of(&record.id).is_some() => {
                Err(Rejected::CheckpointExists(record.id.clone()))
            }
            Record::CheckpointCommit(id) => self.open_checkpoint(id).map(|_| ()),
            Record::Rollback(rollback) => self.allows_rollback(rollback),
            Record::Repair(repair) => self.allows_repair(repair),
            Record::Undo(undo) if self.last_repair() == Some(&undo.repair) => self.needs_rest(),
            Record::Undo(undo) => Err(Rejected::NoRepair(undo.repair.clone())),
            Record::Compact(compact) => self.allows_compact(compact),
            Record::Reset(reset) => self.allows_reset(reset),
            Record::Begin(_)
            | Record::Message(_)
            | Record::Turn(_)
            | Record::Checkpoint(_)
            | Record::CheckpointsDropped(_)
            | Record::Accepted(_)
            | Record::Compensated(_)
            | Record::Incident(_)
            | Record::Inbox(_)
            | Record::Switch(_)
            | Record::Policy(_)
            | Record::Renamed(_)
            | Record::Unknown(_)
            | Record::Unreadable(_) => Ok(()),
        }
    }

    /// Marks earlier records as lost: later records are applied to the messages that they name.
    pub(crate) fn expect_gaps(&mut self) {
        self.has_gaps = true;
    }

    /// Whether a stored record can be applied although earlier records are lost. Its writer asked [`State::allows`] of
    /// the undamaged state.
    fn fits(&self, record: &Record) -> bool {
        match record {
            Record::Rollback(rollback) => {
                let found = self.checkpoint_of(&rollback.checkpoint);
                // The messages are expected to differ here; the rollback still removes the later ones.
                found.map_or(rollback.since.is_some(), |found| {
                    is_live(found.state) && rollback.since.is_none_or(|since| since == found.seq)
                })
            }
            Record::Repair(_) | Record::Compact(_) | Record::Reset(_) => true,
            Record::Undo(undo) => self.last_repair() == Some(&undo.repair),
            Record::Begin(_)
            | Record::Message(_)
            | Record::Turn(_)
            | Record::Intent(_)
            | Record::Staged(_)
            | Record::Cycle(_)
            | Record::CycleEnd(_)
            | Record::Checkpoint(_)
            | Record::CheckpointCommit(_)
            | Record::CheckpointsDropped(_)
            | Record::Accepted(_)
            | Record::Compensated(_)
            | Record::Incident(_)
            | Record::Inbox(_)
            | Record::Switch(_)
            | Record::Policy(_)
            | Record::Renamed(_)
            | Record::Unknown(_)
            | Record::Unreadable(_) => self.allows(record).is_ok(),
        }
    }

    /// The open cycle of this id.
    pub fn cycle(&self, id: &CycleId) -> Option<&OpenCycle> {
        self.cycles.iter().find(|cycle| cycle.id == *id)
    }

    /// The checkpoint of this id.
    pub fn checkpoint_of(&self, id: &CheckpointId) -> Option<&Checkpoint> {
        self.checkpoints.iter().find(|checkpoint| checkpoint.id == *id)
    }

    /// The last open checkpoint, the only automatic rollback target.
    pub fn latest_open(&self) -> Option<&Checkpoint> {
        self.checkpoints.iter().rev().find(|checkpoint| checkpoint.state == CheckpointState::Open)
    }

    /// The id of the last repair, if an undo can revert it.
    pub fn last_repair(&self) -> Option<&RepairId> {
        self.repairs.last()
    }

    /// Checks that a cycle is open, and that these steps may follow its state.
    fn allows_steps(&self, id: &CycleId, steps: &[CycleStep]) -> Result<(), Rejected> {
        let state = self.cycle(id).map(OpenCycle::state);
        let after = steps.iter().fold(state, |state, step| state?.after(*step));
        after.map(|_| ()).ok_or_else(|| Rejected::NoCycle(id.clone()))
    }

    /// The step that one more result is for a cycle.
    fn step_of_result(&self, id: &CycleId) -> CycleStep {
        let calls = self.cycle(id).into_iter().flat_map(|cycle| &cycle.calls);
        let open = calls.filter(|call| !matches!(call.state, CallState::Finished { .. })).count();
        if open > 1 { CycleStep::Stage } else { CycleStep::Record }
    }

    fn needs_rest(&self) -> Result<(), Rejected> {
        if self.cycles.is_empty() { Ok(()) } else { Err(Rejected::InFlight) }
    }

    fn allows_call(&self, cycle: &CycleId, call: &CallId, step: CallStep) -> Result<(), Rejected> {
        let open = self.cycle(cycle).ok_or_else(|| Rejected::NoCycle(cycle.clone()))?;
        let is_unfinished = |open: &OpenCall| !matches!(open.state, CallState::Finished { .. });
        if open.calls.iter().any(|open| open.id == *call && is_unfinished(open)) {
            return Ok(());
        }
        Err(Rejected::Call { cycle: cycle.clone(), call: call.clone(), step })
    }

    fn open_checkpoint(&self, id: &CheckpointId) -> Result<&Checkpoint, Rejected> {
        let checkpoint = self.checkpoint_of(id).ok_or_else(|| Rejected::NoCheckpoint(id.clone()))?;
        match checkpoint.state {
            CheckpointState::Open | CheckpointState::Committed => Ok(checkpoint),
            CheckpointState::RolledBack => Err(Rejected::CheckpointSpent(id.clone(), SpentCheckpoint::RolledBack)),
            CheckpointState::Expired => Err(Rejected::CheckpointSpent(id.clone(), SpentCheckpoint::Expired)),
        }
    }

    fn allows_rollback(&self, rollback: &Rollback) -> Result<(), Rejected> {
        let (id, checkpoint) = (&rollback.checkpoint, self.open_checkpoint(&rollback.checkpoint)?);
        let mismatch = || Rejected::Mismatch(id.clone());
        if rollback.since.is_some_and(|since| since != checkpoint.seq) {
            return Err(mismatch());
        }
        let changed = self.changes.any_since(checkpoint.seq);
        let earlier = changed.then(|| self.changes.view_before(&self.view, checkpoint.seq));
        let entries = earlier.as_deref().unwrap_or(self.view.entries());
        let made_of = entries.get(..checkpoint.messages).ok_or_else(mismatch)?;
        let hash = if changed { hash_of(made_of.iter()) } else { self.view.hash_of(checkpoint.messages) };
        let is_last = entries.get(checkpoint.messages).is_none_or(|later| later.seq > checkpoint.seq);
        let snapshot = checkpoint.snapshot.as_ref();
        let is_same = snapshot.is_none_or(|snapshot| snapshot.iter().eq(made_of.iter().map(|entry| &entry.message)));
        if hash == checkpoint.hash && is_last && is_same { Ok(()) } else { Err(mismatch()) }
    }

    fn allows_repair(&self, repair: &RepairRecord) -> Result<(), Rejected> {
        let messages = self.view.len();
        let mut free = 0;
        for cut in &repair.cuts {
            let end = cut.at.checked_add(cut.removed).filter(|end| *end <= messages as u64);
            match end {
                Some(end) if cut.at >= free => free = end,
                _ => return Err(Rejected::Place { place: cut.at, messages }),
            }
        }
        let mut meant = repair.cuts.iter().zip(&repair.meant);
        let wrong = meant.find(|(cut, meant)| !self.is_meant(cut.at, cut.at + cut.removed, meant));
        if repair.meant.is_empty() || (wrong.is_none() && repair.meant.len() == repair.cuts.len()) {
            return self.needs_rest();
        }
        Err(Rejected::Place { place: wrong.map_or(0, |(cut, _)| cut.at), messages })
    }

    fn allows_compact(&self, compact: &Compact) -> Result<(), Rejected> {
        let Compact { from, to, meant, .. } = compact;
        let messages = self.view.len();
        let place = if from > to { Some(*from) } else { Some(*to).filter(|to| *to > messages as u64) };
        let other = || meant.as_ref().is_some_and(|meant| !self.is_meant(*from, *to, meant)).then_some(*from);
        let wrong = place.or_else(other);
        wrong.map_or_else(|| self.needs_rest(), |place| Err(Rejected::Place { place, messages }))
    }

    /// Whether a range of the view is the one that is meant.
    fn is_meant(&self, from: u64, to: u64, meant: &Meant) -> bool {
        self.view.meant(from as usize..to as usize).as_ref() == Some(meant)
    }

    fn allows_reset(&self, reset: &Reset) -> Result<(), Rejected> {
        let messages = self.view.len();
        let in_order = reset.kept.windows(2).all(|pair| pair[0] < pair[1]);
        let last = reset.kept.last().copied().unwrap_or(0);
        let wrong = !in_order || (last >= messages as u64 && !reset.kept.is_empty());
        let entries = self.view.entries();
        let is_meant = |(place, id): (&u64, &EntryId)| entries.get(*place as usize).map(Entry::id) == Some(*id);
        let other = !reset.meant.is_empty()
            && (reset.meant.len() != reset.kept.len() || !reset.kept.iter().zip(&reset.meant).all(is_meant));
        if wrong || other { Err(Rejected::Place { place: last, messages }) } else { Ok(()) }
    }

    fn show(&mut self, seq: u64, source: EntrySource, messages: impl Iterator<Item = Insert>) {
        for (part, Insert { message, origin, dialect, synthetic_results }) in (0..).zip(messages) {
            self.view.push(Entry { seq, part, message, origin, source, dialect, synthetic_results });
        }
    }

    fn begin_cycle(&mut self, seq: u64, turn: &Turn) {
        let calls = turn.calls.iter().map(|call| OpenCall {
            id: call.id.clone(),
            tool: call.tool.clone(),
            effect: call.effect,
            arguments: call.arguments,
            state: CallState::Pending,
        });
        self.cycles.push(OpenCycle {
            id: turn.cycle.clone(),
            seq,
            checkpoint: turn.checkpoint.clone(),
            turn: std::iter::once(&turn.message).chain(&turn.more).cloned().collect(),
            calls: calls.collect(),
            dialect: turn.dialect.clone(),
        });
    }

    fn call(&mut self, cycle: &CycleId, call: &CallId) -> Option<&mut OpenCall> {
        let cycle = self.cycles.iter_mut().find(|open| open.id == *cycle)?;
        // Where ids repeat, the first unfinished call is meant.
        cycle.calls.iter_mut().find(|open| open.id == *call && !matches!(open.state, CallState::Finished { .. }))
    }

    fn start_call(&mut self, at: u64, intent: &Intent) {
        if let Some(call) = self.call(&intent.cycle, &intent.call) {
            call.state = CallState::Started { at, key: intent.key.clone() };
        }
    }

    fn finish_call(&mut self, staged: &Staged) {
        if let Some(call) = self.call(&staged.cycle, &staged.call) {
            call.state = staged.into();
        }
    }

    fn end_cycle(&mut self, seq: u64, record: &CycleRecord) {
        let Some(place) = self.cycles.iter().position(|cycle| cycle.id == record.cycle) else { return };
        let cycle = self.cycles.remove(place);
        let (origin, dialect) = (Origin::Said, &cycle.dialect);
        let turn = cycle.turn.into_iter().map(|message| Insert::new(message, origin, dialect.clone()));
        self.show(seq, EntrySource::Cycle, turn.chain(record.results.iter().cloned()));
    }

    fn discard_cycle(&mut self, end: &CycleEnd) {
        let Some(place) = self.cycles.iter().position(|cycle| cycle.id == end.cycle) else { return };
        let cycle = self.cycles.remove(place);
        self.compensations.extend(cycle.pending_compensations(&end.undoing));
    }

    fn compensate(&mut self, done: &Compensated) {
        let is_it = |pending: &PendingCompensation| pending.cycle == done.cycle && pending.call == done.call;
        // Where calls share an id, the last one is undone first.
        if let Some(place) = self.compensations.iter().rposition(is_it) {
            self.compensations.remove(place);
        }
    }

    fn checkpoint(&mut self, seq: u64, at: u64, record: &CheckpointRecord) {
        self.view.hash_all();
        self.checkpoints.push(Checkpoint {
            id: record.id.clone(),
            at,
            messages: record.messages as usize,
            hash: record.hash,
            operation: record.operation,
            state: CheckpointState::Open,
            seq,
            snapshot: record.snapshot.clone(),
        });
    }

    fn set_checkpoint(&mut self, id: &CheckpointId, state: CheckpointState) {
        self.checkpoints.iter_mut().filter(|checkpoint| checkpoint.id == *id).for_each(|found| found.state = state);
    }

    /// Restores the view as it was when the checkpoint was made, as far as it is readable.
    fn roll_back(&mut self, rollback: &Rollback) {
        let found = self.checkpoint_of(&rollback.checkpoint).map(|checkpoint| checkpoint.seq);
        let Some(made) = found.or(rollback.since) else { return };
        if self.changes.any_since(made) {
            self.view.replace(self.changes.view_before(&self.view, made));
            self.repairs.go_back(made);
        } else {
            self.view.truncate_to(made);
        }
        self.changes.forget_since(made);
        self.cycles.retain(|cycle| cycle.seq < made);
        for later in &mut self.checkpoints {
            if later.seq > made && is_live(later.state) {
                later.state = CheckpointState::Expired;
            }
        }
        self.set_checkpoint(&rollback.checkpoint, CheckpointState::RolledBack);
        self.forget_changes();
    }

    fn repair(&mut self, seq: u64, repair: &RepairRecord) {
        self.renamed.extend(repair.renamed.iter().cloned());
        let patches = naming::of_repair(&self.view, self.has_gaps, seq, repair);
        let swaps = self.change(seq, patches);
        self.repairs.push(Applied { id: repair.id.clone(), seq, swaps });
    }

    fn undo(&mut self, seq: u64) {
        let Some(last) = self.repairs.pop(seq) else { return };
        self.change(seq, Places { patches: last.swaps.iter().map(Swap::back).collect(), accuracy: Accuracy::Certain });
    }

    fn compact(&mut self, seq: u64, compact: &Compact) {
        let patches = naming::of_compact(&self.view, self.has_gaps, seq, compact);
        while self.repairs.pop(seq).is_some() {}
        self.change(seq, patches);
    }

    fn change(&mut self, seq: u64, Places { patches, accuracy }: Places) -> Arc<[Swap]> {
        self.skipped += u64::from(accuracy == Accuracy::Guessed);
        let swaps = self.changes.make(&mut self.view, seq, patches);
        self.forget_changes();
        swaps
    }

    fn reset(&mut self, reset: &Reset) {
        let (kept, accuracy) = naming::of_reset(&self.view, self.has_gaps, reset);
        self.skipped += u64::from(accuracy == Accuracy::Guessed);
        self.view.replace(kept);
        self.generation += 1;
        self.accepted.clear();
        self.cycles.clear();
        self.checkpoints.clear();
        self.repairs = Repairs::default();
        self.changes.clear();
    }

    fn note(&mut self, incident: &Incident) {
        if let Some(rejected) = &incident.rejected {
            self.rejected.extend(rejected);
        }
        if self.incidents.len() == INCIDENTS_MAX {
            self.incidents.pop_front();
        }
        self.incidents.push_back(incident.clone());
    }

    /// Forgets changes that no rollback needs. Where records are lost, the target of a rollback may be among them.
    fn forget_changes(&mut self) {
        if self.has_gaps {
            return;
        }
        let first = self.checkpoints.iter().find(|checkpoint| is_live(checkpoint.state));
        let up_to = first.map_or(u64::MAX, |checkpoint| checkpoint.seq);
        self.changes.forget_up_to(up_to);
        self.repairs.forget_up_to(up_to);
    }
}

fn is_live(state: CheckpointState) -> bool {
    matches!(state, CheckpointState::Open | CheckpointState::Committed)
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
