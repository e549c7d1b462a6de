//! What a commit says.
//!
//! A record is written as an object with one member, named after its kind. Kinds that are not known are kept, counted
//! and hashed, and the fold passes over them.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Operation;
use crate::cycle::Effect;
use crate::hash::Hash;
use crate::id::SessionId;
use crate::incident::Incident;
use crate::raw::Raw;

/// One thing that happened to a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Record {
    /// A session begins.
    Begin(Begin),
    /// A message that everybody sees from now on.
    Message(MessageRecord),
    /// An answer that makes calls. Nobody sees it before its cycle is whole.
    Turn(Turn),
    /// A call is about to be run.
    Intent(Intent),
    /// A call has its result.
    Staged(Staged),
    /// The turn and its results: everybody sees them from now on.
    Cycle(CycleRecord),
    /// The turn is not to be seen.
    CycleEnd(CycleEnd),
    /// A place to come back to.
    Checkpoint(CheckpointRecord),
    /// What a checkpoint was made for went well.
    CheckpointCommit(
        /// Its id.
        String,
    ),
    /// Checkpoints that are not needed any more.
    CheckpointsDropped(Dropped),
    /// Everything since a checkpoint is not to be seen.
    Rollback(Rollback),
    /// Messages were put right.
    Repair(Repair),
    /// A repair is taken back.
    Undo(Undo),
    /// A range of messages is replaced by a summary.
    Compact(Compact),
    /// Something happened to the session's integrity.
    Incident(Incident),
    /// Messages of the inbox were taken in.
    Inbox(InboxTaken),
    /// The session starts over.
    Reset(Reset),
    /// A kind that this version does not know.
    #[serde(skip)]
    Unknown(Raw),
}

impl Record {
    /// Reads one record. What is not known is kept.
    pub(crate) fn read(text: &str) -> Self {
        // What the commit's reader took for a value is one, so there is always something to keep.
        serde_json::from_str(text).unwrap_or_else(|_| Self::Unknown(Raw::parse(text).unwrap_or_default()))
    }

    /// The messages of the inbox that it takes in.
    pub(crate) fn taken(&self) -> impl Iterator<Item = &str> {
        let ids = if let Self::Inbox(taken) = self { taken.ids.as_slice() } else { &[] };
        ids.iter().map(String::as_str)
    }

    /// About how many bytes it is written with.
    pub fn bytes_about(&self) -> usize {
        let len = |raw: &Raw| raw.as_str().len();
        128 + match self {
            Self::Message(message) => len(&message.message),
            Self::Turn(turn) => len(&turn.message),
            Self::Staged(staged) => len(&staged.result),
            Self::Cycle(cycle) => cycle.results.iter().map(|insert| len(&insert.message)).sum(),
            Self::Compact(compact) => compact.summary.iter().map(len).sum(),
            Self::Checkpoint(checkpoint) => checkpoint.snapshot.iter().flatten().map(len).sum(),
            Self::Repair(repair) => {
                repair.cuts.iter().flat_map(|cut| &cut.inserted).map(|insert| len(&insert.message)).sum()
            }
            _ => 0,
        }
    }
}

/// How a session begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// The dialect of its messages.
    pub dialect: String,
    /// The provider, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The session it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
}

/// Where a session comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The session.
    pub session: SessionId,
    /// Its last record then.
    pub seq: u64,
    /// The hash of its last commit then.
    pub hash: Hash,
    /// The call that a sub-agent's session answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// Where a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Somebody said it.
    #[default]
    Said,
    /// It stands for something that nobody knows.
    Synthetic,
    /// It stands for messages that were taken out.
    Summary,
}

impl Origin {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    fn is_said(&self) -> bool {
        *self == Self::Said
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageRecord {
    /// Its exact bytes.
    pub message: Raw,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Origin::is_said")]
    pub origin: Origin,
}

/// An answer that makes calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The cycle it begins.
    pub cycle: String,
    /// The checkpoint to come back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// Its exact bytes: one message, or several where calls are messages of their own.
    pub message: Raw,
    /// The messages behind the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<Raw>,
    /// The calls that it makes.
    pub calls: Vec<CallRecord>,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// Its id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What running it does to the world.
    pub effect: Effect,
    /// What it is called with, to tell it from another call of the same id.
    pub arguments: Hash,
}

/// A call that is about to be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The cycle.
    pub cycle: String,
    /// The call.
    pub call: String,
    /// What makes two runs of it the same for a tool that can tell.
    pub key: String,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Staged {
    /// The cycle.
    pub cycle: String,
    /// The call.
    pub call: String,
    /// What the tool returned.
    pub result: Raw,
    /// Whether it says that it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// A cycle that is whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CycleRecord {
    /// The cycle.
    pub cycle: String,
    /// The messages that answer its calls.
    pub results: Vec<Insert>,
}

/// A cycle that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleEnd {
    /// The cycle.
    pub cycle: String,
    /// Why.
    pub reason: String,
}

/// A place to come back to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckpointRecord {
    /// Its id.
    pub id: String,
    /// What it was made for.
    pub operation: Operation,
    /// How many messages there are to be seen.
    pub messages: u64,
    /// The hash of them.
    pub hash: Hash,
    /// They.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Vec<Raw>>,
}

/// Checkpoints that are not needed any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Their ids.
    pub ids: Vec<String>,
}

/// A way back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rollback {
    /// The checkpoint.
    pub checkpoint: String,
    /// The record that made it: what came later goes, even where that record is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Why.
    pub reason: String,
}

/// Messages that were put right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Repair {
    /// Its id.
    pub id: String,
    /// What changes, from the first message to the last. Places are those before the repair.
    pub cuts: Vec<Cut>,
    /// Which messages each cut means.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meant: Vec<Meant>,
    /// What was done and why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Raw>,
}

/// Messages that stand where others stood.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    /// Before which message.
    pub at: u64,
    /// How many go.
    pub removed: u64,
    /// What comes.
    pub inserted: Vec<Insert>,
}

/// Which messages are meant, by what brought them. Where something is lost, a place alone would mean other messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meant {
    /// The message before them; none where they are the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<EntryId>,
    /// They.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<EntryId>,
    /// The message behind them; none where they are the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<EntryId>,
}

/// What tells a message that is to be seen from all others: the number of the record that brought it, and its place
/// among those that this record brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntryId(pub u64, pub u32);

/// A message that comes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Insert {
    /// Its exact bytes.
    pub message: Raw,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Origin::is_said")]
    pub origin: Origin,
}

/// A repair that is taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// The repair.
    pub repair: String,
}

/// Messages that a summary stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compact {
    /// From which message on.
    pub from: u64,
    /// Up to which one, which stays.
    pub to: u64,
    /// Which messages are meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meant: Option<Meant>,
    /// What stands there now.
    pub summary: Vec<Raw>,
}

/// Messages of the inbox that were taken in. They follow as [`Record::Message`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxTaken {
    /// Their ids.
    pub ids: Vec<String>,
}

/// A new start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reset {
    /// The places of the messages that stay.
    pub kept: Vec<u64>,
    /// Which messages they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meant: Vec<EntryId>,
    /// Where the rest was put, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<SessionId>,
}
