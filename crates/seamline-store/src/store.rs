//! What every store does.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cause;
use crate::commit::{COMMIT_BYTES_MAX, Sealed};
use crate::error::Error;
use crate::hash::Hash;
use crate::id::SessionId;
use crate::inbox_damage::InboxDamage;
use crate::raw::Raw;

/// What a store is about to answer. Dropping it does not take back what was asked.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Keeps commits.
///
/// A commit is kept wholly or not at all, and what was acknowledged is there after a crash. Safety never depends on a
/// clock: an *epoch* is given out whenever somebody opens a session for writing, and only commits of the last one are
/// taken. A store knows nothing of what records say.
pub trait Store: Send + Sync + fmt::Debug {
    /// Makes a session and opens it for writing, in epoch 1.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::Erased`].
    fn create<'a>(&'a self, session: &'a SessionId, holder: &'a Holder) -> Pending<'a, Lease>;

    /// Opens a session for writing, in an epoch of its own.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`]; [`Error::Busy`] where another process that is alive writes it and it is
    /// not to be taken over.
    fn acquire<'a>(&'a self, session: &'a SessionId, holder: &'a Holder, how: Acquire) -> Pending<'a, Lease>;

    /// Says that a writer is done. Nothing happens where another one has taken over.
    ///
    /// # Errors
    /// What keeps the store from writing.
    fn release<'a>(&'a self, session: &'a SessionId, epoch: u64) -> Pending<'a, ()>;

    /// Keeps a commit, if it is of the last epoch and follows the last one. The messages of the inbox that it takes
    /// ([`Sealed::taken`]) leave the inbox with it. A commit that is there already, with its id, its place and its bytes, is
    /// acknowledged again. Whoever writes gives no two commits of a session one id.
    ///
    /// # Errors
    /// [`Error::Fenced`], [`Error::Conflict`], [`Error::Unknown`] and what keeps the store from writing.
    fn append(&self, commit: Arc<Sealed>) -> Pending<'_, Appended>;

    /// The last epoch and commit of a session.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`].
    fn head<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Head>;

    /// The commits whose records come after `after`, as they are kept, up to about `bytes_max` bytes and at least one.
    /// Nothing is checked: [`crate::replay`] does that.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`], [`Error::Damaged`].
    fn read<'a>(&'a self, session: &'a SessionId, after: u64, bytes_max: usize) -> Pending<'a, Vec<StoredCommit>>;

    /// Sessions by name, from the one after `after` on. Erased ones are not among them.
    ///
    /// # Errors
    /// What keeps the store from reading.
    fn sessions<'a>(&'a self, after: Option<&'a SessionId>, limit: usize) -> Pending<'a, Vec<SessionInfo>>;

    /// Puts a message into the inbox of a session, for its writer to take in. The same message under the same id, taken
    /// or not, is not put there again. Of ids that came with [`Store::import`] nobody knows which message they had: they
    /// are taken for the same.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`]; [`Error::IdTaken`] where it is another message under an id that was there
    /// before.
    fn push<'a>(&'a self, session: &'a SessionId, item: &'a InboxItem) -> Pending<'a, Pushed>;

    /// The first messages of the inbox, in the order they came: up to [`INBOX_MESSAGES_MAX`] and about
    /// [`INBOX_BYTES_MAX`] bytes of them, and at least one. The next come once these are taken. What is not what was put there is left out: [`Store::inbox_damage`]
    /// names it. It belongs to no commit, so an export of the session does not have it; the ids that were taken are in
    /// the commits, and [`Store::import`] knows them.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`].
    fn inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxItem>>;

    /// How many messages are in the inbox.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`].
    fn waiting<'a>(&'a self, session: &'a SessionId) -> Pending<'a, u64>;

    /// What in the inbox is not what was put there. All of it is looked at, and up to [`crate::INBOX_DAMAGES_MAX`] of it, with
    /// about [`INBOX_BYTES_MAX`] bytes, is named one by one; how many more there are is said in the last.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`].
    fn inbox_damage<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxDamage>> {
        Box::pin(async move { self.head(session).await.map(|_| Vec::new()) })
    }

    /// Puts bytes aside that cannot be read, by their hash. The same bytes are kept once.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`].
    fn quarantine<'a>(&'a self, session: &'a SessionId, bytes: &'a [u8]) -> Pending<'a, Hash>;

    /// What was put aside, as it is kept. Bytes that were altered since do not have the hash that stands beside them.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`].
    fn quarantined<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<Quarantined>>;

    /// Makes a session of commits of another store, byte for byte.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::Erased`], [`Error::Refused`] where they are no chain.
    fn import<'a>(&'a self, session: &'a SessionId, commits: &'a [Vec<u8>]) -> Pending<'a, Head>;

    /// Removes everything of a session and keeps its name from being used again, whoever writes it: whoever wants to
    /// leave a writer alone asks for the session first ([`Store::acquire`]).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Erased`].
    fn erase<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Erased>;
}

