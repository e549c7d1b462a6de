//! The errors of a store.

use std::fmt;

use crate::cause;
use crate::id::{CommitId, InboxId, SessionId};
use crate::store::Holder;

/// The fate of a commit whose append failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitFate {
    /// The store does not have the commit and takes it no more.
    NotStored,
    /// This call did not store the commit. An earlier call with the same commit may have.
    NotStoredByThisCall,
    /// The store may have the commit. Appending the same commit again settles it.
    Unknown,
}

/// The error of a store. Comments group the variants by who must act.
///
/// The text is made from the variant and its data ([`Error::message`], [`Error::hint`]); decide by the variant and its
/// [`cause`], never by the text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    // The caller chose a wrong session.
    /// No session has this name.
    NotFound(SessionId),
    /// A session has this name already.
    Exists(SessionId),
    /// The session was erased. Its name cannot be used again.
    Erased(SessionId),
    /// The inbox received another message under the same id before.
    IdTaken {
        /// The session that owns the inbox.
        session: SessionId,
        /// The id that both messages have.
        id: InboxId,
    },

    // Another writer is there.
    /// Another process holds the lease of the session.
    Busy {
        /// The session that was asked for.
        session: SessionId,
        /// The process that holds the lease.
        holder: Box<Holder>,
    },
    /// Another writer took the session over. The store takes no more commits of this one.
    Fenced {
        /// The session that was taken over.
        session: SessionId,
        /// The epoch of the rejected commit.
        epoch: u64,
        /// The current epoch of the session.
        current: u64,
    },
    /// The commit does not follow the last commit of the session.
    Conflict(SessionId),

    // The caller tries again, with the same commit.
    /// The store does not know whether it stored the commit. Appending the same commit again settles it.
    Unknown {
        /// The id of the commit.
        commit: CommitId,
        /// The error that hid the outcome.
        why: String,
    },
    /// The store cannot be reached for now.
    Unavailable(cause::Unavailable),

    // The operator frees space, repairs the disk, or installs a newer version.
    /// The disk or the store is full. The text is the system's own error.
    NoSpace(String),
    /// The store cannot be written.
    ReadOnly(cause::ReadOnly),
    /// A newer version of seamline wrote the store.
    NewerFormat {
        /// The format of the store.
        found: u64,
        /// The newest format that this version reads.
        known: u64,
    },
    /// The session has records of kinds that this version does not know. It can be read, but not written.
    UnknownRecords {
        /// The number of such records.
        count: u64,
        /// The number of the first one.
        first: u64,
    },
    /// The database under the commits is damaged.
    Damaged(cause::Damaged),
    /// The session is sealed with a key that was not given.
    SealKey(cause::WrongSealKey),
    /// Reading or writing failed.
    Failed(cause::Failed),
    /// The thread of the store that does the work has ended.
    Poisoned,

    // The caller asked for something impossible.
    /// The store URL or the file that it names is wrong.
    Address(cause::Address),
    /// The store rejects the value that the caller gave it.
    Refused(cause::Refused),
}

impl Error {
    /// Returns what happened, without the hint.
    pub fn message(&self) -> String {
        match self {
            Self::NotFound(session) => format!("there is no session `{session}`"),
            Self::Exists(session) => format!("session `{session}` exists already"),
            Self::Erased(session) => format!("session `{session}` was erased"),
            Self::IdTaken { session, id } => {
                let id = id.as_str().escape_debug();
                format!("the inbox of session `{session}` received another message under the id `{id}` before")
            }
            Self::Busy { session, holder } => format!("cannot open session `{session}`: {holder} holds its lease"),
            Self::Fenced { session, epoch, current } => format!(
                "another writer took session `{session}` over: this writer has epoch {epoch}, the session has epoch {current}"
            ),
            Self::Conflict(session) => format!("the commit does not follow the last commit of session `{session}`"),
            Self::Unknown { commit, why } => {
                format!("the connection was lost before the store acknowledged commit {commit}: {why}")
            }
            Self::Unavailable(cause) => format!("cannot reach the store: {cause}"),
            Self::NoSpace(detail) => format!("the store has no space left: {detail}"),
            Self::ReadOnly(cause) => format!("cannot write the store: {cause}"),
            Self::NewerFormat { found, known } => {
                format!("the store has format {found}; this version of seamline reads formats up to {known}")
            }
            Self::UnknownRecords { count, first } => {
                let (records, have) = if *count == 1 { ("record", "has a kind") } else { ("records", "have kinds") };
                format!(
                    "cannot write the session: {count} {records} from record {first} on {have} that this version of \
                     seamline does not know"
                )
            }
            Self::Damaged(cause) => format!("the store is damaged: {cause}"),
            Self::SealKey(cause) => cause.to_string(),
            Self::Failed(cause) => format!("the store failed: {cause}"),
            Self::Poisoned => "the store has stopped: its worker thread ended".to_owned(),
            Self::Address(cause) => cause.to_string(),
            Self::Refused(cause) => cause.to_string(),
        }
    }

