//! Why a store could not do what was asked.

use crate::id::SessionId;
use crate::store::Holder;

/// Why a store could not do what was asked. Whoever must act is named first in the comments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // The caller chose a wrong session.
    /// There is no such session.
    #[error("there is no session `{0}`")]
    NotFound(SessionId),
    /// There is one of that name already.
    #[error("there is a session `{0}` already")]
    Exists(SessionId),
    /// It was erased, and nothing is written under its name again.
    #[error("session `{0}` was erased")]
    Erased(SessionId),

    /// Another message of that id was put into the inbox before.
    #[error(
        "another message was put into the inbox of session `{session}` under the id `{}` before\n\
         hint: nothing was taken; give this one an id of its own, an id is only sent again with the same bytes",
        .id.escape_debug()
    )]
    IdTaken {
        /// The session.
        session: SessionId,
        /// What both were given.
        id: String,
    },

    // Another writer is there.
    /// Another process is writing it.
    #[error("session `{session}` is being written by {holder}\nhint: read it, fork it, or take it over")]
    Busy {
        /// The session.
        session: SessionId,
        /// Who is writing.
        holder: Box<Holder>,
    },
    /// Another writer took the session over; nothing of this one is taken any more.
    #[error("session `{session}` was taken over: this writer has epoch {epoch}, the session {current}")]
    Fenced {
        /// The session.
        session: SessionId,
        /// The epoch that the commit was sealed in.
        epoch: u64,
        /// The epoch that counts.
        current: u64,
    },
    /// The commit does not follow the last one.
    #[error("the commit does not follow the last one of session `{0}`")]
    Conflict(SessionId),

    // The caller tries again, with the same commit.
    /// Nobody knows whether the commit was taken; sending the same one again says so.
    #[error("the connection was lost before it was known whether commit {commit} was taken: {why}")]
    Unknown {
        /// The id of the commit.
        commit: crate::id::CommitId,
        /// What happened.
        why: String,
    },
    /// The store cannot be reached.
    #[error("the store cannot be reached: {0}")]
    Unavailable(String),

    // The operator makes room, mends the disk, installs a newer version.
    /// There is no room.
    #[error("the store has no room left: {0}\nhint: nothing was taken; free some space and try again")]
    NoSpace(String),
    /// It may not be written.
    #[error("the store cannot be written: {0}")]
    ReadOnly(String),
    /// It was made by a newer version.
    #[error("the store has format {found}, this version knows {known}\nhint: use a newer version of seamline")]
    NewerFormat {
        /// What it says it is.
        found: u64,
        /// The newest that is known here.
        known: u64,
    },
    /// What is kept is damaged below what a commit can tell.
    #[error("the store is damaged: {0}\nhint: `seamline session verify` says what can still be read")]
    Damaged(String),
    /// Reading or writing failed.
    #[error("the store failed: {0}")]
    Failed(String),
    /// Writing failed before in a way that leaves open what is on the disk.
    #[error("the store does not write any more: {0}\nhint: open it again")]
    Poisoned(String),

    // The caller asked for something that cannot be.
    /// The address of a store is wrong.
    #[error("{0}")]
    Address(String),
    /// Something is wrong with what was given.
    #[error("{0}")]
    Refused(String),
}
