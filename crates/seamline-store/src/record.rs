//! Records: the facts that a commit makes durable.
//!
//! A record is written as an object with one member, named after its kind. Readers skip records written by newer
//! versions: they read such a kind as [`Record::Unknown`] and count it. Writers refuse a session with such a record.
//!
//! To add a kind, add a variant here; the compiler then asks for it in every `match` of this crate, of the log of
//! `seamline` and of the command line.

mod accepted;
mod compensated;
mod facts;
mod kinds;
mod repair;
mod staged;
mod switch;

use serde::{Deserialize, Serialize};

use crate::checkpoint::Operation;
use crate::cycle::Effect;
use crate::hash::Hash;
use crate::id::{CallId, CheckpointId, CycleId, DialectName, InboxId, RepairId, SessionId};
use crate::incident::Incident;
use crate::raw::Raw;

pub use accepted::{Accepted, AcceptedFinding};
pub use compensated::{Compensated, CompensationOutcome};
pub use repair::{Cut, RenamedCall, RenamedCalls, RepairKind, RepairRecord};
pub use staged::{CallOutcome, ResultText, Staged};
pub use switch::Switch;

/// One durable fact of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The first record of a session.
    Begin(Begin),
    /// A message that is in the view from now on.
    Message(MessageRecord),
    /// A response that makes tool calls. It is not in the view before its cycle is committed.
    Turn(Turn),
    /// A call that is about to run.
    Intent(Intent),
    /// The result of a call, before its cycle is committed.
    Staged(Staged),
    /// A committed cycle: its turn and its results are in the view from now on.
    Cycle(CycleRecord),
    /// A cycle that was rolled back: its turn never enters the view.
    CycleEnd(CycleEnd),
    /// A named place to roll back to.
    Checkpoint(CheckpointRecord),
    /// The operation of a checkpoint is over.
    CheckpointCommit(
        /// The id of the checkpoint.
        CheckpointId,
    ),
    /// Checkpoints that are removed from the list.
    CheckpointsDropped(DroppedCheckpoints),
    /// Everything since a checkpoint leaves the view.
    Rollback(Rollback),
    /// A change of messages that were in the view.
    Repair(RepairRecord),
    /// A repair that is reverted.
    Undo(Undo),
    /// Findings that the caller accepted: requests repair them, and the stored messages stay.
    Accepted(Accepted),
    /// The outcome of undoing a call of a cycle that was rolled back.
    Compensated(Compensated),
    /// A range of messages that a summary replaces.
    Compact(Compact),
    /// An event that concerns the integrity of the session.
    Incident(Incident),
    /// Inbox messages that this commit takes in.
    Inbox(InboxTaken),
    /// The session starts over.
    Reset(Reset),
    /// The session speaks another dialect, or to another provider, from now on.
    Switch(Switch),
    /// The policy of the session from now on.
    Policy(PolicyRecord),
    /// Tool calls that have other ids in the log than the model gave.
    Renamed(RenamedCalls),
    /// A kind that this version does not know.
    #[serde(skip)]
    Unknown(Raw),
    /// A record of a known kind with a content that this version cannot read. It counts as damage.
    #[serde(skip)]
    Unreadable(UnreadableRecord),
}

