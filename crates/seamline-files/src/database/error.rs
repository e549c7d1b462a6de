//! Why a database could not be read or written.

use rusqlite::ErrorCode;

/// Why a database could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// SQLite could not open the database.
    #[error("cannot open the database: {0}")]
    Open(String),
    /// SQLite could not read the database.
    #[error("cannot read the database: {0}")]
    Read(String),
    /// The write-ahead log beside the database has changes that SQLite cannot read without write access to the folder.
    #[error(
        "cannot read the changes in the write-ahead log beside the database: SQLite needs write access to the folder"
    )]
    Unrecovered,
    /// Another process is writing the database.
    #[error("another process is writing the database")]
    Busy,
    /// The rows are not the ones that were read.
    #[error("the session changed after it was read")]
    Changed,
    /// The rows cannot hold the repaired session.
    #[error("the rows of this program cannot hold the repaired session")]
    CannotHold,
    /// SQLite found damage in the database.
    #[error("SQLite finds damage in the database: {0}")]
    Damaged(String),
    /// The write would leave rows that refer to missing rows.
    #[error("rows of `{0}` would refer to missing rows")]
    Unlinked(String),
    /// The tables are not those of a version of the program that Seamline knows.
    #[error("the database has tables that Seamline does not know")]
    UnknownTables,
    /// The backup could not be made.
    #[error("cannot make a backup of the database: {0}")]
    Backup(String),
    /// The caller could not store the journal.
    #[error("cannot store the journal for undo: {0}")]
    Journal(String),
    /// SQLite could not write the database.
    #[error("cannot write the database: {0}")]
    Write(String),
}

impl DatabaseError {
    /// Returns what the caller can do about it, if there is one thing to do.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unrecovered => {
                Some("copy the database with the files beside it (`-wal`, `-journal`) to a folder that you can write")
            }
            Self::Busy => Some("close the program, then try again"),
            Self::Changed => Some("read the session again"),
            Self::Damaged(_) => Some("restore a backup, or rescue the rows with `.recover` of `sqlite3`"),
            Self::Backup(_) => Some("name a new file in a folder that you can write"),
            Self::Open(_)
            | Self::Read(_)
            | Self::CannotHold
            | Self::Unlinked(_)
            | Self::UnknownTables
            | Self::Journal(_)
            | Self::Write(_) => None,
        }
    }

    pub(super) fn of_reading(error: &rusqlite::Error) -> Self {
        Self::of(error).unwrap_or_else(|| Self::Read(error.to_string()))
    }

    pub(super) fn of_writing(error: &rusqlite::Error) -> Self {
        Self::of(error).unwrap_or_else(|| Self::Write(error.to_string()))
    }

    fn of(error: &rusqlite::Error) -> Option<Self> {
        match error.sqlite_error_code()? {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Some(Self::Busy),
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Some(Self::Damaged(error.to_string())),
            _ => None,
        }
    }
}
