//! The state of a session: a pure fold over its records.

use std::collections::VecDeque;

use crate::checkpoint::{Checkpoint, CheckpointState};
use crate::cycle::{CallState, OpenCall, OpenCycle};
use crate::incident::Incident;
use crate::record::{
    Begin, CheckpointRecord, Compact, Cut, CycleRecord, Insert, Intent, Origin, Record, Repair, Reset, Rollback,
    Staged, Turn,
};
use crate::view::{Entry, Patch, View};

/// How many incidents are at hand; earlier ones are in the log.
const INCIDENTS_MAX: usize = 1_000;

/// What the records of a session make of it.
///
/// The same records make the same state. A record that does not fit is passed over and counted; whoever writes asks
/// [`State::allows`] first, so that none is written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// How it began.
    pub begin: Option<Begin>,
    /// How often it started over.
    pub generation: u32,
    /// What is to be seen.
    pub view: View,
    /// The cycles that are not whole yet.
    pub cycles: Vec<OpenCycle>,
    /// The checkpoints, from the first to the last.
    pub checkpoints: Vec<Checkpoint>,
    /// What happened to its integrity, from the first to the last.
    pub incidents: VecDeque<Incident>,
    /// Records of kinds that are not known here.
    pub unknown: u64,
    /// Records that did not fit.
    pub passed_over: u64,
    /// The repairs that can be taken back, the last one first to go.
    repairs: Vec<Applied>,
    /// What was to be seen before messages that stood were changed, for checkpoints made before that.
    earlier: Vec<(u64, View)>,
}

/// A repair that can be taken back.
#[derive(Debug, Clone, PartialEq)]
struct Applied {
    id: String,
    /// Where each cut is now, how many messages it put there, and what stood there.
    cuts: Vec<(usize, usize, Vec<Entry>)>,
}

/// Why a record does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// There is no such checkpoint.
    #[error("Checkpoint not found: {0}")]
    NoCheckpoint(String),
    /// There is one of that id.
    #[error("there is a checkpoint {0} already")]
    CheckpointExists(String),
    /// It was come back to, or an earlier one was.
    #[error("checkpoint {0} is {1}, and so cannot be used")]
    CheckpointSpent(String, &'static str),
    /// The messages are not those that it was made for.
    #[error("Checkpoint integrity mismatch — messages were modified")]
    Mismatch(String),
    /// There is no such cycle.
    #[error("there is no open cycle {0}")]
    NoCycle(String),
    /// There is one of that id.
    #[error("there is a cycle {0} already")]
    CycleExists(String),
    /// The cycle has no such call, or it is past that.
    #[error("call {call} of cycle {cycle} cannot be {what}")]
    Call {
        /// The cycle.
        cycle: String,
        /// The call.
        call: String,
        /// What was wanted.
        what: &'static str,
    },
    /// There is no such repair, or other changes came after it.
    #[error("repair {0} cannot be taken back: it is not the last change")]
    NoRepair(String),
    /// A place is not in the view.
    #[error("there are {messages} messages, and {place} is not among them")]
    Place {
        /// What was named.
        place: u64,
        /// How many messages there are.
        messages: usize,
    },
    /// Cycles are open, so what is to be seen may not be changed.
    #[error("tools are running: what is to be seen cannot be changed now")]
    InFlight,
}

impl State {
    /// Takes a record in.
    pub fn apply(&mut self, seq: u64, at: u64, record: &Record) {
        if self.allows(record).is_err() {
            self.passed_over += 1;
            return;
        }
        match record {
            Record::Begin(begin) => self.begin = Some(begin.clone()),
            Record::Message(record) => self.show(seq, record.message.clone(), record.origin),
            Record::Turn(turn) => self.begin_cycle(seq, turn),
            Record::Intent(intent) => self.start_call(at, intent),
            Record::Staged(staged) => self.finish_call(staged),
            Record::Cycle(cycle) => self.end_cycle(seq, cycle),
            Record::CycleEnd(end) => self.cycles.retain(|cycle| cycle.id != end.cycle),
            Record::Checkpoint(record) => self.checkpoint(seq, at, record),
            Record::CheckpointCommit(id) => self.set_checkpoint(id, CheckpointState::Committed),
            Record::CheckpointsDropped(dropped) => {
                self.checkpoints.retain(|checkpoint| !dropped.ids.contains(&checkpoint.id));
                self.forget_views();
            }
            Record::Rollback(rollback) => self.roll_back(rollback),
            Record::Repair(repair) => self.repair(seq, repair),
            Record::Undo(_) => self.undo(seq),
            Record::Compact(compact) => self.compact(seq, compact),
            Record::Incident(incident) => self.note(incident),
            Record::Inbox(_) => {}
            Record::Reset(reset) => self.reset(reset),
            Record::Unknown(_) => self.unknown += 1,
        }
    }

