//! Plans repairs of stored messages, and their undo.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use seamline_dialects::providers;
use seamline_rules::policy::Left;
use seamline_store::{
    Cut, IncidentKind, IncidentSeverity, Insert, Origin, Raw, Record, RepairId, RepairKind, RepairRecord, Undo,
};
use serde::Serialize;

use super::validation::kept;
use crate::outline::{OutlineKind, OutlineMessage};
use crate::policy::{TrailingCall, UnansweredCall};
use crate::repair::{RepairAction, Repaired};
use crate::session::facts::{Batch, Facts};
use crate::session::wire::{Rendered, Wire};
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

/// The view after a repair that is not recorded yet.
struct Fixed<'e> {
    /// The messages before the repair, in the current dialect.
    rendered: Rendered<'e>,
    /// The messages after the repair.
    messages: Vec<Raw>,
    /// The changes of the rendered messages.
    cuts: Vec<Cut>,
    actions: Vec<RepairAction>,
    remaining: Vec<Finding>,
}

impl<'s> Facts<'s> {
    /// Plans a repair of the view with these options, and the batch that records as much of it as `persist` allows.
    pub(in crate::session) fn plan_repair(
        &self,
        options: &Options,
        persist: PersistRepairs,
    ) -> Result<(RepairResult, Option<Batch>), SessionError> {
        self.require_no_open_cycle()?;
        let stored = stored_options(self.wire, options, persist);
        let mut fixed = self.fix(&stored)?;
        if persist == PersistRepairs::RealMovesOnly {
            let body = self.wire.body("{}", fixed.messages.iter())?;
            fixed.remaining = crate::check(&body, &pending(options))?.findings;
        }
        let planned = match persist {
            PersistRepairs::Never => None,
            PersistRepairs::RealMovesOnly | PersistRepairs::All => self.plan_fix(&fixed, &stored)?,
        };
        let (batch, id) = planned.unzip();
        let Fixed { messages, cuts, actions, remaining, .. } = fixed;
        // Only messages are stored: a change of anything else is not a repair of them.
        let repairs = if cuts.is_empty() { Vec::new() } else { actions };
        Ok((RepairResult { repaired: !cuts.is_empty(), id, repairs, remaining, messages }, batch))
    }

