//! Where sessions are kept.
//!
//! ```
//! use seamline::store::{MemoryStore, Store};
//!
//! # futures_executor::block_on(async {
//! let store = MemoryStore::new();
//! assert!(store.sessions(None, 10).await.unwrap().is_empty());
//! # });
//! ```

pub use seamline_store::{
    Acquire, Appended, Checkpoint, CheckpointState, Damage, DamageKind, Effect, Entry, Erased, Error, Hash, Head,
    Holder, InboxItem, Incident, IncidentKind, IncidentSeverity, MemoryStore, Operation, Origin, Pushed, Quarantined,
    Raw, Rejected, Replayed, SessionId, SessionInfo, State, Store, StoredCommit, View, replay,
};
