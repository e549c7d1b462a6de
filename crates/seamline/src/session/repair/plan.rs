//! Plans repairs of stored messages, and their undo.

use seamline_dialects::providers;
use seamline_rules::Left;
use seamline_store::{
    Cut, Entry, IncidentKind, IncidentSeverity, Insert, Origin, Raw, Record, RenamedCall, RepairId, RepairKind,
    RepairRecord, Undo,
};
use serde::Serialize;

use super::validation::kept;
use crate::outline::{OutlineKind, OutlineMessage};
use crate::policy::{RepairKnob, TrailingCall, UnansweredCall};
use crate::repair::{Dropped, Prefix, RepairAction, Repaired, repair_leaving};
use crate::session::facts::{Batch, Facts};
use crate::session::wire::{Rendered, Wire};
use crate::session::{PersistRepairs, Refusal, SessionError};
use crate::{Finding, Options};

/// The outcome of a repair, made or planned.
///
/// ```
/// use std::sync::Arc;
/// use seamline::Policy;
/// use seamline::session::{Session, SessionOptions};
/// use seamline::store::MemoryStore;
///
/// # futures_executor::block_on(async {
/// let store = Arc::new(MemoryStore::new());
/// let mut session = Session::create(store, "s-1".parse()?, SessionOptions::default()).await?;
/// session.append(r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"src"}]}"#).await?;
///
/// let planned = session.preview_repair(Policy::default())?;
/// assert!(planned.id.is_some() && planned.before != planned.after);
/// assert_eq!((planned.stored.len(), planned.left_to_requests.len()), (1, 0));
/// assert_eq!(session.repair().await?.id, planned.id);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Default, Serialize)]
pub struct RepairResult {
    /// Whether any message changed.
    pub repaired: bool,
    /// The id of the repair, where a part of it is recorded.
    pub id: Option<RepairId>,
    /// The actions of the repair.
    pub repairs: Vec<RepairAction>,
    /// The actions that are recorded.
    pub stored: Vec<RepairAction>,
    /// The actions that are not recorded: each request makes them.
    pub left_to_requests: Vec<RepairAction>,
    /// The findings before the repair.
    pub found: Vec<Finding>,
    /// The findings that are left. Requests add synthetic results; a repair does so only where the policy says so.
    pub remaining: Vec<Finding>,
    /// The parts that were removed and are nowhere in the new messages.
    pub dropped: Vec<Dropped>,
    /// The unchanged prefix, and what the first change invalidates.
    pub prefix: Prefix,
    /// The messages after the repair, byte for byte.
    pub messages: Vec<Raw>,
    /// The stored messages before the repair, as a request body without other members in the current dialect.
    #[serde(skip)]
    pub before: Vec<u8>,
    /// The same after the recorded part of the repair.
    #[serde(skip)]
    pub after: Vec<u8>,
    /// The provider that the messages were repaired for.
    #[serde(skip)]
    pub provider: &'static str,
    /// The options of a check of the stored messages under the policy of the repair.
    #[serde(skip)]
    pub options: Options,
}

/// The view after a repair that is not recorded yet.
struct Fixed<'e> {
    /// The messages before the repair, in the current dialect.
    rendered: Rendered<'e>,
    /// The messages after the repair.
    messages: Vec<Raw>,
    /// The changes of the rendered messages.
    cuts: Vec<Cut>,
    /// The actions, the findings and the cost of the repair.
    outcome: RepairResult,
}

/// The recorded part of a repair.
struct Recorded {
    batch: Batch,
    id: RepairId,
    /// The actions that are left to requests.
    left: Vec<RepairAction>,
    /// The view after the batch, as a request body.
    after: Vec<u8>,
}

/// The actions that are left to requests, and the body of the view.
type Remainder = (Vec<RepairAction>, Vec<u8>);

