//! Keeps sessions in an SQLite file.
//!
//! [`SqliteStore`] is a [`seamline_store::Store`]. One thread writes: it takes everything that was asked since it last
//! looked into one transaction, and answers once that is on the disk, so that a hundred sessions cost one sync and not
//! a hundred. Threads of their own read. The futures it gives need no runtime, and dropping one takes nothing back.
//!
//! The file is an ordinary SQLite database in WAL mode: `sqlite3 file.db` and its `.backup` work while it is written.
//! Several processes of one machine may have it open. It does not belong on a network file system, where SQLite's locks
//! are not to be relied on.
//!
//! ```
//! use std::sync::Arc;
//!
//! use futures_executor::block_on;
//! use seamline_store::{Commit, CommitId, MessageRecord, Origin, Raw, Record, Store, replay};
//! use seamline_store_sqlite::{Options, SqliteStore, this_process};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("seamline-example-{}", std::process::id()));
//! let store = SqliteStore::open(folder.join("sessions.db"), Options::default())?;
//! let session = "s-1".parse()?;
//! let lease = block_on(store.create(&session, &this_process(1_700_000_000_000)))?;
//!
//! let message = Raw::parse(r#"{"role":"user","content":"hello"}"#)?;
//! let records = [Record::Message(MessageRecord { message, origin: Origin::Said })];
//! let id = CommitId::from_bytes([1; 16]);
//! let at = 1_700_000_000_001;
//! let commit = Commit { session: &session, epoch: lease.epoch, head: lease.head, id, at, records: &records }.seal()?;
//! block_on(store.append(Arc::new(commit)))?;
//!
//! let head = block_on(store.head(&session))?;
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
mod fault;
mod file;
mod holder;
mod job;
mod options;
mod place;
mod queue;
mod reader;
mod reads;
mod rows;
mod schema;
mod store;
mod writer;
mod writes;

pub use holder::{Presence, presence, this_process};
pub use options::Options;
pub use store::SqliteStore;
