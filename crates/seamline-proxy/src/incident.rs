//! Incidents of a proxy: what happened to one request, without any of its content.

use std::collections::BTreeMap;

use seamline::store::{self, IncidentKind, IncidentSeverity, Raw};
use serde::{Deserialize, Serialize};

/// The report on one request. It holds codes, counts, hashes and sizes, never content, keys or headers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyIncident {
    /// The id, which the response header `x-seamline-incident` gives to the client; empty before it is recorded.
    #[serde(default)]
    pub id: String,
    /// The time, in milliseconds since 1970.
    pub at: u64,
    /// The outcome of the request.
    pub outcome: IncidentOutcome,
    /// The name of the upstream.
    pub upstream: String,
    /// The provider whose demands applied, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The dialect of the body, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The key of the conversation, which is a hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The number of findings, by the code of their rule.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub findings: BTreeMap<String, u64>,
    /// The number of repairs, by the code of their rule and the action, such as `PAIR001 synthesize`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub actions: BTreeMap<String, u64>,
    /// The body that the client sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<BodyMark>,
    /// The body that went to the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<BodyMark>,
    /// The status that the client got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// A fixed sentence about the cause, such as the name of an error. It never repeats a part of a body or a header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// The mark of a body: it tells two bodies apart and shows nothing of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodyMark {
    /// The first 16 bytes of its BLAKE3 hash, in hexadecimal digits.
    pub hash: String,
    /// The size of the body, in bytes.
    pub bytes: u64,
}

impl BodyMark {
    /// The mark of a body.
    pub fn of(body: &[u8]) -> Self {
        let hash = blake3::hash(body).to_hex();
        Self { hash: hash[..32].to_owned(), bytes: body.len() as u64 }
    }
}

/// The outcome of a request with an incident.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IncidentOutcome {
    /// The repaired body went to the provider.
    Repaired,
    /// The body was forwarded unchanged, because the mode is `report`.
    Reported,
    /// The client got an error, because the mode is `block`.
    Blocked,
    /// The body went to the provider with errors that no allowed repair removes.
    Unrepaired,
    /// The provider rejected the body and accepted a stronger repair of it.
    RepairedHarder,
    /// The provider rejected the body, and no repair was left or the policy does not repair then.
    Rejected,
    /// The model repeats failing tool calls. The breaker warned the model or blocked the request.
    Looping,
    /// The integrity code failed. The original was sent, unless the configuration refuses such requests.
    Failed,
    /// The changed body could not be signed, so the original was sent.
    Unsigned,
    /// The provider sent nothing for too long, so the proxy ended the response.
    Stalled,
    /// The provider ended the response before it was complete.
    Broken,
    /// The provider could not be reached.
    Unreachable,
    /// The proxy refused the request, for example because it is too large.
    Refused,
    /// One that this version does not know.
    #[default]
    #[serde(other)]
    Other,
}