    /// Whether a record fits.
    ///
    /// # Errors
    /// Why it does not.
    pub fn allows(&self, record: &Record) -> Result<(), Rejected> {
        match record {
            Record::Turn(turn) if self.cycle(&turn.cycle).is_some() => Err(Rejected::CycleExists(turn.cycle.clone())),
            Record::Intent(intent) => self.allows_call(&intent.cycle, &intent.call, "started", |state| {
                matches!(state, CallState::Pending | CallState::Started { .. })
            }),
            Record::Staged(staged) => self.allows_call(&staged.cycle, &staged.call, "finished", |state| {
                !matches!(state, CallState::Finished { .. })
            }),
            Record::Cycle(CycleRecord { cycle, .. }) => self.needs_cycle(cycle),
            Record::CycleEnd(end) => self.needs_cycle(&end.cycle),
            // What it was made of is checked when it is gone back to: after damage the checkpoint is there, and its
            // messages may not be.
            Record::Checkpoint(record) if self.checkpoint_of(&record.id).is_some() => {
                Err(Rejected::CheckpointExists(record.id.clone()))
            }
            Record::CheckpointCommit(id) => self.open_checkpoint(id).map(|_| ()),
            Record::Rollback(rollback) => self.restored(&rollback.checkpoint).map(|_| ()),
            Record::Repair(repair) => self.allows_cuts(&repair.cuts),
            Record::Undo(undo) => match self.repairs.last() {
                Some(last) if last.id == undo.repair => self.needs_rest(),
                _ => Err(Rejected::NoRepair(undo.repair.clone())),
            },
            Record::Compact(Compact { from, to, .. }) => {
                let messages = self.view.len();
                let place = if from > to { Some(*from) } else { Some(*to).filter(|to| *to > messages as u64) };
                place.map_or_else(|| self.needs_rest(), |place| Err(Rejected::Place { place, messages }))
            }
            Record::Reset(reset) => self.allows_reset(reset),
            _ => Ok(()),
        }
    }

    /// An open cycle.
    pub fn cycle(&self, id: &str) -> Option<&OpenCycle> {
        self.cycles.iter().find(|cycle| cycle.id == id)
    }

    /// A checkpoint.
    pub fn checkpoint_of(&self, id: &str) -> Option<&Checkpoint> {
        self.checkpoints.iter().find(|checkpoint| checkpoint.id == id)
    }

    /// The last checkpoint that is open: the only one that is come back to without being named.
    pub fn latest_open(&self) -> Option<&Checkpoint> {
        self.checkpoints.iter().rev().find(|checkpoint| checkpoint.state == CheckpointState::Open)
    }

    /// The id of the last repair that can be taken back.
    pub fn last_repair(&self) -> Option<&str> {
        self.repairs.last().map(|repair| repair.id.as_str())
    }

    fn needs_cycle(&self, id: &str) -> Result<(), Rejected> {
        self.cycle(id).map(|_| ()).ok_or_else(|| Rejected::NoCycle(id.to_owned()))
    }

    fn needs_rest(&self) -> Result<(), Rejected> {
        if self.cycles.is_empty() { Ok(()) } else { Err(Rejected::InFlight) }
    }

    fn allows_call(
        &self,
        cycle: &str,
        call: &str,
        what: &'static str,
        fits: impl Fn(&CallState) -> bool,
    ) -> Result<(), Rejected> {
        self.needs_cycle(cycle)?;
        let calls = self.cycle(cycle).into_iter().flat_map(|cycle| &cycle.calls);
        if calls.filter(|open| open.id == call).any(|open| fits(&open.state)) {
            return Ok(());
        }
        Err(Rejected::Call { cycle: cycle.to_owned(), call: call.to_owned(), what })
    }

