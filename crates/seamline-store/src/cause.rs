//! The causes of store errors: what a caller can decide by, and the text made from it.
//!
//! Each enum here is the payload of the variant of [`Error`](crate::Error) with the same name. Text from an operating
//! system, a database or a driver is only shown. Callers decide by the variants.

use std::path::{Path, PathBuf};

use crate::commit::{COMMIT_BYTES_MAX, Flaw};
use crate::id::SessionId;

/// The schemes that a store URL can have.
const SCHEMES: &str = "use `sqlite:PATH`, `postgres://…` or `memory:`";

/// The cause of [`Error::Address`](crate::Error::Address): the caller named a place that cannot be a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Address {
    /// The URL has a scheme that no store serves.
    #[error("unsupported store URL scheme `{scheme}:`")]
    Scheme {
        /// The text before the first colon.
        scheme: String,
    },
    /// The build lacks the store that the URL names.
    #[error("this build has no {store} store")]
    Feature {
        /// The name of the store.
        store: &'static str,
        /// The feature of the crate `seamline` that adds the store.
        feature: &'static str,
    },
    /// The URL has no scheme. It may hold a password, so the error does not repeat it.
    #[error("the store URL has no scheme")]
    NoScheme,
    /// The path starts with `~`, which only a shell expands.
    #[error("the path of a store starts with `~`, which only a shell expands")]
    Tilde,
    /// The URL names more than one tenant.
    #[error("the store URL names more than one tenant")]
    Tenants,
    /// The tenant has a name that no tenant can have.
    #[error("a tenant name has only letters, digits, `.`, `_`, `-` and `:`")]
    TenantName,
    /// The PostgreSQL URL cannot be parsed. It may hold a password, so the error does not repeat it.
    #[error("the PostgreSQL URL is not valid, or it has an unknown setting")]
    Url,
    /// The root certificates of the options cannot be used.
    #[error("cannot use the given root certificates: {0}")]
    Certificates(String),
    /// The server rejected the user, the password or the database name.
    #[error("the database server rejected the user or the database: {0}")]
    Login(String),
    /// The database has no tables of a store.
    #[error("there is no store in this database")]
    NoTables,
    /// The file does not exist.
    #[error("there is no store at `{}`: the file does not exist", path.display())]
    Missing {
        /// The file that was named.
        path: PathBuf,
    },
    /// The file exists, and this process may not read it.
    #[error("cannot read `{}`: permission denied", path.display())]
    Unreadable {
        /// The file that was named.
        path: PathBuf,
    },
    /// The path is a folder.
    #[error("`{}` is a folder", path.display())]
    Folder {
        /// The folder that was named.
        path: PathBuf,
    },
    /// The path is a device, a pipe or a socket.
    #[error("`{}` is not a regular file", path.display())]
    NotAFile {
        /// The path that was named.
        path: PathBuf,
    },
    /// The file is empty and was opened for reading.
    #[error("`{}` is empty: it is not a store", path.display())]
    Empty {
        /// The file that was named.
        path: PathBuf,
    },
    /// The file has several hard links. SQLite would keep one write-ahead log per name.
    #[error("`{}` has {count} names (hard links); commits written under one name would be lost under another", path.display())]
    HardLinks {
        /// The file that was named.
        path: PathBuf,
        /// The number of names of the file.
        count: u64,
    },
    /// The write-ahead log of a file exists, and the file does not.
    #[error(
        "`{}` does not exist, but its write-ahead log `{}` does: the file was moved or removed without its log",
        path.display(), log.display()
    )]
    LogWithoutFile {
        /// The file that was named.
        path: PathBuf,
        /// The log beside it.
        log: PathBuf,
    },
    /// The file is the database of another application. The store did not change it.
    #[error("`{}` is a database of another application; it was not changed", path.display())]
    OtherApplication {
        /// The file that was named.
        path: PathBuf,
    },
    /// The operating system cannot use the path.
    #[error("cannot use `{}`: {detail}", path.display())]
    Path {
        /// The path that was named.
        path: PathBuf,
        /// The operating system's error.
        detail: String,
    },
}