impl IncidentOutcome {
    /// The outcome as one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Repaired => "repaired",
            Self::Reported => "reported",
            Self::Blocked => "blocked",
            Self::Unrepaired => "unrepaired",
            Self::RepairedHarder => "repaired_harder",
            Self::Rejected => "rejected",
            Self::Looping => "looping",
            Self::Failed => "failed",
            Self::Unsigned => "unsigned",
            Self::Stalled => "stalled",
            Self::Broken => "broken",
            Self::Unreachable => "unreachable",
            Self::Refused => "refused",
            Self::Other => "other",
        }
    }

    /// A sentence about the outcome, for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Repaired => "the repaired body went to the provider",
            Self::Reported => "the body was forwarded unchanged (mode `report`)",
            Self::Blocked => "the request was not sent (mode `block`)",
            Self::Unrepaired => "the body was sent with errors that no allowed repair removes",
            Self::RepairedHarder => "the provider rejected the body and accepted a stronger repair",
            Self::Rejected => "the provider rejected the body, and no repair was left or allowed",
            Self::Looping => "the model repeats failing tool calls",
            Self::Failed => "the check itself failed",
            Self::Unsigned => "the changed body could not be signed, so the original was sent",
            Self::Stalled => "the provider sent no content for too long",
            Self::Broken => "the provider ended the response before it was complete",
            Self::Unreachable => "the provider could not be reached",
            Self::Refused => "the proxy refused the request",
            Self::Other => "an outcome that this version does not know",
        }
    }

    fn kind(self) -> IncidentKind {
        match self {
            Self::Repaired => IncidentKind::Repair,
            Self::Reported | Self::Blocked | Self::Unrepaired | Self::Looping => IncidentKind::ValidationFailed,
            Self::RepairedHarder | Self::Rejected => IncidentKind::Corruption,
            Self::Stalled => IncidentKind::Timeout,
            Self::Broken | Self::Unreachable => IncidentKind::ApiError,
            Self::Failed | Self::Unsigned | Self::Refused | Self::Other => IncidentKind::Other,
        }
    }

    /// The severity of the outcome.
    pub fn severity(self) -> IncidentSeverity {
        match self {
            Self::Repaired | Self::RepairedHarder | Self::Reported | Self::Looping => IncidentSeverity::Warning,
            Self::Blocked
            | Self::Unrepaired
            | Self::Rejected
            | Self::Failed
            | Self::Unsigned
            | Self::Stalled
            | Self::Broken
            | Self::Unreachable
            | Self::Refused => IncidentSeverity::Error,
            Self::Other => IncidentSeverity::Info,
        }
    }
}

impl ProxyIncident {
    /// The incident as a session stores it.
    pub(crate) fn to_record(&self) -> store::Incident {
        let detail = match &self.cause {
            Some(cause) => format!("{}: {}: {cause}", self.id, self.outcome.sentence()),
            None => format!("{}: {}", self.id, self.outcome.sentence()),
        };
        let mut record = store::Incident::new(self.at, self.outcome.kind(), self.outcome.severity(), detail);
        record.count = self.findings.values().sum();
        record.exchange = Raw::of(self).ok();
        record
    }

    /// Reads a stored incident; `None` where no proxy wrote it.
    pub(crate) fn of_record(record: &store::Incident) -> Option<Self> {
        serde_json::from_str(record.exchange.as_ref()?.as_str()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_incident_is_read_back() {
        let incident = ProxyIncident {
            id: "a-1".to_owned(),
            at: 7,
            outcome: IncidentOutcome::RepairedHarder,
            upstream: "anthropic".to_owned(),
            findings: BTreeMap::from([("PAIR001".to_owned(), 2), ("PAIR002".to_owned(), 1)]),
            before: Some(BodyMark::of(b"{}")),
            ..ProxyIncident::default()
        };
        let record = incident.to_record();
        assert_eq!((record.kind, record.count, record.at), (IncidentKind::Corruption, 3, 7));
        assert_eq!(ProxyIncident::of_record(&record), Some(incident));
    }

    #[test]
    fn an_incident_of_another_version_is_still_read() {
        let written = r#"{"at":1,"outcome":"something_new","upstream":"x","more":[1]}"#;
        let mut record = store::Incident::new(1, IncidentKind::Other, IncidentSeverity::Info, "");
        assert_eq!(ProxyIncident::of_record(&record), None);
        record.exchange = Raw::parse(written).ok();
        assert_eq!(ProxyIncident::of_record(&record).map(|incident| incident.outcome), Some(IncidentOutcome::Other));
    }

    #[test]
    fn an_outcome_has_the_same_name_everywhere() {
        for outcome in [
            IncidentOutcome::Repaired,
            IncidentOutcome::RepairedHarder,
            IncidentOutcome::Unreachable,
            IncidentOutcome::Refused,
        ] {
            assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.as_str());
        }
    }
}