impl Record {
    /// Reads one record. A record that this version cannot read is kept as it is.
    pub(crate) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|_| {
            // The reader of the commit has parsed the text as one JSON value, so `Raw::parse` succeeds.
            let record = Raw::parse(text).unwrap_or_default();
            match kinds::known_kind(text) {
                Some(kind) => Self::Unreadable(UnreadableRecord { kind, record }),
                None => Self::Unknown(record),
            }
        })
    }

    /// The approximate number of bytes that it takes in a commit.
    pub fn bytes_about(&self) -> usize {
        let len = |raw: &Raw| raw.as_str().len();
        128 + match self {
            Self::Message(message) => len(&message.message),
            Self::Turn(turn) => std::iter::once(&turn.message).chain(&turn.more).map(len).sum(),
            Self::Staged(staged) => staged.text.stored_bytes(),
            Self::Cycle(cycle) => cycle.results.iter().map(|insert| len(&insert.message)).sum(),
            Self::Compact(compact) => compact.summary.iter().map(len).sum(),
            Self::Checkpoint(checkpoint) => checkpoint.snapshot.iter().flatten().map(len).sum(),
            Self::Repair(repair) => {
                repair.cuts.iter().flat_map(|cut| &cut.inserted).map(|insert| len(&insert.message)).sum()
            }
            Self::Unknown(raw) => len(raw),
            Self::Unreadable(unreadable) => len(&unreadable.record),
            Self::Begin(begin) => begin.policy.iter().map(len).sum(),
            Self::Policy(record) => len(&record.policy),
            Self::Intent(_)
            | Self::CycleEnd(_)
            | Self::CheckpointCommit(_)
            | Self::CheckpointsDropped(_)
            | Self::Rollback(_)
            | Self::Undo(_)
            | Self::Accepted(_)
            | Self::Compensated(_)
            | Self::Incident(_)
            | Self::Inbox(_)
            | Self::Reset(_)
            | Self::Switch(_)
            | Self::Renamed(_) => 0,
        }
    }
}

/// A record of a known kind that this version cannot read.
#[derive(Debug, Clone, PartialEq)]
pub struct UnreadableRecord {
    /// The name of the kind.
    pub kind: &'static str,
    /// The exact bytes of the record.
    pub record: Raw,
}

/// The first record of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// The dialect of its messages, where they name no other.
    pub dialect: DialectName,
    /// The provider, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The session it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The policy of the session, as its writer reads it. Version 0.1 wrote none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Raw>,
}

/// A policy that replaces the one before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyRecord {
    /// The policy, as its writer reads it.
    pub policy: Raw,
}

/// The session that another one was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The name of the session.
    pub session: SessionId,
    /// The number of its last record at that time.
    pub seq: u64,
    /// The hash of its last commit at that time.
    pub hash: Hash,
    /// The call that a sub-agent's session answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// Whether its log had lost records, so that messages may be missing from what was copied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_degraded: bool,
}

/// The origin of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The user, the model or a tool wrote it.
    #[default]
    Said,
    /// A repair or a recovery made it up, and it says so.
    Synthetic,
    /// It summarizes messages that a compaction removed.
    Summary,
}

impl Origin {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    fn is_said(&self) -> bool {
        *self == Self::Said
    }
}

/// A message in the view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageRecord {
    /// The exact bytes of the message.
    pub message: Raw,
    /// The origin of the message.
    #[serde(default, skip_serializing_if = "Origin::is_said")]
    pub origin: Origin,
    /// The dialect of the message; none means the dialect of the first record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<DialectName>,
    /// The numbers, from 0 on, of the synthetic results among the results of the message, as an [`Insert`] has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synthetic_results: Vec<u32>,
}

impl MessageRecord {
    /// A message without a list of synthetic results.
    pub fn new(message: Raw, origin: Origin, dialect: Option<DialectName>) -> Self {
        Self { message, origin, dialect, synthetic_results: Vec::new() }
    }
}

impl From<Insert> for MessageRecord {
    fn from(insert: Insert) -> Self {
        let Insert { message, origin, dialect, synthetic_results } = insert;
        Self { message, origin, dialect, synthetic_results }
    }
}

/// A response that makes tool calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The id of the cycle that it begins.
    pub cycle: CycleId,
    /// The checkpoint that was made before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    /// The exact bytes of its first message; in some dialects each call is a message of its own.
    pub message: Raw,
    /// The messages after the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<Raw>,
    /// The tool calls that it makes.
    pub calls: Vec<CallRecord>,
    /// The dialect of its messages; none means the dialect of the first record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<DialectName>,
}

