//! What happened to a session's integrity.

use serde::{Deserialize, Serialize};

use crate::id::CheckpointId;
use crate::inbox_damage::InboxDamageKind;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// What.
    #[serde(rename = "type")]
    pub kind: IncidentKind,
    /// How bad.
    pub severity: IncidentSeverity,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// The checkpoint it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    /// How many messages, calls or records it is about.
    #[serde(default)]
    pub count: u64,
    /// The first record it is about, where bytes were damaged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The damage of the inbox it is about. The same damage is recorded once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inbox_damage: Option<InboxDamageKind>,
    /// In words, without what anyone said.
    pub detail: String,
}

/// What kind of thing happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IncidentKind {
    /// The conversation was not one that the provider takes.
    ValidationFailed,
    /// A content filter or a refusal.
    ContentFilter,
    /// The provider or the way to it failed.
    ApiError,
    /// Nothing came in time.
    Timeout,
    /// The provider refused the conversation.
    Corruption,
    /// A checkpoint was made. Logged where all events are.
    CheckpointCreated,
    /// What a checkpoint was made for went well. Logged where all events are.
    CheckpointCommitted,
    /// Everything since a checkpoint was taken back.
    Rollback,
    /// Messages were put right.
    Repair,
    /// A repair was taken back.
    Undo,
    /// The session started over.
    Reset,
    /// Somebody broke off.
    Aborted,
    /// The outcome of a call is not known.
    OutcomeUnknown,
    /// A call was never begun.
    NotExecuted,
    /// Kept bytes were damaged.
    Damaged,
    /// Another writer took the session over.
    TakenOver,
    /// The stored policy could not be read, and the default policy took its place.
    PolicyIgnored,
    /// One that this version does not know.
    #[serde(other)]
    Other,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IncidentSeverity {
    /// Good to know.
    Info,
    /// Something was put right.
    Warning,
    /// Something could not be put right.
    Error,
    /// Something is lost.
    Critical,
}
