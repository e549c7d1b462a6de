//! Sessions that programs keep in SQLite databases.
//!
//! A database holds many sessions. [`Database::open`] recognises its program by its tables, and [`Database::sessions`] lists
//! the sessions. The rows of a session are read as records, one JSON object each, so that the program's
//! [`Format`](crate::session::Format) reads and writes them like the lines of a file. Each program has one file in
//! `schemas/`, which has the SQL.
//!
//! Reading leaves no trace: the database is opened read-only. [`Database::write`] changes the rows of one session in one
//! transaction, and only if they still are what was read. Before that it copies the whole database with SQLite's own
//! backup. The [`Journal`] that it gives has the old and the new values, and [`undo`] restores exactly these rows.

mod cell;
mod error;
mod journal;
mod msgpack;
mod open;
mod projection;
mod record;
mod rows;
mod schema;
mod schemas;
mod writing;

pub use cell::Cell;
pub use error::DatabaseError;
pub use journal::{Journal, RowChange};
pub use open::{Database, SessionReading, is_database};
pub use projection::Projection;
pub use rows::{NewRow, Rows};
pub use schema::{RowPlace, SessionRow};
pub use writing::{SessionChange, undo, undo_all};
