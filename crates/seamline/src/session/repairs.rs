//! Repairs that are written down, and can be taken back.

use std::collections::HashSet;
use std::ops::Range;

use seamline_store::{Cut, IncidentKind, IncidentSeverity, Insert, Origin, Raw, Record, Rejected, Repair, Undo};
use serde::Serialize;

use super::{PersistRepairs, Session, SessionError};
use crate::policy::UnansweredCall;
use crate::{Finding, Options, RepairAction, Repaired};

/// What a repair did.
///
/// ```
/// assert!(!seamline::session::RepairResult::default().repaired);
/// ```
#[derive(Debug, Clone, Default, Serialize)]
pub struct RepairResult {
    /// Whether anything changed.
    pub repaired: bool,
    /// Its id, by which it can be taken back, where it was written down.
    pub id: Option<String>,
    /// What was done.
    pub repairs: Vec<RepairAction>,
    /// What is still wrong with what is kept. What a request makes up is not made up here, unless the configuration
    /// says so.
    pub remaining: Vec<Finding>,
    /// The messages then, byte for byte.
    pub messages: Vec<Raw>,
}

impl Session {
    /// Puts right what is kept, as the policy says, and writes that down as far as
    /// [`persist_repairs`](super::IntegrityConfig::persist_repairs) allows. With
    /// [`Never`](super::PersistRepairs::Never) the result says what would be done, and nothing changes.
    /// [`Session::undo_repair`] takes it back.
    ///
    /// # Errors
    /// When tools are running ([`InFlight`](seamline_store::Rejected::InFlight)), the conversation cannot be read, or the
    /// store could not keep it.
    pub async fn repair(&mut self) -> Result<RepairResult, SessionError> {
        self.repair_as(self.config.persist_repairs).await
    }

    /// Puts right what is kept, and writes so much of it down.
    pub(super) async fn repair_as(&mut self, persist: PersistRepairs) -> Result<RepairResult, SessionError> {
        self.settle().await?;
        if !self.state.cycles.is_empty() {
            return Err(Rejected::InFlight.into());
        }
        let options = stored_options(&self.wire.options, persist);
        let messages: Vec<Raw> = self.entries().iter().map(|entry| entry.message.clone()).collect();
        let body = self.wire.body("{}", messages.iter())?;
        let repaired = crate::repair(&body, &options)?;
        let new = self.wire.repaired(&messages, &repaired)?;
        // Only messages are kept: what a repair would do beside them is no repair of them.
        let is_changed = new != messages;
        let mut result = RepairResult {
            repaired: is_changed,
            id: None,
            repairs: if is_changed { repaired.actions.clone() } else { Vec::new() },
            remaining: repaired.remaining.clone(),
            messages: new.clone(),
        };
        if is_changed && persist != PersistRepairs::Never {
            let mut cuts = cuts(&messages, &new, &repaired);
            self.name_origins(&mut cuts)?;
            result.id = Some(self.write_repair(cuts, &repaired.actions).await?);
        }
        Ok(result)
    }

    /// What a repair moved was said, though it stands in a message that is new. It comes from one that is gone or is
    /// written otherwise.
    fn name_origins(&self, cuts: &mut [Cut]) -> Result<(), SessionError> {
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

    /// A body of these messages, and where its blocks stand.
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

    pub(super) async fn write_repair(
        &mut self,
        cuts: Vec<Cut>,
        actions: &[RepairAction],
    ) -> Result<String, SessionError> {
        let id = self.next_id("repair");
        let repair =
            Record::Repair(Repair { id: id.clone(), cuts, meant: Vec::new(), report: Some(Raw::of(actions)?) });
        self.state.allows(&repair)?;
        let mut incident = self.incident(IncidentKind::Repair, IncidentSeverity::Warning, id.clone());
        incident.count = actions.len().max(1) as u64;
        self.write(vec![repair, Record::Incident(incident)]).await?;
        self.context.repairs += 1;
        Ok(id)
    }

    /// Takes the last repair back, if nothing but new messages and cycles came after it, and gives its id. A late result and
    /// a turn that was put before what was said meanwhile are repairs, too. The one before it is the last one then.
    ///
    /// # Errors
    /// When there is none, tools are running, or the store could not keep it.
    pub async fn undo_repair(&mut self) -> Result<String, SessionError> {
        self.settle().await?;
        let last = self.state.last_repair().map(str::to_owned);
        let id = last.ok_or_else(|| SessionError::Refused("there is no repair that could be taken back".to_owned()))?;
        let undo = Record::Undo(Undo { repair: id.clone() });
        self.state.allows(&undo)?;
        let incident = self.incident(IncidentKind::Undo, IncidentSeverity::Info, id.clone());
        self.write(vec![undo, Record::Incident(incident)]).await?;
        Ok(id)
    }
}

/// A call without a result stays as it is. That somebody else goes back for it is not so here: requests answer it.
const LEFT: UnansweredCall = UnansweredCall::Rollback;

/// How what is kept is put right: calls at its end may still be answered, and what is only made up is left to requests
/// unless the configuration says otherwise.
pub(super) fn stored_options(options: &Options, persist: PersistRepairs) -> Options {
    let mut options = super::validation::kept(options);
    options.policy.repair.trailing_call = crate::policy::TrailingCall::AllowPending;
    let makes_up = options.policy.repair.unanswered_call == UnansweredCall::Synthesize;
    if makes_up && persist == PersistRepairs::RealMovesOnly {
        options.policy.repair.unanswered_call = LEFT;
    }
    options
}

/// What changed, where it is known which message each new one stems from.
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
            inserted.push(Insert { message: message.clone(), origin });
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

/// What changed between the beginning and the end that two lists share.
fn changed(old: &[Raw], new: &[Raw]) -> Vec<Cut> {
    let front = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let most = old.len().min(new.len()) - front;
    let back = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(one, other)| one == other).count();
    let inserted = new[front..new.len() - back].iter();
    let inserted = inserted.map(|message| Insert { message: message.clone(), origin: Origin::Said }).collect();
    vec![Cut { at: front as u64, removed: (old.len() - back - front) as u64, inserted }]
}