    fn open_checkpoint(&self, id: &str) -> Result<&Checkpoint, Rejected> {
        let checkpoint = self.checkpoint_of(id).ok_or_else(|| Rejected::NoCheckpoint(id.to_owned()))?;
        match checkpoint.state {
            CheckpointState::Open | CheckpointState::Committed => Ok(checkpoint),
            CheckpointState::RolledBack => Err(Rejected::CheckpointSpent(id.to_owned(), "rolled back")),
            CheckpointState::Expired => Err(Rejected::CheckpointSpent(id.to_owned(), "expired")),
        }
    }

    /// What a checkpoint was made of: how many messages of which view.
    fn restored(&self, id: &str) -> Result<(&View, &Checkpoint), Rejected> {
        let checkpoint = self.open_checkpoint(id)?;
        let earlier = self.earlier.iter().find(|(seq, _)| *seq > checkpoint.seq).map(|(_, view)| view);
        let view = earlier.unwrap_or(&self.view);
        let mismatch = || Rejected::Mismatch(id.to_owned());
        if view.len() < checkpoint.messages || view.hash_of(checkpoint.messages) != checkpoint.hash {
            return Err(mismatch());
        }
        let snapshot = checkpoint.snapshot.as_ref();
        let is_same = snapshot.is_none_or(|snapshot| {
            let kept = view.entries().iter().take(checkpoint.messages).map(|entry| &entry.message);
            snapshot.iter().eq(kept)
        });
        if is_same { Ok((view, checkpoint)) } else { Err(mismatch()) }
    }

    fn allows_cuts(&self, cuts: &[Cut]) -> Result<(), Rejected> {
        let messages = self.view.len();
        let mut free = 0;
        for cut in cuts {
            let end = cut.at.checked_add(cut.removed).filter(|end| *end <= messages as u64);
            match end {
                Some(end) if cut.at >= free => free = end,
                _ => return Err(Rejected::Place { place: cut.at, messages }),
            }
        }
        self.needs_rest()
    }

    fn allows_reset(&self, reset: &Reset) -> Result<(), Rejected> {
        let messages = self.view.len();
        let in_order = reset.kept.windows(2).all(|pair| pair[0] < pair[1]);
        let last = reset.kept.last().copied().unwrap_or(0);
        let wrong = !in_order || (last >= messages as u64 && !reset.kept.is_empty());
        if wrong { Err(Rejected::Place { place: last, messages }) } else { Ok(()) }
    }