impl Address {
    /// Returns what the caller can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Scheme { .. } | Self::NoScheme => SCHEMES,
            Self::Feature { feature, .. } => {
                return Some(format!("enable the feature `{feature}` of the crate `seamline`"));
            }
            Self::Tilde => "write the full path; `sqlite:./~/…` names a folder called `~`",
            Self::Unreadable { .. } => "check with `ls -l` who may read the file and the files beside it",
            Self::Folder { path } => {
                return Some(format!("name a file in it, such as `{}`", path.join("sessions.db").display()));
            }
            Self::HardLinks { .. } => "remove the other names, or replace the link with a copy",
            Self::LogWithoutFile { .. } => {
                "move the file back, or move the log to the file's new place and name it like the file plus `-wal`"
            }
            Self::OtherApplication { .. } => "give the store its own file",
            Self::Path { .. } => return Some(path_hint()),
            Self::Tenants
            | Self::TenantName
            | Self::Url
            | Self::Certificates(_)
            | Self::Login(_)
            | Self::NoTables
            | Self::Missing { .. }
            | Self::NotAFile { .. }
            | Self::Empty { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

/// The cause of [`Error::Unavailable`](crate::Error::Unavailable): trying again later may work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// Another process holds the lock of the file.
    #[error("another process has locked `{}`", path.display())]
    Locked {
        /// The file of the store.
        path: PathBuf,
    },
    /// All connections of the pool are in use.
    #[error("all connections to the database are in use")]
    PoolBusy,
    /// The server did not accept a connection in time.
    #[error("no connection to the database could be made in time")]
    ConnectTimeout,
    /// The server and the client did not agree on encryption or authentication.
    #[error("the connection handshake failed: {0}")]
    Handshake(String),
    /// The connection failed, or the server rejects requests for now.
    #[error("{0}")]
    Connection(String),
}

impl Unavailable {
    /// Returns what the caller can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Locked { .. } => {
                Some("nothing was changed; try again when the other process has finished".to_owned())
            }
            Self::Handshake(_) => Some(
                "name the root certificate of the server, or set `sslmode=disable` if you trust the network".to_owned(),
            ),
            Self::PoolBusy | Self::ConnectTimeout | Self::Connection(_) => None,
        }
    }
}

/// The cause of [`Error::ReadOnly`](crate::Error::ReadOnly).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadOnly {
    /// The caller opened the store for reading.
    #[error("it was opened for reading only")]
    OpenedForReading,
    /// This process may not write the file.
    #[error("`{}` may not be written: {detail}", path.display())]
    File {
        /// The file of the store.
        path: PathBuf,
        /// The error of SQLite or of the operating system.
        detail: String,
    },
    /// A file beside the database belongs to another user than the database.
    #[error("`{}` belongs to user {other}, and `{}` to user {owner}", beside.display(), path.display())]
    OtherOwner {
        /// The file of the store.
        path: PathBuf,
        /// The file beside it that belongs to another user.
        beside: PathBuf,
        /// The user id that the store belongs to.
        owner: u32,
        /// The user id that the other file belongs to.
        other: u32,
        /// Whether the write-ahead log holds commits.
        has_log: bool,
    },
    /// The database server does not let this client write.
    #[error("{0}")]
    Server(String),
}

impl ReadOnly {
    /// Returns what the caller can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::OtherOwner { path, has_log, .. } => Some(owner_hint(path, *has_log)),
            Self::File { .. } => Some("check with `ls -l` who may write it".to_owned()),
            Self::OpenedForReading | Self::Server(_) => None,
        }
    }
}

fn owner_hint(path: &Path, has_log: bool) -> String {
    let name = path.display();
    if has_log {
        return format!(
            "do not delete the log, it holds commits that are nowhere else; as root, run \
             `chown --reference='{name}' '{name}-wal' '{name}-shm'`"
        );
    }
    format!("the log is empty: delete `{name}-wal` and `{name}-shm` when no process has the store open")
}

/// The cause of [`Error::Damaged`](crate::Error::Damaged).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damaged {
    /// The file does not start like an SQLite database.
    #[error("`{}` is not an SQLite database, or its header is damaged", path.display())]
    NotSqlite {
        /// The file that was named.
        path: PathBuf,
    },
    /// The file holds values or tables that a store does not write.
    #[error("`{}`: {detail}", path.display())]
    File {
        /// The file of the store.
        path: PathBuf,
        /// The value that is wrong, or SQLite's error.
        detail: String,
    },
    /// The index of the commits does not lead to all commits that the table has, so a new commit could get lost.
    #[error("`{}`: the index does not lead to the last commits of the session; nothing was stored", path.display())]
    Index {
        /// The file of the store.
        path: PathBuf,
    },
    /// The database holds values or tables that a store does not write.
    #[error("{0}")]
    Database(String),
    /// The store returned the same commits again, or commits in the wrong order.
    #[error("the commits are not in order")]
    Disorder,
    /// The first commit of a session is lost, and no other record says which dialect the session has.
    #[error("the first commit of the session is lost: it names the dialect, and the messages fit several dialects")]
    NoDialect,
}

/// The cause of [`Error::SealKey`](crate::Error::SealKey).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WrongSealKey {
    /// No key was given.
    #[error("the session is sealed with a key, and no key was given")]
    Missing,
    /// Another key was given.
    #[error("the session is sealed with another key than the one that was given")]
    Other,
}

