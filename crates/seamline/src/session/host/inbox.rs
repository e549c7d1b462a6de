//! Plans how inbox messages are taken in.

use std::borrow::Cow;

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
            match self.said_by(item) {
                Ok(records) => {
                    plan.taken += records.len();
                    plan.records.extend(records);
                }
                Err(error) => {
                    plan.records.push(self.not_a_message(item, &error));
                    plan.quarantined.push(item.message.clone());
                }
            }
        }
        plan
    }

    /// The records of an inbox message, in its own dialect. The session may have switched to another one since.
    fn said_by(&self, item: &InboxItem) -> Result<Vec<Record>, SessionError> {
        let wire = match &item.dialect {
            Some(dialect) => self.wire.for_dialect(Some(dialect))?,
            None => Cow::Borrowed(self.wire),
        };
        let messages = wire.parse_messages(&[item.message.as_str()])?;
        Ok(messages.into_iter().map(|message| said(&wire, message)).collect())
    }

    fn not_a_message(&self, item: &InboxItem, error: &SessionError) -> Record {
        let hash = Hash::of(item.message.as_bytes());
        let why = error.to_string();
        let why = why.lines().next().unwrap_or_default();
        let detail = format!("inbox item `{}`: {why}; quarantined as {hash}", item.id);
        self.counted(IncidentKind::InboxQuarantined, IncidentSeverity::Error, detail, 1)
    }

    /// The damages of the inbox that no incident mentions yet.
    pub(super) fn new_damages(&self, damages: Vec<InboxDamage>) -> Vec<InboxDamage> {
        let is_known = |damage: &InboxDamage| {
            self.state.incidents.iter().any(|incident| incident.inbox_damage == Some(damage.kind))
        };
        damages.into_iter().filter(|damage| !is_known(damage)).collect()
    }

    /// The incident about a damage of the inbox.
    pub(super) fn damage_incident(&self, damage: &InboxDamage) -> Record {
        let incident = self.incident(IncidentKind::Damaged, IncidentSeverity::Critical, damage.to_string());
        Record::Incident(Incident { inbox_damage: Some(damage.kind), ..incident })
    }
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