    /// Returns the fate of a commit for which [`crate::Store::append`] gave this error.
    pub fn commit_fate(&self) -> CommitFate {
        match self {
            Self::Unknown { .. } => CommitFate::Unknown,
            // The store has looked: the session has another head or another writer, or is gone.
            Self::NotFound(_) | Self::Erased(_) | Self::Fenced { .. } | Self::Conflict(_) => CommitFate::NotStored,
            Self::Exists(_)
            | Self::IdTaken { .. }
            | Self::Busy { .. }
            | Self::Unavailable(_)
            | Self::NoSpace(_)
            | Self::ReadOnly(_)
            | Self::NewerFormat { .. }
            | Self::UnknownRecords { .. }
            | Self::Damaged(_)
            | Self::SealKey(_)
            | Self::Failed(_)
            | Self::Poisoned
            | Self::Address(_)
            | Self::Refused(_) => CommitFate::NotStoredByThisCall,
        }
    }

    /// Returns what the caller can do about it, where there is one thing to do.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::IdTaken { .. } => {
                "nothing was stored; give the new message its own id, and reuse an id only to send the same bytes again"
            }
            Self::Busy { .. } => "read or fork the session, or open it with `take_over`",
            Self::NoSpace(_) => "nothing was stored; free some space and try again",
            Self::NewerFormat { .. } => "install a newer version of seamline",
            Self::UnknownRecords { .. } => {
                "install the newer version of seamline that wrote them, or only read the session"
            }
            Self::Damaged(cause::Damaged::Index { path }) => {
                let path = path.display();
                return Some(format!("copy the file, then run `sqlite3 '{path}' 'REINDEX commits'`"));
            }
            Self::Damaged(_) => "`seamline session verify` lists what can still be read",
            Self::SealKey(_) => "give the store the key that the session was sealed with",
            Self::Poisoned => "open the store again",
            Self::Unavailable(cause) => return cause.hint(),
            Self::ReadOnly(cause) => return cause.hint(),
            Self::Failed(cause) => return cause.hint(),
            Self::Address(cause) => return cause.hint(),
            Self::NotFound(_)
            | Self::Exists(_)
            | Self::Erased(_)
            | Self::Fenced { .. }
            | Self::Conflict(_)
            | Self::Unknown { .. }
            | Self::Refused(_) => return None,
        };
        Some(hint.to_owned())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())?;
        match self.hint() {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn only_an_error_about_the_stored_session_settles_a_commit_that_was_sent_twice() {
        let session = || "s-1".parse().unwrap();
        assert_eq!(Error::Fenced { session: session(), epoch: 1, current: 2 }.commit_fate(), CommitFate::NotStored);
        assert_eq!(Error::NoSpace("full".to_owned()).commit_fate(), CommitFate::NotStoredByThisCall);
        let unknown = Error::Unknown { commit: CommitId::from_bytes([1; 16]), why: "lost".to_owned() };
        assert_eq!(unknown.commit_fate(), CommitFate::Unknown);
    }

    #[test]
    fn an_error_says_what_happened_and_what_to_do() {
        let holder = Holder { host: "box".to_owned(), pid: 4711, ..Holder::default() };
        let busy = Error::Busy { session: "s-1".parse().unwrap(), holder: Box::new(holder) };
        assert_eq!(
            busy.to_string(),
            "cannot open session `s-1`: process 4711 on box holds its lease\n\
             hint: read or fork the session, or open it with `take_over`"
        );
        let scheme = Error::Address(cause::Address::Scheme { scheme: "mysql".to_owned() });
        assert_eq!(scheme.message(), "unsupported store URL scheme `mysql:`");
        let locked = Error::Unavailable(cause::Unavailable::Locked { path: PathBuf::from("/s.db") });
        assert_eq!(locked.message(), "cannot reach the store: another process has locked `/s.db`");
    }
}
