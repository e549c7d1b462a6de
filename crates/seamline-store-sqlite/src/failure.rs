//! Failures of operations on the file, and the store errors that they become.

use std::path::Path;

use rusqlite::ErrorCode;
use rusqlite::ffi;
use seamline_store::{Error, cause};

use crate::space;

/// The reason why an operation on the file failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The operation is not possible. It changed nothing.
    Rejected(Error),
    /// The file holds something that a store never writes.
    Inconsistent(&'static str),
    /// The index does not lead to commits that the table has.
    Unindexed,
    /// SQLite or its binding returned an error.
    Sqlite(rusqlite::Error),
}

pub(crate) type Outcome<T> = Result<T, Failure>;

/// Whether the operation that failed was a read or a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Reading,
    Writing,
}

/// The meaning of an error of SQLite for the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Full,
    ReadOnly,
    Locked,
    TooLarge,
    NotSqlite,
    Damaged,
    Failed,
}

impl Failure {
    /// Converts it to a store error that names the file.
    pub(crate) fn into_error(self, doing: Doing, path: &Path) -> Error {
        match self {
            Self::Rejected(error) => error,
            Self::Inconsistent(what) => damaged(path, what),
            Self::Unindexed => Error::Damaged(cause::Damaged::Index { path: path.to_owned() }),
            Self::Sqlite(error) => {
                let (path, detail) = (path.to_owned(), error.to_string());
                match meaning(&error, doing) {
                    // SQLite says so only where the write of a page fails.
                    Meaning::Failed if needs_space(&error) && space::is_used_up(&path) => {
                        Error::NoSpace(format!("`{}`: {detail}", path.display()))
                    }
                    Meaning::Full => Error::NoSpace(format!("`{}`: {detail}", path.display())),
                    Meaning::ReadOnly => Error::ReadOnly(cause::ReadOnly::File { path, detail }),
                    Meaning::Locked => Error::Unavailable(cause::Unavailable::Locked { path }),
                    Meaning::TooLarge => Error::Refused(cause::Refused::TooLarge),
                    Meaning::NotSqlite => Error::Damaged(cause::Damaged::NotSqlite { path }),
                    Meaning::Damaged => damaged(&path, &detail),
                    Meaning::Failed => Error::Failed(cause::Failed::System { path, detail }),
                }
            }
        }
    }

    /// Whether this place in the file cannot be read, while other places may be readable.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Rejected(_) => false,
            Self::Inconsistent(_) | Self::Unindexed => true,
            Self::Sqlite(error) => {
                matches!(meaning(error, Doing::Reading), Meaning::Damaged | Meaning::NotSqlite)
            }
        }
    }

    /// Whether the connection that failed must not be used again.
    pub(crate) fn spoils_connection(&self) -> bool {
        use ErrorCode as Code;
        let Self::Sqlite(error) = self else { return false };
        matches!(
            error.sqlite_error_code(),
            Some(
                Code::SystemIoFailure
                    | Code::DatabaseCorrupt
                    | Code::NotADatabase
                    | Code::CannotOpen
                    | Code::InternalMalfunction
                    | Code::ApiMisuse
            )
        )
    }

    /// Whether SQLite failed with this code.
    pub(crate) fn has_code(&self, code: ErrorCode) -> bool {
        matches!(self, Self::Sqlite(error) if error.sqlite_error_code() == Some(code))
    }

    /// Whether another process or connection held a lock.
    pub(crate) fn is_locked(&self) -> bool {
        matches!(self, Self::Sqlite(error) if meaning(error, Doing::Reading) == Meaning::Locked)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Rejected(error)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::Damaged(cause::Damaged::File { path: path.to_owned(), detail: what.to_owned() })
}

fn meaning(error: &rusqlite::Error, doing: Doing) -> Meaning {
    use ErrorCode as Code;
    let Some(sqlite) = error.sqlite_error() else {
        // The binding failed: a column has another type than the store wrote.
        return Meaning::Damaged;
    };
    match sqlite.code {
        Code::DiskFull => Meaning::Full,
        Code::ReadOnly | Code::PermissionDenied => Meaning::ReadOnly,
        Code::CannotOpen if doing == Doing::Writing => Meaning::ReadOnly,
        Code::DatabaseBusy | Code::DatabaseLocked | Code::FileLockingProtocolFailed => Meaning::Locked,
        Code::TooBig if doing == Doing::Writing => Meaning::TooLarge,
        Code::NotADatabase => Meaning::NotSqlite,
        Code::SystemIoFailure if is_file_damage(sqlite.extended_code) => Meaning::Damaged,
        Code::DatabaseCorrupt
        | Code::ConstraintViolation
        | Code::TypeMismatch
        | Code::SchemaChanged
        | Code::TooBig
        // "no such table", "no such column" and other errors of a damaged schema.
        | Code::Unknown => Meaning::Damaged,
        _ => Meaning::Failed,
    }
}

/// Whether SQLite failed to write, to grow a file, or to sync it.
fn needs_space(error: &rusqlite::Error) -> bool {
    let codes = [
        ffi::SQLITE_IOERR_WRITE,
        ffi::SQLITE_IOERR_FSYNC,
        ffi::SQLITE_IOERR_DIR_FSYNC,
        ffi::SQLITE_IOERR_TRUNCATE,
        ffi::SQLITE_IOERR_SHMOPEN,
        ffi::SQLITE_IOERR_SHMSIZE,
        ffi::SQLITE_IOERR_SHMMAP,
    ];
    error.sqlite_error().is_some_and(|sqlite| codes.contains(&sqlite.extended_code))
}

/// Whether the file is shorter than its header says, or the file system reports that it is damaged.
fn is_file_damage(extended_code: i32) -> bool {
    [ffi::SQLITE_IOERR_SHORT_READ, ffi::SQLITE_IOERR_CORRUPTFS].contains(&extended_code)
}
