//! A session store in an SQLite file.
//!
//! [`SqliteStore`] is a [`seamline_store::Store`]. One thread writes: it puts all waiting requests into one transaction
//! and returns their results when the transaction is on the disk, so a hundred sessions cost one sync, not a hundred.
//! Other threads read. The futures need no runtime, and dropping a future does not roll its request back.
//!
//! The file is an ordinary SQLite database in WAL mode: `sqlite3 file.db` and its `.backup` work while it is written.
//! Several processes of one machine can open it. Do not put it on a network file system: SQLite's locks do not work
//! there.
//!
//! ```
//! use std::sync::Arc;
//!
//! use futures_executor::block_on;
//! use seamline_store::{Commit, CommitId, MessageRecord, Origin, Raw, Record, Store, replay};
//! use seamline_store_sqlite::{SqliteOptions, SqliteStore, this_process};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("seamline-example-{}", std::process::id()));
//! let store = SqliteStore::open(folder.join("sessions.db"), SqliteOptions::default())?;
//! let session = "s-1".parse()?;
//! let lease = block_on(store.create(&session, &this_process(1_700_000_000_000)))?;
//!
//! let message = Raw::parse(r#"{"role":"user","content":"hello"}"#)?;
//! let records = [Record::Message(MessageRecord::new(message, Origin::Said, None))];
//! let id = CommitId::from_bytes([1; 16]);
//! let at = 1_700_000_000_001;
//! let commit = Commit { session: &session, epoch: lease.epoch, head: lease.head, id, at, records: &records }.seal()?;
//! block_on(store.append(Arc::new(commit)))?;
//!
//! let head = block_on(store.read_head(&session))?;
//! let replayed = replay(&session, head, &block_on(store.read(&session, 0, usize::MAX))?);
//! assert_eq!((replayed.state.view.len(), replayed.damages.len()), (1, 0));
//! # drop(store);
//! # std::fs::remove_dir_all(folder)?;
//! # Ok(())
//! # }
//! ```
#![deny(clippy::disallowed_methods)]

mod ask;
mod commits;
mod connect;
mod failure;
mod file;
mod holder;
mod index_file;
mod job;
mod lost;
mod options;
mod queue;
mod reader;
mod reads;
mod rows;
mod salvage;
mod schema;
mod space;
mod store;
mod wal;
mod writer;
mod writes;

pub use holder::{Presence, presence, this_process};
pub use options::SqliteOptions;
pub use store::SqliteStore;
