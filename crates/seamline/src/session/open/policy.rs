//! The policy that a session stores.

use seamline_store::{Hash, Incident, IncidentKind, IncidentSeverity, PolicyRecord, Raw, Record, State};

use crate::Policy;
use crate::session::SessionError;
use crate::session::facts::Facts;

/// The record about the policy that an opening writes.
#[derive(Debug, PartialEq)]
pub(super) enum PolicyNote {
    /// The session keeps its policy: there is nothing to record.
    Kept,
    /// The caller gives another policy, which the session stores.
    Changed(Raw),
    /// The stored policy cannot be read, for this reason. It stays stored, and the default policy holds.
    Ignored(String),
}

/// Chooses the policy of an opened session: the one that the caller gives, else the stored one, else the default.
pub(super) fn choose_policy(state: &State, given: Option<Policy>) -> Result<(Policy, PolicyNote), SessionError> {
    let stored = stored_policy(state);
    Ok(match (given, stored) {
        (None, Ok(stored)) => (stored, PolicyNote::Kept),
        (None, Err(error)) => (Policy::default(), PolicyNote::Ignored(error.to_string())),
        (Some(given), stored) => {
            given.check_names()?;
            let text = Raw::of(&given)?;
            let is_stored = stored.ok().map(|stored| Raw::of(&stored)).transpose()?.as_ref() == Some(&text);
            (given, if is_stored { PolicyNote::Kept } else { PolicyNote::Changed(text) })
        }
    })
}

/// Reads the stored policy. A session of version 0.1 stores none and has the default.
pub(super) fn stored_policy(state: &State) -> Result<Policy, SessionError> {
    let read = |stored: &Raw| serde_json::from_str(stored.as_str());
    let stored = state.policy.as_ref().map(read).transpose();
    stored.map(Option::unwrap_or_default).map_err(|error| SessionError::UnreadablePolicy(error.to_string()))
}

impl Facts<'_> {
    /// Plans the record of what an opening found out about the policy.
    pub(super) fn plan_policy(&self, note: PolicyNote) -> Option<Record> {
        match note {
            PolicyNote::Kept => None,
            PolicyNote::Changed(policy) => Some(Record::Policy(PolicyRecord { policy })),
            PolicyNote::Ignored(detail) => {
                let kind = IncidentKind::PolicyIgnored;
                let policy = self.state.policy.as_ref().map(|stored| Hash::of(stored.as_bytes()));
                let is_same = |incident: &Incident| (incident.kind, incident.policy) == (kind, policy);
                let is_known = self.state.incidents.iter().any(is_same);
                let incident = Incident { policy, ..self.incident(kind, IncidentSeverity::Warning, detail) };
                (!is_known).then_some(Record::Incident(incident))
            }
        }
    }
}
