//! Plans repairs of stored messages, and their undo.

use std::collections::HashSet;
use std::ops::Range;

use seamline_store::{
    Cut, IncidentKind, IncidentSeverity, Insert, Origin, Raw, Record, Repair, RepairId, RepairKind, Undo,
};
use serde::Serialize;

use super::validation::kept;
use crate::policy::{TrailingCall, UnansweredCall};
use crate::repair::{RepairAction, Repaired};
use crate::session::facts::{Batch, Facts};
use crate::session::wire::Wire;
use crate::session::{PersistRepairs, Refusal, SessionError};
use crate::{Finding, Options};

/// The outcome of a repair.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RepairResult {
    /// Whether any message changed.
    pub repaired: bool,
    /// The id of the repair, where it was recorded.
    pub id: Option<RepairId>,
    /// The actions of the repair.
    pub repairs: Vec<RepairAction>,
    /// The findings that are left. Requests add synthetic results; a repair does so only where the configuration says so.
    pub remaining: Vec<Finding>,
    /// The messages after the repair, byte for byte.
    pub messages: Vec<Raw>,
}

impl Facts<'_> {
    /// Plans a repair of the view with these options, and the batch that records as much of it as `persist` allows.
    pub(in crate::session) fn plan_repair(
        &self,
        options: &Options,
        persist: PersistRepairs,
    ) -> Result<(RepairResult, Option<Batch>), SessionError> {
        self.require_no_open_cycle()?;
        let options = stored_options(self.wire, options, persist);
        let rendered = self.wire.rendered(self.entries())?;
        let messages: Vec<Raw> = rendered.entries().iter().map(|entry| entry.message.clone()).collect();
        let body = self.wire.body("{}", messages.iter())?;
        let repaired = crate::repair(&body, &options)?;
        let new = self.wire.repaired(&messages, &repaired)?;
        // Only messages are stored: a change of anything else is not a repair of them.
        let is_changed = new != messages;
        let mut result = RepairResult {
            repaired: is_changed,
            id: None,
            repairs: if is_changed { repaired.actions.clone() } else { Vec::new() },
            remaining: repaired.remaining.clone(),
            messages: new.clone(),
        };
        let is_mixed = !self.entries().iter().all(|entry| self.wire.is_own(entry));
        if !is_changed || is_mixed || persist == PersistRepairs::Never {
            return Ok((result, None));
        }
        let mut cuts = cuts(&messages, &new, &repaired);
        let inserted = cuts.iter_mut().flat_map(|cut| &mut cut.inserted);
        inserted.for_each(|insert| insert.dialect = self.wire.mark());
        self.correct_origins(&mut cuts)?;
        let (batch, id) = self.plan_repair_record(RepairKind::Fix, cuts, &repaired.actions)?;
        result.id = Some(id);
        Ok((result, Some(batch)))
    }

    /// Plans the record of a repair and its incident.
    pub(in crate::session) fn plan_repair_record(
        &self,
        kind: RepairKind,
        cuts: Vec<Cut>,
        actions: &[RepairAction],
    ) -> Result<(Batch, RepairId), SessionError> {
        let id = RepairId::from(self.next_id("repair"));
        let (meant, report) = (Vec::new(), Some(Raw::of(actions)?));
        let repair = Record::Repair(Repair { id: id.clone(), kind, cuts, meant, report });
        self.state.allows(&repair)?;
        let mut incident = self.incident(IncidentKind::Repair, IncidentSeverity::Warning, id.to_string());
        incident.count = actions.len().max(1) as u64;
        Ok((Batch::of(vec![repair, Record::Incident(incident)]), id))
    }

    /// Plans the undo of the last repair.
    pub(in crate::session) fn plan_undo(&self) -> Result<(Batch, RepairId), SessionError> {
        let id = self.state.last_repair().cloned().ok_or(Refusal::NoRepair)?;
        let undo = Record::Undo(Undo { repair: id.clone() });
        self.state.allows(&undo)?;
        let incident = self.incident(IncidentKind::Undo, IncidentSeverity::Info, id.to_string());
        Ok((Batch::of(vec![undo, Record::Incident(incident)]), id))
    }

    /// Corrects origins: a block that a repair moved keeps its origin, though its message is new.
    fn correct_origins(&self, cuts: &mut [Cut]) -> Result<(), SessionError> {
        let inserts = || cuts.iter().flat_map(|cut| &cut.inserted);
        if inserts().all(|insert| insert.origin == Origin::Said) {
            return Ok(());
        }
        let gone = cuts.iter().flat_map(|cut| self.entries().iter().skip(cut.at as usize).take(cut.removed as usize));
        let gone: Vec<&Raw> = gone.filter(|entry| entry.origin == Origin::Said).map(|entry| &entry.message).collect();
        let (body, said) = self.blocks(gone.into_iter())?;
        let said: HashSet<&[u8]> = said.into_iter().map(|span| &body[span]).collect();
        let made_up = cuts.iter_mut().flat_map(|cut| &mut cut.inserted).filter(|it| it.origin == Origin::Synthetic);
        for insert in made_up {
            let (body, blocks) = self.blocks(std::iter::once(&insert.message))?;
            if blocks.into_iter().any(|span| said.contains(&body[span])) {
                insert.origin = Origin::Said;
            }
        }
        Ok(())
    }

    /// A body of these messages, and the spans of its blocks.
    fn blocks<'m>(
        &self,
        messages: impl Iterator<Item = &'m Raw> + Clone,
    ) -> Result<(Vec<u8>, Vec<Range<usize>>), SessionError> {
        if messages.clone().next().is_none() {
            return Ok((Vec::new(), Vec::new()));
        }
        let body = self.wire.body("{}", messages)?;
        let outline = crate::outline(&body, &self.wire.options, 0..usize::MAX)?;
        let spans = outline.into_iter().flat_map(|message| message.blocks).map(|block| block.span).collect();
        Ok((body, spans))
    }
}

