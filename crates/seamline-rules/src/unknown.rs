//! Messages of an unknown role or kind, which a newer API may define. No rule changes them, and every finding is a note.

use std::collections::HashSet;

use seamline_model::{
    Edit, Fix, Irregularity, IrregularityKind, MessageIndex, RuleFinding, Safety, Severity, Transcript,
};

use crate::claims::{Claim, claim_of};
use crate::rule::{Group, Report};

/// The messages of an unknown role and the items of an unknown kind.
pub(crate) struct Unknown(HashSet<MessageIndex>);

impl Unknown {
    pub(crate) fn of(transcript: &Transcript<'_>) -> Self {
        Self(transcript.enumerate().filter(|(_, message)| message.is_unknown).map(|(index, _)| index).collect())
    }

    /// Whether an irregularity is the form of an unknown message. Bytes that are not valid Unicode are wrong everywhere.
    pub(crate) fn excuses(&self, found: &Irregularity) -> bool {
        let is_of_body =
            matches!(found.kind, IrregularityKind::LoneSurrogate | IrregularityKind::UnreadableMessage { .. });
        !is_of_body && found.message.is_some_and(|message| self.0.contains(&message))
    }

    /// Whether to drop a finding of a rule, because it calls an unknown message wrong. The rules about the bytes of a body
    /// tell by themselves what is unknown.
    pub(crate) fn clears(&self, finding: &RuleFinding, group: Group) -> bool {
        let is_note = finding.severity == Severity::Info || group == Group::Wire;
        !is_note && finding.place.message.is_some_and(|message| self.0.contains(&message))
    }

    /// Drops every fix that changes one of the messages, unless it is a fix of an unknown part, which only the caller can
    /// demand.
    pub(crate) fn drop_fixes(transcript: &Transcript<'_>, report: &mut Report) {
        let Report { unknown, findings, rest, .. } = report;
        if unknown.0.is_empty() {
            return;
        }
        for finding in findings {
            let is_odd = finding.fix.as_ref().is_some_and(|fix| unknown.is_changed_by(fix, transcript));
            finding.fix = finding.fix.take().filter(|_| !is_odd);
        }
        rest.retain(|counted| !unknown.is_changed_by(&counted.fix, transcript));
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
