//! The contract of session stores.
//!
//! A session is a chain of commits. A [`Commit`] holds [`Record`]s, the hash of the commit before it and its own hash
//! over its exact bytes ([`Sealed`]). The view that a provider gets is a pure fold over intact commits: [`replay`]
//! makes the [`State`] of a session from the commits that a store returns, and reports the damaged ones. A [`Store`]
//! keeps commits. [`MemoryStore`] is the reference implementation, and [`conformance`] tests any store against the
//! contract.
//!
//! This crate opens no file, no socket and reads no clock: time and the names of processes are arguments.
#![deny(clippy::disallowed_methods)]
// A new kind of record, damage or error must not fall into an arm that was written before it.
#![warn(clippy::wildcard_enum_match_arm)]

pub mod cause;
mod chain;
mod changes;
mod checkpoint;
mod commit;
pub mod conformance;
mod cycle;
mod error;
mod hash;
mod id;
mod inbox_damage;
mod incident;
mod keyed;
mod loss;
mod memory;
mod naming;
mod raw;
mod record;
mod rejected;
mod repairs;
mod replay;
mod seal;
mod state;
mod store;
mod view;

pub use chain::{chain, chain_with};
pub use checkpoint::{Checkpoint, CheckpointState, Operation};
pub use commit::{COMMIT_BYTES_MAX, Commit, Flaw, OpenedCommit, Sealed};
pub use cycle::{CallState, CycleState, CycleStep, Effect, OpenCall, OpenCycle, PendingCompensation};
pub use error::{CommitFate, Error};
pub use hash::Hash;
pub use id::{CallId, CheckpointId, CommitId, CycleId, DialectName, InboxId, InvalidSessionId, RepairId, SessionId};
pub use inbox_damage::{INBOX_DAMAGES_MAX, InboxDamage, InboxDamageKind, InboxDamages};
pub use incident::{Incident, IncidentKind, IncidentSeverity, RejectedMembers};
pub use keyed::KeyedStore;
pub use loss::LogLoss;
pub use memory::MemoryStore;
pub use raw::{NotJson, Raw};
pub use record::{
    Accepted, AcceptedFinding, Begin, CallOutcome, CallRecord, CheckpointRecord, Compact, Compensated,
    CompensationOutcome, Cut, CycleEnd, CycleRecord, DroppedCheckpoints, EntryId, InboxTaken, Insert, Intent, Meant,
    MessageRecord, Origin, Parent, PolicyRecord, Record, RenamedCall, RenamedCalls, RepairKind, RepairRecord, Reset,
    ResultText, Rollback, Staged, Switch, Turn, Undo, UnreadableRecord,
};
pub use rejected::{CallStep, Rejected, SpentCheckpoint};
pub use replay::{Damage, DamageKind, Replay, Replayed, replay, replay_with};
pub use seal::SealKey;
pub use state::State;
pub use store::{
    Acquire, Appended, Erased, Head, Holder, INBOX_BYTES_MAX, INBOX_MESSAGES_MAX, InboxItem, InboxPage, Lease, Pending,
    Pushed, Quarantined, SessionInfo, Store, StoredCommit,
};
pub use view::{Entry, EntrySource, View};

#[cfg(test)]
mod gap_tests;