impl<'s> Facts<'s> {
    /// Plans a repair of the view with these options, and the batch that records as much of it as `persist` allows.
    pub(in crate::session) fn plan_repair(
        &self,
        options: &Options,
        persist: PersistRepairs,
        frontier: Frontier,
    ) -> Result<(RepairResult, Option<Batch>), SessionError> {
        self.require_no_open_cycle()?;
        let asked = RepairOptions::new(self.wire, frontier.stored(options), persist);
        let fixed = self.fix(&asked)?;
        let recorded = match persist {
            PersistRepairs::Never => None,
            PersistRepairs::RealMovesOnly | PersistRepairs::All => self.plan_fix(&fixed, &asked)?,
        };
        let before = self.bare_body(fixed.rendered.clone())?;
        let mut result = RepairResult { options: frontier.stored(options), ..fixed.outcome };
        if persist == PersistRepairs::RealMovesOnly {
            let body = self.wire.body("{}", fixed.messages.iter())?;
            result.remaining = crate::check(&body, &result.options)?.findings;
        }
        let (batch, id, left, after) = match recorded {
            Some(Recorded { batch, id, left, after }) => (Some(batch), Some(id), left, after),
            None => (None, None, result.repairs.clone(), before.clone()),
        };
        let stored = without(&result.repairs, &left);
        let messages = fixed.messages;
        Ok((RepairResult { id, stored, left_to_requests: left, messages, before, after, ..result }, batch))
    }

    /// Repairs the view in memory.
    fn fix(&self, asked: &RepairOptions) -> Result<Fixed<'s>, SessionError> {
        let rendered = self.wire.rendered(self.entries())?;
        let old: Vec<Raw> = rendered.entries().iter().map(|entry| entry.message.clone()).collect();
        let body = self.wire.body("{}", old.iter())?;
        let repaired = repair_leaving(&body, &asked.options, asked.left, |_| {})?;
        let messages = self.wire.repaired(&old, &repaired)?;
        let cuts = if messages == old { Vec::new() } else { cuts(&old, &messages, &repaired) };
        let Repaired { provider, found, actions, dropped, remaining, prefix, .. } = repaired;
        // Only messages are stored: a change of anything else is not a repair of them.
        let repairs = if cuts.is_empty() { Vec::new() } else { actions };
        let repaired = !cuts.is_empty();
        let outcome =
            RepairResult { repaired, repairs, found, remaining, dropped, prefix, provider, ..RepairResult::default() };
        Ok(Fixed { rendered, messages, cuts, outcome })
    }

    /// The view as a request body without other members, in the current dialect.
    fn bare_body(&self, rendered: Rendered<'_>) -> Result<Vec<u8>, SessionError> {
        let (entries, envelope) = rendered.for_envelope("{}");
        self.wire.body(&envelope, entries.iter().map(|entry| &entry.message))
    }

    /// Plans the record of the changes of stored messages.
    fn plan_fix(&self, fixed: &Fixed<'_>, asked: &RepairOptions) -> Result<Option<Recorded>, SessionError> {
        let mut cuts: Vec<Cut> = fixed.cuts.iter().filter_map(|cut| fixed.rendered.stored_cut(cut)).collect();
        if cuts.is_empty() {
            return Ok(None);
        }
        let inserted = cuts.iter_mut().flat_map(|cut| &mut cut.inserted);
        inserted.for_each(|insert| insert.dialect = self.wire.mark());
        self.correct_origins(&mut cuts)?;
        self.note_synthetic_results(&mut cuts, &fixed.outcome.repairs)?;
        let renamed = self.renamed(&cuts)?;
        let record =
            |actions: &[RepairAction]| self.plan_repair_record(RepairKind::Fix, cuts.clone(), renamed.clone(), actions);
        let (batch, id) = record(&fixed.outcome.repairs)?;
        if fixed.rendered.is_stored() {
            let after = self.wire.body("{}", fixed.messages.iter())?;
            return Ok(Some(Recorded { batch, id, left: Vec::new(), after }));
        }
        let Some((left, after)) = self.left_after(&batch, fixed, asked)? else { return Ok(None) };
        let (batch, id) = record(&without(&fixed.outcome.repairs, &left))?;
        Ok(Some(Recorded { batch, id, left, after }))
    }

    /// The calls that get another id from these changes. A late result may still come under the earlier one.
    fn renamed(&self, cuts: &[Cut]) -> Result<Vec<RenamedCall>, SessionError> {
        let mut renamed = Vec::new();
        for cut in cuts {
            let gone: Vec<&Entry> = self.entries().iter().skip(cut.at as usize).take(cut.removed as usize).collect();
            let old = calls_of(&self.wire.outline_each(&gone)?);
            let inserted: Vec<&Raw> = cut.inserted.iter().map(|insert| &insert.message).collect();
            let new = if inserted.is_empty() { Vec::new() } else { calls_of(&self.wire.outline(&inserted)?) };
            if old.len() != new.len() {
                continue;
            }
            let pairs = old.into_iter().zip(new).filter(|(old, new)| old.1 == new.1 && old.0 != new.0);
            renamed.extend(pairs.map(|(old, new)| RenamedCall { from: old.0.into(), to: new.0.into() }));
        }
        Ok(renamed)
    }

    /// The actions that are left to requests once a part of a repair is recorded, and the body of the view then; none where
    /// that part must not be recorded. A request must be the same before and after it, and each stored result must name a
    /// stored call: a rendered call may have another id.
    fn left_after(
        &self,
        batch: &Batch,
        fixed: &Fixed<'_>,
        asked: &RepairOptions,
    ) -> Result<Option<Remainder>, SessionError> {
        let (mut state, mut records) = (self.state.clone(), batch.records.clone());
        state.name(&mut records);
        (self.next..).zip(&records).for_each(|(seq, record)| state.apply(seq, self.now, record));
        let after = Facts { state: &state, ..*self };
        let again = after.fix(asked)?;
        let orphans = |facts: &Facts<'_>| self.wire.count_orphans(facts.entries());
        if again.messages != fixed.messages || orphans(&after)? > orphans(self)? {
            return Ok(None);
        }
        Ok(Some((again.outcome.repairs, after.bare_body(again.rendered)?)))
    }

    /// Plans the record of a repair and its incident.
    pub(in crate::session) fn plan_repair_record(
        &self,
        kind: RepairKind,
        cuts: Vec<Cut>,
        renamed: Vec<RenamedCall>,
        actions: &[RepairAction],
    ) -> Result<(Batch, RepairId), SessionError> {
        let id = RepairId::from(self.next_id("repair"));
        let (meant, report) = (Vec::new(), Some(Raw::of(actions)?));
        let repair = Record::Repair(RepairRecord { id: id.clone(), kind, cuts, meant, renamed, report });
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
}