/// A tool call of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The id of the call.
    pub id: CallId,
    /// The name of the tool.
    pub tool: String,
    /// The effect of running it.
    pub effect: Effect,
    /// The hash of its name and arguments, which tells it from another call of the same id.
    pub arguments: Hash,
}

/// The intent to run a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The id of the cycle.
    pub cycle: CycleId,
    /// The id of the call.
    pub call: CallId,
    /// The idempotency key of the call.
    pub key: String,
}

/// A committed cycle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CycleRecord {
    /// The id of the cycle.
    pub cycle: CycleId,
    /// The messages with the results of its calls.
    pub results: Vec<Insert>,
}

/// A cycle that was rolled back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleEnd {
    /// The id of the cycle.
    pub cycle: CycleId,
    /// The reason for it.
    pub reason: String,
    /// The calls that are about to be undone. A [`Record::Compensated`] follows for each of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undoing: Vec<CallId>,
}

/// A named place to roll back to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckpointRecord {
    /// The id of the checkpoint.
    pub id: CheckpointId,
    /// The operation that it was made for.
    pub operation: Operation,
    /// The number of messages in the view.
    pub messages: u64,
    /// The hash of these messages.
    pub hash: Hash,
    /// The messages themselves, where the policy keeps them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Vec<Raw>>,
}

/// Checkpoints that are removed from the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedCheckpoints {
    /// The ids of the checkpoints.
    pub ids: Vec<CheckpointId>,
}

/// A rollback to a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rollback {
    /// The id of the checkpoint.
    pub checkpoint: CheckpointId,
    /// The number of the checkpoint's record. Later records leave the view even if that record is damaged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// The reason for it.
    pub reason: String,
}

/// The messages that a place means, by the records that brought them. After damage an index would mean other messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meant {
    /// The message before them, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<EntryId>,
    /// The messages that are meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<EntryId>,
    /// The message after them, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<EntryId>,
}

/// Identifies a message of the view: the number of the record that brought it, and its index among the messages of that
/// record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntryId(pub u64, pub u32);

/// A message that a record inserts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Insert {
    /// The exact bytes of the message.
    pub message: Raw,
    /// The origin of the message.
    #[serde(default, skip_serializing_if = "Origin::is_said")]
    pub origin: Origin,
    /// The dialect of the message; none means the dialect of the first record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<DialectName>,
    /// The numbers, from 0 on, of the synthetic results among the results of the message. Recorded where a message holds
    /// several results. Version 0.1 recorded none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synthetic_results: Vec<u32>,
}

impl Insert {
    /// A message without a list of synthetic results.
    pub fn new(message: Raw, origin: Origin, dialect: Option<DialectName>) -> Self {
        Self { message, origin, dialect, synthetic_results: Vec::new() }
    }
}

impl From<MessageRecord> for Insert {
    fn from(record: MessageRecord) -> Self {
        let MessageRecord { message, origin, dialect, synthetic_results } = record;
        Self { message, origin, dialect, synthetic_results }
    }
}

/// A repair that is reverted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// The id of the repair.
    pub repair: RepairId,
}

/// Messages that a summary replaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compact {
    /// The index of the first message that is replaced.
    pub from: u64,
    /// The index after the last message that is replaced.
    pub to: u64,
    /// The messages that the range means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meant: Option<Meant>,
    /// The messages that replace them.
    pub summary: Vec<Raw>,
    /// The dialect of the summary; none means the dialect of the first record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<DialectName>,
}

/// Inbox messages that a commit takes in. They follow as [`Record::Message`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxTaken {
    /// The ids of the inbox messages.
    pub ids: Vec<InboxId>,
}

/// A new start of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reset {
    /// The indices of the messages that stay.
    pub kept: Vec<u64>,
    /// The messages that stay, by the records that brought them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meant: Vec<EntryId>,
    /// The session that keeps the others, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<SessionId>,
}

#[cfg(test)]
mod tests;
