//! The interface of session stores.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cause;
use crate::commit::{COMMIT_BYTES_MAX, Sealed};
use crate::error::Error;
use crate::hash::Hash;
use crate::id::{DialectName, InboxId, SessionId};
use crate::inbox_damage::InboxDamage;
use crate::loss::LogLoss;
use crate::raw::Raw;
use crate::seal::SealKey;

/// The pending result of a store. Dropping it does not cancel the operation.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A store of commits.
///
/// A commit is stored completely or not at all, and acknowledged commits survive a crash. Safety never depends on a
/// clock: each lease has an *epoch*, and the store accepts only commits of the latest one. A store does not read
/// records.
pub trait Store: Send + Sync + fmt::Debug {
    /// The key that sessions seal new commits with, and check the seals of stored ones with. The store itself does not
    /// use it.
    fn seal_key(&self) -> Option<&SealKey> {
        None
    }

    /// Creates a session and leases it, in epoch 1.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::Erased`].
    fn create<'a>(&'a self, session: &'a SessionId, holder: &'a Holder) -> Pending<'a, Lease>;

    /// Leases a session for writing, in a new epoch.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`]; [`Error::Busy`] where another live process holds the lease and `how`
    /// does not take it over.
    fn acquire<'a>(&'a self, session: &'a SessionId, holder: &'a Holder, how: Acquire) -> Pending<'a, Lease>;

    /// Releases the lease of an epoch. Does nothing where another writer took over.
    ///
    /// # Errors
    /// Fails when the store cannot be written.
    fn release<'a>(&'a self, session: &'a SessionId, epoch: u64) -> Pending<'a, ()>;

    /// Stores a commit, if it has the latest epoch and follows the last commit. The inbox messages that it takes in
    /// ([`Sealed::taken`]) leave the inbox with it. Acknowledges a commit again that is already stored with the same
    /// id, place and bytes. A writer never gives two commits of a session the same id.
    ///
    /// # Errors
    /// [`Error::Fenced`], [`Error::Conflict`], [`Error::Unknown`], and the errors of writing.
    fn append(&self, commit: Arc<Sealed>) -> Pending<'_, Appended>;

    /// Returns the latest epoch and the last commit of a session.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`].
    fn read_head<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Head>;

    /// Reads the stored commits after record `after`, up to about `bytes_max` bytes and at least one. Does not check
    /// them: [`crate::replay`] does.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`], [`Error::Damaged`].
    fn read<'a>(&'a self, session: &'a SessionId, after: u64, bytes_max: usize) -> Pending<'a, Vec<StoredCommit>>;

    /// Lists sessions by name, starting after `after`. Leaves erased ones out.
    ///
    /// # Errors
    /// Fails when the store cannot be read.
    fn list_sessions<'a>(&'a self, after: Option<&'a SessionId>, limit: usize) -> Pending<'a, Vec<SessionInfo>>;

    /// Puts a message into the inbox of a session, for its writer to take in. Does nothing where the inbox had the same
    /// message under the same id before, taken or not. Only the bytes count, not the
    /// dialect. The message of an id that [`Store::import`] brought is unknown, so any message counts as the same.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`]; [`Error::IdTaken`] where another message had the id before.
    fn push<'a>(&'a self, session: &'a SessionId, item: &'a InboxItem) -> Pending<'a, Pushed>;

    /// Reads the first messages of the inbox, in the order they came: up to [`INBOX_MESSAGES_MAX`] and about
    /// [`INBOX_BYTES_MAX`] bytes of them, and at least one. The next follow once these are taken. Leaves altered
    /// messages out: [`Store::check_inbox`] reports them. The inbox is not part of a commit, so an export does not
    /// have it; the commits hold the ids that were taken, and [`Store::import`] reads them.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`].
    fn read_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxItem>>;

    /// Counts the messages of the inbox.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`].
    fn count_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, u64>;

    /// Checks the whole inbox and reports its damage: up to [`crate::INBOX_DAMAGES_MAX`] altered messages, with about
    /// [`INBOX_BYTES_MAX`] bytes, one by one, and the number of further ones in the last entry.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`].
    fn check_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxDamage>> {
        Box::pin(async move { self.read_head(session).await.map(|_| Vec::new()) })
    }

    /// Stores unreadable bytes in the quarantine, by their hash. The same bytes are stored once.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`].
    fn quarantine<'a>(&'a self, session: &'a SessionId, bytes: &'a [u8]) -> Pending<'a, Hash>;

    /// Reads the quarantine. Bytes that were altered since do not have the hash that is stored with them.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`].
    fn read_quarantine<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<Quarantined>>;

    /// Reports the commits that the store lost before it could read them, such as those of a damaged write-ahead log.
    /// Where the store keeps the bytes in a file, the report ends when the operator removes the file.
    ///
    /// # Errors
    /// Fails when the store cannot be read.
    fn losses(&self) -> Pending<'_, Vec<LogLoss>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Creates a session from the commits of another store, byte for byte.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::Erased`], [`Error::Refused`] where the commits are not a chain.
    fn import<'a>(&'a self, session: &'a SessionId, commits: &'a [Vec<u8>]) -> Pending<'a, Head>;

    /// Removes everything of a session and reserves its name. Does not ask who holds the lease: a caller that respects
    /// other writers leases the session first ([`Store::acquire`]).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`].
    fn erase<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Erased>;
}