/// The cause of [`Error::Failed`](crate::Error::Failed).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failed {
    /// The file was removed while the store was open.
    #[error("the file `{}` is gone", path.display())]
    FileGone {
        /// The file of the store.
        path: PathBuf,
    },
    /// Another file took the name of the store, and the log beside it belongs to the earlier file.
    #[error("`{}` was replaced by another file while the store was open; the log beside it belongs to the old file", path.display())]
    FileReplaced {
        /// The file of the store.
        path: PathBuf,
    },
    /// Commits are in the log only, and this process may not write the file.
    #[error("the log of `{}` holds commits that are not in the file yet, and you may not write the file", path.display())]
    LogUnread {
        /// The file of the store.
        path: PathBuf,
    },
    /// SQLite cannot keep a write-ahead log for the file.
    #[error("`{}` cannot have a write-ahead log, only journal mode `{mode}`", path.display())]
    NoLog {
        /// The file of the store.
        path: PathBuf,
        /// The journal mode that SQLite chose.
        mode: String,
    },
    /// The session is erased, but its bytes are still in the write-ahead log.
    #[error("the session is erased, but its bytes stay in the write-ahead log for now: {0}")]
    EraseIncomplete(String),
    /// The session is erased, but a damaged log that the store keeps may have bytes of it.
    #[error("the session is erased, but `{}` keeps a damaged log, which may have bytes of it", folder.display())]
    EraseKept {
        /// The folder with the log.
        folder: PathBuf,
    },
    /// The store does not know whether it stored the change.
    #[error("it is not known whether the change was stored: {0}")]
    Unsettled(String),
    /// The operating system started no thread.
    #[error("cannot start a thread: {0}")]
    Thread(String),
    /// The store was closed before.
    #[error("the store is closed")]
    Closed,
    /// The operating system rejected an operation on the file.
    #[error("`{}`: {detail}", path.display())]
    System {
        /// The file of the store.
        path: PathBuf,
        /// The error of SQLite or of the operating system.
        detail: String,
    },
    /// The database or its driver failed.
    #[error("{0}")]
    Database(String),
}

impl Failed {
    /// Returns what the caller can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::FileReplaced { path } => {
                let name = path.display();
                Some(format!(
                    "stop the program, move `{name}-wal` beside the file that it belongs to, and remove `{name}-shm`"
                ))
            }
            Self::LogUnread { .. } => Some("run `seamline session list` once as the user who owns the file".to_owned()),
            Self::EraseIncomplete(_) => Some("close the other readers; the next write removes the bytes".to_owned()),
            Self::EraseKept { .. } => Some("remove the folder when the log is no longer needed".to_owned()),
            Self::System { .. } => Some(path_hint()),
            Self::FileGone { .. }
            | Self::NoLog { .. }
            | Self::Unsettled(_)
            | Self::Thread(_)
            | Self::Closed
            | Self::Database(_) => None,
        }
    }
}

fn path_hint() -> String {
    "check that its folder exists and that you may write in it".to_owned()
}

/// The cause of [`Error::Refused`](crate::Error::Refused): the store rejects what the caller gave it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The commit has no records.
    #[error("a commit needs at least one record")]
    EmptyCommit,
    /// The commit has too many bytes.
    #[error("the commit has {bytes} bytes; the limit is {COMMIT_BYTES_MAX}")]
    CommitTooLarge {
        /// The size of the commit, in bytes.
        bytes: usize,
    },
    /// The message is too large for the commit that would take it out of the inbox.
    #[error("the inbox message needs a commit of about {bytes} bytes; the limit is {COMMIT_BYTES_MAX}")]
    MessageTooLarge {
        /// The approximate size of its commit, in bytes.
        bytes: usize,
    },
    /// The value is larger than the database can hold.
    #[error("the value is larger than the store can hold")]
    TooLarge,
    /// The sequence numbers or the epoch of an imported session are too large for the database.
    #[error("the sequence numbers of session `{session}` are larger than the store can hold")]
    NumbersTooLarge {
        /// The session that was to be imported.
        session: SessionId,
    },
    /// A commit that was to be imported is not the next one of its session.
    #[error("cannot import commit {number} of session `{session}`: {flaw}")]
    Import {
        /// The session that was to be imported.
        session: SessionId,
        /// The number of the commit, counted from 1.
        number: usize,
        /// The reason why the commit cannot be imported.
        flaw: ImportFlaw,
    },
    /// The store rejects the value for another reason.
    #[error("{0}")]
    Other(String),
}

/// The reason why a commit cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportFlaw {
    /// Its bytes cannot be read as a commit.
    #[error(transparent)]
    Unreadable(#[from] Flaw),
    /// It belongs to another session.
    #[error("it belongs to session `{0}`")]
    OtherSession(SessionId),
    /// Its number, its epoch or its hash does not follow the commit before it.
    #[error("it does not follow the commit before it")]
    Unchained,
}
