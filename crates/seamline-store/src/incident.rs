//! Incidents: events that concern the integrity of a session.

use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::id::CheckpointId;
use crate::inbox_damage::InboxDamageKind;
use crate::raw::Raw;
use crate::replay::DamageKind;

/// An event that concerns the integrity of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// The kind of event.
    #[serde(rename = "type")]
    pub kind: IncidentKind,
    /// The severity of the event.
    pub severity: IncidentSeverity,
    /// The time of the event, in milliseconds since 1970.
    pub at: u64,
    /// The checkpoint that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    /// The number of messages, calls or records that it is about.
    #[serde(default)]
    pub count: u64,
    /// The first damaged record, where bytes were damaged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The index of the first message that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// The hash of the stored policy that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Hash>,
    /// The damage of the log that it is about. Versions up to 0.1 wrote none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damage: Option<Box<DamageKind>>,
    /// The damage of the inbox that it is about. The same damage is recorded once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inbox_damage: Option<InboxDamageKind>,
    /// The members that the provider rejected, all that are known so far. Requests of the session leave them out from now
    /// on. Versions up to 0.1 wrote none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<Box<RejectedMembers>>,
    /// The facts about the request that it is about, where a proxy recorded it: a JSON object without any content of
    /// messages. Versions up to 0.1 wrote none and ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Raw>,
    /// A description for people, without any content of messages.
    pub detail: String,
}

impl Incident {
    /// An incident that happens at this time, without the facts that only some kinds have.
    pub fn new(at: u64, kind: IncidentKind, severity: IncidentSeverity, detail: impl Into<String>) -> Self {
        Self {
            kind,
            severity,
            at,
            checkpoint: None,
            count: 0,
            seq: None,
            message: None,
            policy: None,
            damage: None,
            inbox_damage: None,
            rejected: None,
            exchange: None,
            detail: detail.into(),
        }
    }
}

/// Parts of a request that a provider rejected: members that it does not know, and reasoning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedMembers {
    /// The names of members of messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The paths of members, as keys and indexes. An index means every element of its list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Vec<String>>,
    /// The marks of blocks with reasoning or with the signature of a call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<String>,
    /// The codes of the rules whose demand an error of the provider proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proved: Vec<String>,
}

/// The most marks of reasoning that are kept. The newest ones stay.
const MARKS_MAX: usize = 4096;

impl RejectedMembers {
    /// Whether nothing was rejected.
    pub fn is_empty(&self) -> bool {
        let Self { names, paths, reasoning, proved } = self;
        names.is_empty() && paths.is_empty() && reasoning.is_empty() && proved.is_empty()
    }

    /// Adds what another list has and this one has not.
    pub fn extend(&mut self, other: &Self) {
        add(&mut self.names, &other.names);
        add(&mut self.paths, &other.paths);
        add(&mut self.reasoning, &other.reasoning);
        add(&mut self.proved, &other.proved);
        self.reasoning.drain(..self.reasoning.len().saturating_sub(MARKS_MAX));
    }
}

fn add<T: Clone + PartialEq>(to: &mut Vec<T>, others: &[T]) {
    for other in others {
        if !to.contains(other) {
            to.push(other.clone());
        }
    }
}

/// The kind of an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IncidentKind {
    /// The provider would reject the conversation.
    ValidationFailed,
    /// A content filter or a refusal ended the response.
    ContentFilter,
    /// The provider or the connection failed.
    ApiError,
    /// The provider did not respond in time.
    Timeout,
    /// The provider rejected the conversation.
    Corruption,
    /// A checkpoint was made. Logged at the level `verbose`.
    CheckpointCreated,
    /// The operation of a checkpoint succeeded. Logged at the level `verbose`.
    CheckpointCommitted,
    /// The session was rolled back to a checkpoint.
    Rollback,
    /// Messages were repaired.
    Repair,
    /// A repair was undone.
    Undo,
    /// The session started over.
    Reset,
    /// The user or the host aborted.
    Aborted,
    /// The outcome of a call is unknown.
    OutcomeUnknown,
    /// A call never started.
    NotExecuted,
    /// Stored bytes were damaged.
    Damaged,
    /// Another writer took the session over.
    TakenOver,
    /// The messages are too large to be kept with checkpoints.
    SnapshotTooLarge,
    /// An inbox item is not a message and went into quarantine.
    InboxQuarantined,
    /// The stored policy could not be read, and the default policy took its place.
    PolicyIgnored,
    /// A kind that this version does not know.
    #[serde(other)]
    Other,
}

/// The severity of an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IncidentSeverity {
    /// It needs no action.
    Info,
    /// Something was repaired.
    Warning,
    /// Something could not be repaired.
    Error,
    /// Data is lost.
    Critical,
}