/// Treatment of a lease that another process holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acquire {
    /// Fail with [`Error::Busy`].
    IfFree,
    /// Take the lease from it, if it is this holder. Where another one holds the lease by now, fail with
    /// [`Error::Busy`].
    TakeOverFrom(Box<Holder>),
    /// Take the lease from it.
    TakeOver,
}

impl Acquire {
    /// Whether this takes the lease from a holder that is still there.
    pub fn takes_over(&self, holder: &Holder) -> bool {
        match self {
            Self::IfFree => false,
            Self::TakeOverFrom(from) => **from == *holder,
            Self::TakeOver => true,
        }
    }
}

/// A process that holds a lease. It is shown to people; safety does not depend on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The name of the machine.
    pub host: String,
    /// The number of the process.
    pub pid: u32,
    /// The start time of the process, in any unit of the machine: it tells apart two processes with one number.
    pub started: u64,
    /// The boot id of the machine, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// The namespace that the process number belongs to, where the machine has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// The time when the lease began, in milliseconds since 1970.
    pub since: u64,
    /// The count of leases of this process: it tells apart two that begin in the same millisecond.
    #[serde(default)]
    pub opening: u64,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.pid, self.host)
    }
}

/// The right to write a session, until another writer takes it over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The epoch of the commits under this lease.
    pub epoch: u64,
    /// The head that the next commit follows.
    pub head: Head,
}

/// The head of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Head {
    /// The epoch of the latest lease.
    pub epoch: u64,
    /// The number of the last record; 0 where there is none.
    pub seq: u64,
    /// The hash of the last commit.
    pub hash: Hash,
}

impl Head {
    /// The head of an empty session.
    pub const START: Self = Self { epoch: 1, seq: 0, hash: Hash::ZERO };
}

/// The outcome of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// The store stored the commit.
    New,
    /// The store had the commit before.
    Already,
}

/// A commit as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCommit {
    /// The number under which it is stored.
    pub seq: u64,
    /// The bytes of the commit, which may be damaged.
    pub bytes: Vec<u8>,
    /// Whether the index of the store leads to it. Where an index is damaged, a store reads its table instead.
    pub is_indexed: bool,
}

/// The facts about a session that a store knows without reading its commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionInfo {
    /// The name of the session.
    pub session: SessionId,
    /// The head of the session.
    pub head: Head,
    /// The number of its commits.
    pub commits: u64,
    /// The size of its commits, in bytes.
    pub bytes: u64,
    /// The process that holds the lease, if any.
    pub holder: Option<Holder>,
    /// The dialect of new messages: that of the last commit that sets one ([`Sealed::dialect`]). None in a session without
    /// such a commit, and where the first commit of a session that version 0.1 wrote is damaged.
    pub dialect: Option<DialectName>,
}

/// A message for a session from a process other than its writer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxItem {
    /// The identity of the message. A message that is sent twice has the same one.
    pub id: InboxId,
    /// The exact bytes of the message.
    pub message: Raw,
    /// The dialect of the message. The session may switch to another one before its writer takes the message in. Version
    /// 0.1 stored none: such a message is read in the dialect that the session has by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<DialectName>,
}

impl InboxItem {
    /// Checks that a commit can hold the message.
    ///
    /// # Errors
    /// [`Error::Refused`], with the limit.
    pub fn fits(&self) -> Result<(), Error> {
        let bytes = self.bytes_about();
        if bytes < COMMIT_BYTES_MAX {
            return Ok(());
        }
        Err(Error::Refused(cause::Refused::MessageTooLarge { bytes }))
    }

    /// Decides about a message whose id was in the inbox before, with the same message or another one.
    ///
    /// # Errors
    /// [`Error::IdTaken`].
    pub fn again(&self, session: &SessionId, is_same: bool) -> Result<Pushed, Error> {
        if is_same {
            return Ok(Pushed::Already);
        }
        Err(Error::IdTaken { session: session.clone(), id: self.id.clone() })
    }

    /// An upper estimate of the bytes that it takes in a commit.
    pub fn bytes_about(&self) -> usize {
        // JSON may escape a character of an id with six.
        self.message.as_bytes().len() + 6 * self.id.as_str().len() + 1024
    }
}

/// The most inbox messages that a store returns at once.
pub const INBOX_MESSAGES_MAX: usize = 1_000;

/// The most bytes of inbox messages that a store returns at once, where there is more than one message.
pub const INBOX_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The inbox messages that a store returns at once.
#[derive(Debug, Default)]
pub struct InboxPage {
    items: Vec<InboxItem>,
    bytes: usize,
}

impl InboxPage {
    /// Adds a message. Returns false where it has no room.
    pub fn take(&mut self, item: InboxItem) -> bool {
        self.bytes = self.bytes.saturating_add(item.message.as_bytes().len());
        let has_room = self.items.len() < INBOX_MESSAGES_MAX && self.bytes <= INBOX_BYTES_MAX;
        if has_room || self.items.is_empty() {
            self.items.push(item);
            return true;
        }
        false
    }

    /// The messages of the page.
    pub fn into_items(self) -> Vec<InboxItem> {
        self.items
    }
}

/// The outcome of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// The message is in the inbox.
    New,
    /// The inbox had the message before, with the same bytes.
    Already,
}

/// Bytes in the quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// The hash that is stored with them.
    pub hash: Hash,
    /// The bytes as they are stored.
    pub bytes: Vec<u8>,
}

/// Counts of the rows that an erasure removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Erased {
    /// The number of removed commits.
    pub commits: u64,
    /// The size of the removed commits, in bytes.
    pub bytes: u64,
}