/// Leaves a call without a result as it is: requests add one.
const LEFT: UnansweredCall = UnansweredCall::Rollback;

/// The options for the repair of stored messages: calls at the end may still get their result, and synthetic results are
/// left to requests unless the configuration says otherwise.
pub(in crate::session) fn stored_options(wire: &Wire, options: &Options, persist: PersistRepairs) -> Options {
    let mut options = kept(options);
    let makes_up = options.policy.repair_for(wire.provider()).unanswered_call == UnansweredCall::Synthesize;
    options.policy.set_for_all("trailing_call", |repair| repair.trailing_call = TrailingCall::AllowPending);
    if makes_up && persist == PersistRepairs::RealMovesOnly {
        options.policy.set_for_all("unanswered_call", |repair| repair.unanswered_call = LEFT);
    }
    options
}

/// The changes of a repair, by the message that each new one comes from.
fn cuts(old: &[Raw], new: &[Raw], repaired: &Repaired<'_>) -> Vec<Cut> {
    if repaired.origins.len() != new.len() {
        return changed(old, new);
    }
    let mut cuts = Vec::new();
    let (mut at, mut inserted) = (0, Vec::new());
    for (message, origin) in new.iter().zip(&repaired.origins) {
        let stays = origin.filter(|&from| from >= at && old.get(from) == Some(message));
        if let Some(from) = stays {
            cut(&mut cuts, at, from, &mut inserted);
            at = from + 1;
        } else {
            let origin = if origin.is_none() { Origin::Synthetic } else { Origin::Said };
            inserted.push(Insert { message: message.clone(), origin, dialect: None });
        }
    }
    cut(&mut cuts, at, old.len(), &mut inserted);
    cuts
}

fn cut(cuts: &mut Vec<Cut>, at: usize, to: usize, inserted: &mut Vec<Insert>) {
    if to > at || !inserted.is_empty() {
        cuts.push(Cut { at: at as u64, removed: (to - at) as u64, inserted: std::mem::take(inserted) });
    }
}

/// The change between the common start and the common end of two lists.
fn changed(old: &[Raw], new: &[Raw]) -> Vec<Cut> {
    let front = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let most = old.len().min(new.len()) - front;
    let back = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(one, other)| one == other).count();
    let inserted = new[front..new.len() - back].iter();
    let insert = |message: &Raw| Insert { message: message.clone(), origin: Origin::Said, dialect: None };
    let inserted = inserted.map(insert).collect();
    vec![Cut { at: front as u64, removed: (old.len() - back - front) as u64, inserted }]
}