/// What to do where another process writes the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acquire {
    /// Leave it the session.
    IfFree,
    /// Take the session from it.
    TakeOver,
}

/// A process that writes a session. It is shown to people; safety does not depend on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The machine.
    pub host: String,
    /// Its process.
    pub pid: u32,
    /// When that process started, in whatever the machine counts: it tells apart two processes of one number.
    pub started: u64,
    /// Since it was switched on, what the machine calls itself, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// Among which processes of the machine the number counts, where there are several such spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// Since when it writes, in milliseconds since 1970.
    pub since: u64,
    /// Which of the times it is that this process opens a session: it tells apart two that begin in the same moment.
    #[serde(default)]
    pub opening: u64,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.pid, self.host)
    }
}

/// The right to write a session, until somebody else gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The epoch to seal commits in.
    pub epoch: u64,
    /// What the next commit follows.
    pub head: Head,
}

/// The end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Head {
    /// The last epoch that was given out.
    pub epoch: u64,
    /// The number of the last record; 0 where there is none.
    pub seq: u64,
    /// The hash of the last commit.
    pub hash: Hash,
}

impl Head {
    /// Where a session begins.
    pub const START: Self = Self { epoch: 1, seq: 0, hash: Hash::ZERO };
}

/// What became of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// It is kept.
    New,
    /// It was kept before.
    Already,
}

/// A commit as a store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCommit {
    /// Under which number.
    pub seq: u64,
    /// Its bytes, which may be damaged.
    pub bytes: Vec<u8>,
}

/// What is known of a session without reading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionInfo {
    /// Its name.
    pub session: SessionId,
    /// Its end.
    pub head: Head,
    /// How many commits it has.
    pub commits: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// Who writes it, if anybody does.
    pub holder: Option<Holder>,
}

/// A message that somebody else than the writer of a session has for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxItem {
    /// What makes it the same message when it is sent twice.
    pub id: String,
    /// The message, in the session's dialect.
    pub message: Raw,
}

impl InboxItem {
    /// Whether a commit could take it in.
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

    /// What becomes of it where its id was in the inbox before, with the same message or another one.
    ///
    /// # Errors
    /// [`Error::IdTaken`].
    pub fn again(&self, session: &SessionId, is_same: bool) -> Result<Pushed, Error> {
        if is_same {
            return Ok(Pushed::Already);
        }
        Err(Error::IdTaken { session: session.clone(), id: self.id.clone() })
    }

    /// About how many bytes of a commit it takes, and not fewer.
    pub fn bytes_about(&self) -> usize {
        // A letter of an id may be written with six.
        self.message.as_bytes().len() + 6 * self.id.len() + 1024
    }
}

/// The most messages of an inbox that are given out at once.
pub const INBOX_MESSAGES_MAX: usize = 1_000;

/// The most bytes of messages of an inbox that are given out at once, where there is more than one of them.
pub const INBOX_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The messages of an inbox that a store gives out at once.
#[derive(Debug, Default)]
pub struct InboxPage {
    items: Vec<InboxItem>,
    bytes: usize,
}

impl InboxPage {
    /// Takes a message. False where there was no room for it.
    pub fn take(&mut self, item: InboxItem) -> bool {
        self.bytes = self.bytes.saturating_add(item.message.as_bytes().len());
        let has_room = self.items.len() < INBOX_MESSAGES_MAX && self.bytes <= INBOX_BYTES_MAX;
        if has_room || self.items.is_empty() {
            self.items.push(item);
            return true;
        }
        false
    }

    /// The messages.
    pub fn into_items(self) -> Vec<InboxItem> {
        self.items
    }
}

/// What became of a message for the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// It is there.
    New,
    /// It was there before, with the same bytes.
    Already,
}

/// Bytes that were put aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// Their hash.
    pub hash: Hash,
    /// They.
    pub bytes: Vec<u8>,
}

/// What was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Erased {
    /// How many commits.
    pub commits: u64,
    /// How many bytes of them.
    pub bytes: u64,
}