    fn show(&mut self, seq: u64, message: crate::raw::Raw, origin: Origin) {
        self.view.push(Entry { seq, message, origin });
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
        });
    }

    fn call(&mut self, cycle: &str, call: &str) -> Option<&mut OpenCall> {
        let cycle = self.cycles.iter_mut().find(|open| open.id == cycle)?;
        // Where ids repeat, the first that is not finished is meant.
        cycle.calls.iter_mut().find(|open| open.id == call && !matches!(open.state, CallState::Finished { .. }))
    }

    fn start_call(&mut self, at: u64, intent: &Intent) {
        if let Some(call) = self.call(&intent.cycle, &intent.call) {
            call.state = CallState::Started { at, key: intent.key.clone() };
        }
    }

    fn finish_call(&mut self, staged: &Staged) {
        if let Some(call) = self.call(&staged.cycle, &staged.call) {
            call.state = CallState::Finished { result: staged.result.clone(), failed: staged.failed };
        }
    }

    fn end_cycle(&mut self, seq: u64, record: &CycleRecord) {
        let Some(place) = self.cycles.iter().position(|cycle| cycle.id == record.cycle) else { return };
        let cycle = self.cycles.remove(place);
        for message in cycle.turn {
            self.show(seq, message, Origin::Said);
        }
        for Insert { message, origin } in &record.results {
            self.show(seq, message.clone(), *origin);
        }
    }

    fn checkpoint(&mut self, seq: u64, at: u64, record: &CheckpointRecord) {
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

    fn set_checkpoint(&mut self, id: &str, state: CheckpointState) {
        self.checkpoints.iter_mut().filter(|checkpoint| checkpoint.id == id).for_each(|found| found.state = state);
    }

    /// What is to be seen now need not be remembered: a checkpoint that can still be gone back to is an earlier one, and
    /// made of the beginning that stays, or of a view that is remembered already.
    fn roll_back(&mut self, rollback: &Rollback) {
        let Ok((view, checkpoint)) = self.restored(&rollback.checkpoint) else { return };
        let (made, messages) = (checkpoint.seq, checkpoint.messages);
        if !std::ptr::eq(view, &raw const self.view) {
            self.view = view.clone();
        }
        self.view.truncate(messages);
        self.repairs.clear();
        self.cycles.retain(|cycle| cycle.seq < made);
        for later in &mut self.checkpoints {
            let is_live = matches!(later.state, CheckpointState::Open | CheckpointState::Committed);
            if later.seq > made && is_live {
                later.state = CheckpointState::Expired;
            }
        }
        self.set_checkpoint(&rollback.checkpoint, CheckpointState::RolledBack);
        self.forget_views();
    }

    fn repair(&mut self, seq: u64, repair: &Repair) {
        self.remember(seq);
        let patch = |cut: &Cut| Patch {
            at: cut.at as usize,
            removed: cut.removed as usize,
            inserted: cut.inserted.iter().map(|insert| entry(seq, insert)).collect(),
        };
        let gone = self.view.splice(repair.cuts.iter().map(patch).collect());
        // Places are those before the repair; what earlier cuts put in and took out moves the later ones.
        let (mut put_in, mut taken_out) = (0, 0);
        let cuts = repair.cuts.iter().zip(gone).map(|(cut, gone)| {
            let (at, count) = (cut.at as usize + put_in - taken_out, cut.inserted.len());
            put_in += count;
            taken_out += gone.len();
            (at, count, gone)
        });
        self.repairs.push(Applied { id: repair.id.clone(), cuts: cuts.collect() });
    }

    fn undo(&mut self, seq: u64) {
        let Some(last) = self.repairs.pop() else { return };
        self.remember(seq);
        let patches = last.cuts.into_iter().map(|(at, removed, inserted)| Patch { at, removed, inserted });
        self.view.splice(patches.collect());
    }

    fn compact(&mut self, seq: u64, compact: &Compact) {
        self.remember(seq);
        let (at, removed) = (compact.from as usize, (compact.to - compact.from) as usize);
        let summary =
            compact.summary.iter().map(|message| Entry { seq, message: message.clone(), origin: Origin::Summary });
        self.view.splice(vec![Patch { at, removed, inserted: summary.collect() }]);
        self.repairs.clear();
    }

    fn reset(&mut self, reset: &Reset) {
        let kept = reset.kept.iter().filter_map(|place| self.view.entries().get(*place as usize).cloned());
        self.view = kept.collect();
        self.generation += 1;
        self.cycles.clear();
        self.checkpoints.clear();
        self.repairs.clear();
        self.earlier.clear();
    }

    fn note(&mut self, incident: &Incident) {
        if self.incidents.len() == INCIDENTS_MAX {
            self.incidents.pop_front();
        }
        self.incidents.push_back(incident.clone());
    }

    /// Keeps what is to be seen now for the checkpoints made before `seq`.
    fn remember(&mut self, seq: u64) {
        self.earlier.push((seq, self.view.clone()));
        self.forget_views();
    }

    /// Forgets the views that no checkpoint is made of: each is made of the first one after it.
    fn forget_views(&mut self) {
        let live = |state| matches!(state, CheckpointState::Open | CheckpointState::Committed);
        let made: Vec<u64> = self.checkpoints.iter().filter(|found| live(found.state)).map(|found| found.seq).collect();
        let mut from = 0;
        self.earlier.retain(|(seq, _)| {
            let needed = made.iter().any(|made| (from..*seq).contains(made));
            from = *seq;
            needed
        });
    }
}

fn entry(seq: u64, insert: &Insert) -> Entry {
    Entry { seq, message: insert.message.clone(), origin: insert.origin }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