    /// Repairs the view in memory.
    fn fix(&self, options: &Options) -> Result<Fixed<'s>, SessionError> {
        let rendered = self.wire.rendered(self.entries())?;
        let old: Vec<Raw> = rendered.entries().iter().map(|entry| entry.message.clone()).collect();
        let body = self.wire.body("{}", old.iter())?;
        let repaired = crate::repair(&body, options)?;
        let messages = self.wire.repaired(&old, &repaired)?;
        let cuts = if messages == old { Vec::new() } else { cuts(&old, &messages, &repaired) };
        Ok(Fixed { rendered, messages, cuts, actions: repaired.actions, remaining: repaired.remaining })
    }

    /// Plans the record of the changes of stored messages.
    fn plan_fix(&self, fixed: &Fixed<'_>, options: &Options) -> Result<Option<(Batch, RepairId)>, SessionError> {
        let mut cuts: Vec<Cut> = fixed.cuts.iter().filter_map(|cut| fixed.rendered.stored_cut(cut)).collect();
        if cuts.is_empty() {
            return Ok(None);
        }
        let inserted = cuts.iter_mut().flat_map(|cut| &mut cut.inserted);
        inserted.for_each(|insert| insert.dialect = self.wire.mark());
        self.correct_origins(&mut cuts)?;
        let planned = self.plan_repair_record(RepairKind::Fix, cuts.clone(), &fixed.actions)?;
        if fixed.rendered.is_stored() {
            return Ok(Some(planned));
        }
        if !self.answers_stored_calls(&cuts)? {
            return Ok(None);
        }
        let Some(left) = self.left_after(&planned.0, fixed, options)? else { return Ok(None) };
        let mut actions = fixed.actions.clone();
        for left in &left {
            let same = |action: &RepairAction| (action.code, &action.call_id) == (left.code, &left.call_id);
            if let Some(at) = actions.iter().position(same) {
                actions.remove(at);
            }
        }
        self.plan_repair_record(RepairKind::Fix, cuts, &actions).map(Some)
    }

    /// Whether each inserted result names a call by its stored id. A rendered call may have another id.
    fn answers_stored_calls(&self, cuts: &[Cut]) -> Result<bool, SessionError> {
        let inserted: Vec<&Raw> = cuts.iter().flat_map(|cut| &cut.inserted).map(|insert| &insert.message).collect();
        if inserted.is_empty() {
            return Ok(true);
        }
        let stored = self.wire.outline_each(&self.entries().iter().collect::<Vec<_>>())?;
        let inserted = self.wire.outline(&inserted)?;
        let ids = |outline: &[OutlineMessage], kind: OutlineKind| -> HashSet<String> {
            let blocks = outline.iter().flat_map(|message| &message.blocks).filter(|block| block.kind == kind);
            blocks.filter_map(|block| block.id.clone()).collect()
        };
        Ok(ids(&inserted, OutlineKind::Result).is_subset(&ids(&stored, OutlineKind::Call)))
    }

    /// The actions that are left to requests once a part of a repair is recorded; none where that part must not be recorded.
    /// A request must be the same before and after it, and no dialect of the session may get more errors: a result may
    /// name its call by an id that only the rendered call has.
    fn left_after(
        &self,
        batch: &Batch,
        fixed: &Fixed<'_>,
        options: &Options,
    ) -> Result<Option<Vec<RepairAction>>, SessionError> {
        let (mut state, mut records) = (self.state.clone(), batch.records.clone());
        state.name(&mut records);
        (self.next..).zip(&records).for_each(|(seq, record)| state.apply(seq, self.now, record));
        let after = Facts { state: &state, ..*self };
        let again = after.fix(options)?;
        if again.messages != fixed.messages {
            return Ok(None);
        }
        let dialects: BTreeSet<_> = self.entries().iter().map(|entry| entry.dialect.as_ref()).collect();
        for dialect in dialects {
            let wire = self.wire.speaking(dialect)?;
            if wire.count_errors(after.entries())? > wire.count_errors(self.entries())? {
                return Ok(None);
            }
        }
        Ok(Some(again.actions))
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
        let repair = Record::Repair(RepairRecord { id: id.clone(), kind, cuts, meant, report });
        self.state.allows(&repair)?;
        let count = actions.len().max(1);
        let incident = self.counted(IncidentKind::Repair, IncidentSeverity::Warning, id.as_str(), count);
        Ok((Batch::of(vec![repair, incident]), id))
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

/// The options for stored messages: calls at the end may still get their result.
fn pending(options: &Options) -> Options {
    let mut options = kept(options);
    options.policy.set_for_all("trailing_call", |repair| repair.trailing_call = TrailingCall::AllowPending);
    options
}

/// The options for the repair of stored messages. Unless the configuration says otherwise, synthetic content is left to
/// requests, and so are the demands of one provider: the next request may be for another one.
pub(in crate::session) fn stored_options(wire: &Wire, options: &Options, persist: PersistRepairs) -> Options {
    let mut options = pending(options);
    if persist != PersistRepairs::RealMovesOnly {
        return options;
    }
    let mut policy = options.policy.for_provider(wire.provider()).into_owned();
    policy.providers.clear();
    if policy.repair.unanswered_call == UnansweredCall::Synthesize {
        policy.repair.unanswered_call = LEFT;
    }
    policy.repair.left = Left::Synthetic;
    if policy.session.repair_requests {
        options.provider = Some(providers::for_model(wire.dialect, None).name.to_owned());
    } else {
        options.provider = Some(wire.provider().to_owned());
    }
    Options { policy, ..options }
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
