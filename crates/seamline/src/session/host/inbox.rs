//! Plans how inbox messages are taken in.

use seamline_store::{
    COMMIT_BYTES_MAX, Hash, InboxDamage, InboxItem, InboxTaken, Incident, IncidentKind, IncidentSeverity, Raw, Record,
};

use crate::session::SessionError;
use crate::session::facts::{Facts, said};

/// The plan for some inbox messages.
#[derive(Debug, Default)]
pub(super) struct InboxPlan {
    pub(super) records: Vec<Record>,
    /// The number of messages that are taken in.
    pub(super) taken: usize,
    /// Values that are not messages and go into quarantine.
    pub(super) quarantined: Vec<Raw>,
}

impl Facts<'_> {
    /// Plans to take inbox messages in. A value that is not a message would make every request fail: it goes into
    /// quarantine, and an incident says so.
    pub(super) fn plan_inbox(&self, items: &[InboxItem]) -> InboxPlan {
        let mut plan = InboxPlan::default();
        // The inbox waits while the session is compacted.
        if items.is_empty() || self.work.compaction.is_some() {
            return plan;
        }
        let ids = items.iter().map(|item| item.id.clone()).collect();
        plan.records.push(Record::Inbox(InboxTaken { ids }));
        for item in items {
            match self.wire.parse_messages(&[item.message.as_str()]) {
                Ok(messages) => {
                    plan.taken += messages.len();
                    plan.records.extend(messages.into_iter().map(said));
                }
                Err(error) => {
                    plan.records.push(self.not_a_message(item, &error));
                    plan.quarantined.push(item.message.clone());
                }
            }
        }
        plan
    }

    fn not_a_message(&self, item: &InboxItem, error: &SessionError) -> Record {
        let hash = Hash::of(item.message.as_bytes());
        let why = error.to_string();
        let why = why.lines().next().unwrap_or_default();
        let detail = format!("`{}` of the inbox: {why}; put aside as {hash}", item.id);
        let mut incident = self.incident(IncidentKind::ValidationFailed, IncidentSeverity::Error, detail);
        incident.count = 1;
        Record::Incident(incident)
    }

    /// The damages of the inbox that no incident mentions yet.
    pub(super) fn new_damages(&self, damages: Vec<InboxDamage>) -> Vec<InboxDamage> {
        let is_known = |damage: &InboxDamage| {
            let mut incidents = self.state.incidents.iter();
            incidents.any(|found| found.kind == IncidentKind::Damaged && is_about(found, damage))
        };
        damages.into_iter().filter(|damage| !is_known(damage)).collect()
    }

    /// The incident about a damage of the inbox.
    pub(super) fn damage_incident(&self, damage: &InboxDamage) -> Record {
        Record::Incident(self.incident(IncidentKind::Damaged, IncidentSeverity::Critical, damage.why.clone()))
    }
}

/// Whether an incident is about a damage. A missing message has no bytes, and the numbers in its text change as other
/// messages come and go: it is the same as long as they are as far apart.
fn is_about(found: &Incident, damage: &InboxDamage) -> bool {
    let is_missing = damage.bytes.is_empty();
    found.detail == damage.why || (is_missing && count(&found.detail) == count(&damage.why))
}

/// A text without its numbers, and the distance between these; of a single number, the number.
fn count(text: &str) -> (String, u64) {
    let words = text.chars().filter(|letter| !letter.is_ascii_digit()).collect();
    let numbers =
        || text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse::<u64>().ok());
    let most = numbers().max().unwrap_or(0);
    let least = if numbers().count() > 1 { numbers().min().unwrap_or(0) } else { 0 };
    (words, most - least)
}

/// The first messages that fit into one commit.
pub(super) fn fitting(items: &[InboxItem]) -> &[InboxItem] {
    let mut bytes = 0;
    let fits = |item: &&InboxItem| {
        bytes += item.bytes_about();
        bytes < COMMIT_BYTES_MAX
    };
    &items[..items.iter().take_while(fits).count()]
}
