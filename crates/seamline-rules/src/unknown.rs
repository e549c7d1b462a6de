//! Messages of an unknown role or kind, which a newer API may define. No rule changes them.

use std::collections::HashSet;

use seamline_model::{Edit, FactKind, Fix, Irregularity, IrregularityKind, MessageIndex, Safety, Transcript};

use crate::claims::{Claim, claim_of};
use crate::rule::Report;

/// The messages of an unknown role and the items of an unknown kind.
pub(crate) struct Unknown(HashSet<MessageIndex>);

impl Unknown {
    pub(crate) fn of(transcript: &Transcript<'_>) -> Self {
        let unknown = transcript.irregularities.iter().filter(|found| found.is_unknown_message());
        // A role that is an object or a list is damage.
        let is_odd = |message: &MessageIndex| {
            let facts = transcript.facts_among(message.get()..message.get() + 1);
            facts.iter().any(|fact| fact.kind == FactKind::OddValue)
        };
        Self(unknown.filter_map(|found| found.message).filter(|message| !is_odd(message)).collect())
    }

    /// Whether an irregularity is the form of an unknown message. Bytes that are not valid Unicode are wrong everywhere.
    pub(crate) fn excuses(&self, found: &Irregularity) -> bool {
        let is_of_body =
            matches!(found.kind, IrregularityKind::LoneSurrogate | IrregularityKind::UnreadableMessage { .. });
        !is_of_body && found.message.is_some_and(|message| self.0.contains(&message))
    }

    /// Drops every fix that changes one of the messages, unless it is a fix of an unknown part, which only the caller can
    /// demand.
    pub(crate) fn drop_fixes(&self, transcript: &Transcript<'_>, report: &mut Report) {
        if self.0.is_empty() {
            return;
        }
        for finding in &mut report.findings {
            let is_odd = finding.fix.as_ref().is_some_and(|fix| self.is_changed_by(fix, transcript));
            finding.fix = finding.fix.take().filter(|_| !is_odd);
        }
        report.rest.retain(|counted| !self.is_changed_by(&counted.fix, transcript));
    }

    fn is_changed_by(&self, fix: &Fix, transcript: &Transcript<'_>) -> bool {
        let is_changed = |claim| match claim {
            Claim::Block(block, _) => self.0.contains(&transcript.block(block).message),
            Claim::Message(message, _) => self.0.contains(&message),
            Claim::Bytes(_) | Claim::Nothing => false,
        };
        let joins = |edit: &Edit| match edit {
            Edit::JoinPrevious { message } => {
                message.0.checked_sub(1).is_some_and(|at| self.0.contains(&MessageIndex(at)))
            }
            _ => false,
        };
        fix.safety != Safety::Unknown && fix.edits.iter().any(|edit| joins(edit) || is_changed(claim_of(edit)))
    }
}
