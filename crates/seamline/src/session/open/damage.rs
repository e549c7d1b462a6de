//! Plans the records of an opening: a lost first record, damages, and a lease that was taken over.

use seamline_store::{
    Begin, Damage, DamageKind, Holder, Incident, IncidentKind, IncidentSeverity, Parent, Raw, Record,
};

use super::first_provider;
use crate::session::SessionError;
use crate::session::facts::Facts;
use crate::session::wire::Wire;

impl Facts<'_> {
    /// The damages that no incident mentions yet.
    pub(super) fn new_damages_of_log<'d>(&self, damages: &'d [Damage]) -> Vec<&'d Damage> {
        let is_known = |damage: &Damage| {
            let mut incidents = self.state.incidents.iter().filter(|incident| incident.kind == IncidentKind::Damaged);
            let is_about = |incident: &Incident| match &incident.damage {
                Some(known) => known.covers(&damage.kind),
                None => is_described(damage, &incident.detail),
            };
            incidents.any(|incident| incident.seq == Some(damage.seq) && is_about(incident))
        };
        damages.iter().filter(|damage| !is_known(damage)).collect()
    }

    /// Plans the incidents about damages. A first record that is lost is written again, so that the next opening need not
    /// guess the dialect.
    pub(super) fn plan_damages(&self, damages: &[&Damage]) -> Vec<Record> {
        let mut records = Vec::with_capacity(damages.len() + 1);
        if self.state.begin.is_none() {
            let (dialect, provider) = (self.wire.first_dialect.into(), first_provider(self.state, self.wire));
            // A later record may have the policy.
            let lost = self.state.policy.is_none();
            let policy = lost.then(|| Raw::of(&self.wire.options.policy).ok()).flatten();
            records.push(Record::Begin(Begin { dialect, provider, title: None, parent: None, policy }));
        }
        for damage in damages {
            let is_doubtful = matches!(damage.kind, DamageKind::Log { is_certain: false, .. });
            let severity = if is_doubtful { IncidentSeverity::Error } else { IncidentSeverity::Critical };
            let mut incident = self.incident(IncidentKind::Damaged, severity, damage.to_string());
            incident.seq = Some(damage.seq);
            incident.damage = Some(Box::new(damage.kind.clone()));
            records.push(Record::Incident(incident));
        }
        records
    }

    /// The incident that the lease was taken over from another process.
    pub(super) fn taken_over(&self, before: &Holder) -> Record {
        let detail = format!("the lease was taken over from {before}");
        Record::Incident(self.incident(IncidentKind::TakenOver, IncidentSeverity::Warning, detail))
    }
}

/// Whether an incident of version 0.1 describes a damage. A lost log and another damage can begin at the same record, and
/// such an incident has only its text to tell them apart.
fn is_described(damage: &Damage, detail: &str) -> bool {
    !matches!(damage.kind, DamageKind::Log { .. }) || detail == damage.to_string()
}

/// The first record of a session.
pub(super) fn first_record(wire: &Wire, title: Option<String>, parent: Option<Parent>) -> Result<Record, SessionError> {
    let (dialect, provider) = (wire.dialect.into(), wire.options.provider.clone());
    let policy = Some(Raw::of(&wire.options.policy)?);
    Ok(Record::Begin(Begin { dialect, provider, title, parent, policy }))
}