/// The id and the tool of each call.
fn calls_of(outline: &[OutlineMessage]) -> Vec<(String, Option<String>)> {
    let blocks = outline.iter().flat_map(|message| &message.blocks).filter(|block| block.kind == OutlineKind::Call);
    blocks.map(|block| (block.id.clone().unwrap_or_default(), block.name.clone())).collect()
}

/// Leaves a call without a result as it is: requests add one.
const LEFT: UnansweredCall = UnansweredCall::Rollback;

/// Treatment of the calls of the last message in a repair of stored messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Frontier {
    /// They may still get their results.
    Open,
    /// The provider refused the conversation with them: the policy decides, as for a request.
    Closed,
}

impl Frontier {
    /// The options for stored messages.
    fn stored(self, options: &Options) -> Options {
        let mut options = kept(options);
        if self == Self::Open {
            options
                .policy
                .set_for_all(RepairKnob::TrailingCall, |repair| repair.trailing_call = TrailingCall::AllowPending);
        }
        options
    }
}

/// Actions without those that are left to a later repair.
fn without(actions: &[RepairAction], left: &[RepairAction]) -> Vec<RepairAction> {
    let mut rest = actions.to_vec();
    for left in left {
        let is_same = |action: &RepairAction| (action.code, &action.call_id) == (left.code, &left.call_id);
        if let Some(at) = rest.iter().position(is_same) {
            rest.remove(at);
        }
    }
    rest
}

/// The input for the repair of stored messages. Unless the policy says otherwise, synthetic content is left to
/// requests, and so are the demands of one provider: the next request may be for another one.
struct RepairOptions {
    options: Options,
    left: Left,
}

impl RepairOptions {
    fn new(wire: &Wire, options: Options, persist: PersistRepairs) -> Self {
        match persist {
            PersistRepairs::Never | PersistRepairs::All => Self { options, left: Left::Nothing },
            PersistRepairs::RealMovesOnly => Self { options: of_any_provider(wire, options), left: Left::Synthetic },
        }
    }
}

/// The options for fixes that every provider of the dialect needs.
fn of_any_provider(wire: &Wire, mut options: Options) -> Options {
    let mut policy = options.policy.for_provider(wire.provider()).into_owned();
    policy.providers.clear();
    if policy.repair.unanswered_call == UnansweredCall::Synthesize {
        policy.repair.unanswered_call = LEFT;
    }
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
            inserted.push(Insert::new(message.clone(), origin, None));
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
    let insert = |message: &Raw| Insert::new(message.clone(), Origin::Said, None);
    let inserted = inserted.map(insert).collect();
    vec![Cut { at: front as u64, removed: (old.len() - back - front) as u64, inserted }]
}
