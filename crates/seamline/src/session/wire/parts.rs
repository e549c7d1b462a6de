//! Cuts the messages of a session into parts for a request, and repairs those of other dialects before they are lifted.
//!
//! Only a repair in the dialect of a message reads what a lift would tear apart or drop: a result that names a wrong id,
//! blocks of a third dialect, text in a member that the dialect does not have. Such a repair makes nothing up and joins no
//! messages: calls without a result and the order of roles are left to the repair of the request.

use seamline_dialects::providers;
use seamline_model::Alphabet;
use seamline_rules::Left;
use seamline_store::{Entry, Raw};

use super::Wire;
use super::mixed::runs;
use crate::Options;
use crate::policy::{IdMode, OnInvalid, TrailingCall, UnansweredCall};
use crate::repair::{RepairAction, Repaired, repair_leaving};
use crate::session::SessionError;

/// Messages of a request that belong together.
pub(super) enum Part<'e> {
    /// Messages of the asked dialect, and the index of the first. They keep their bytes.
    Own { first: usize, entries: &'e [Entry] },
    /// Messages that are rendered, at least one.
    Foreign(Vec<Entry>),
}

impl Wire {
    /// Cuts messages into parts that separate no call from its result, and gives the repairs of messages of other dialects.
    pub(super) fn parts<'e>(&self, entries: &'e [Entry]) -> Result<(Vec<Part<'e>>, Vec<RepairAction>), SessionError> {
        let (mut parts, mut actions) = (Vec::new(), Vec::new());
        let mut first = 0;
        let pieces = self.pieces(entries)?;
        let is_one_run = |one: &&[Entry], next: &&[Entry]| {
            is_of_one_dialect(one) && is_of_one_dialect(next) && one[0].dialect == next[0].dialect
        };
        for run in pieces.chunk_by(|one, next| !self.is_own(&one[0]) && is_one_run(one, next)) {
            let piece = run[0];
            if piece.iter().all(|entry| self.is_own(entry)) {
                parts.push(Part::Own { first, entries: piece });
            } else if is_of_one_dialect(piece) {
                // A repair pairs more than the stored bytes do, so its outcome is cut again.
                let (repaired, made) = self.repaired_run(&run.concat(), first, Left::Roles)?;
                actions.extend(made);
                parts.extend(self.pieces(&repaired)?.into_iter().map(|piece| Part::Foreign(piece.to_vec())));
            } else {
                // Calls and results of several dialects: only the form of each message can be repaired by itself.
                let (mut repaired, mut at) = (Vec::with_capacity(piece.len()), first);
                for run in runs(&piece.iter().collect::<Vec<_>>()) {
                    let run: Vec<Entry> = run.iter().copied().cloned().collect();
                    let (entries, made) = self.repaired_run(&run, at, Left::Pairing)?;
                    actions.extend(made);
                    repaired.extend(entries);
                    at += run.len();
                }
                parts.push(Part::Foreign(repaired));
            }
            first += run.iter().map(|piece| piece.len()).sum::<usize>();
        }
        Ok((parts, actions))
    }

    /// Repairs messages of one dialect before they leave it, and gives the repairs with the places of the stored messages;
    /// `first` is the index of the first one. Messages that cannot be repaired stay as they are.
    fn repaired_run(
        &self,
        run: &[Entry],
        first: usize,
        left: Left,
    ) -> Result<(Vec<Entry>, Vec<RepairAction>), SessionError> {
        let wire = self.for_dialect(run[0].dialect.as_ref())?;
        let old: Vec<Raw> = run.iter().map(|entry| entry.message.clone()).collect();
        let body = wire.body("{}", old.iter())?;
        // Ids only have to exist: the asked provider decides their form.
        let repaired = repair_leaving(&body, &self.leaving_options(wire.dialect), left, |constraints| {
            constraints.call_id.alphabet = Alphabet::Any;
            constraints.call_id.length_max = usize::MAX;
        });
        let Some(repaired) = repaired.ok().filter(Repaired::is_changed) else {
            return Ok((run.to_vec(), Vec::new()));
        };
        let messages = wire.repaired(&old, &repaired)?;
        let mut last = 0;
        let entries = messages.into_iter().zip(&repaired.origins).map(|(message, origin)| {
            last = origin.unwrap_or(last);
            Entry { message, ..run[last].clone() }
        });
        let entries = entries.collect();
        let pointer = |action: &RepairAction| Some(stored_pointer(action.pointer.as_deref()?, first));
        let actions = repaired.actions.iter().map(|action| RepairAction {
            pointer: pointer(action),
            message_index: action.message_index.map(|index| index + first),
            ..action.clone()
        });
        Ok((entries, actions.collect()))
    }

    /// The options for the repair of messages that leave their dialect: the policy of the asked provider, for the most
    /// tolerant provider of that dialect. Fixes that the asked provider may not need are left to the request.
    fn leaving_options(&self, dialect: &str) -> Options {
        let mut policy = self.policy().into_owned();
        policy.providers.clear();
        let repair = &mut policy.repair;
        // A policy that repairs nothing is about requests: it does not want words to be lost before.
        repair.on_invalid = OnInvalid::Repair;
        repair.unanswered_call = UnansweredCall::Rollback;
        repair.trailing_call = TrailingCall::AllowPending;
        repair.id_mode = IdMode::Preserve;
        repair.merge_same_role = false;
        let provider = providers::for_model(dialect, None).name.to_owned();
        Options {
            dialect: Some(dialect.to_owned()),
            provider: Some(provider),
            policy,
            kept: true,
            ..Options::default()
        }
    }
}

/// The pointer to a stored message, from a pointer into a body whose first message is the stored one of index `first`.
fn stored_pointer(pointer: &str, first: usize) -> String {
    let mut steps: Vec<&str> = pointer.splitn(4, '/').collect();
    let index = steps.get(2).and_then(|index| index.parse::<usize>().ok()).map(|index| (index + first).to_string());
    if let (Some(step), Some(index)) = (steps.get_mut(2), &index) {
        *step = index;
    }
    steps.join("/")
}

fn is_of_one_dialect(piece: &[Entry]) -> bool {
    piece.windows(2).all(|two| two[0].dialect == two[1].dialect)
}
