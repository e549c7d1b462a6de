//! What goes wrong with SQLite, in the words of a store.

use rusqlite::ErrorCode;
use rusqlite::ffi;
use seamline_store::Error;

/// Why something was not done.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It was understood and is the answer; nothing was changed for it.
    Said(Error),
    /// What the file holds is nothing that a store writes.
    Odd(&'static str),
    /// SQLite said so.
    Sqlite(rusqlite::Error),
}

pub(crate) type Outcome<T> = Result<T, Fault>;

/// What was being done when it went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Reading,
    Writing,
}

impl Fault {
    pub(crate) fn into_error(self, doing: Doing) -> Error {
        match self {
            Self::Said(error) => error,
            Self::Odd(what) => Error::Damaged(what.to_owned()),
            Self::Sqlite(error) => of_sqlite(&error, doing),
        }
    }

    /// Whether it is a place in the file that cannot be read, where other places may be.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Said(_) => false,
            Self::Odd(_) => true,
            Self::Sqlite(error) => matches!(of_sqlite(error, Doing::Reading), Error::Damaged(_)),
        }
    }

    /// Whether the connection it came from is not to be used again.
    pub(crate) fn spoils(&self) -> bool {
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
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Said(error)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

fn of_sqlite(error: &rusqlite::Error, doing: Doing) -> Error {
    use ErrorCode as Code;
    let why = error.to_string();
    let Some(said) = error.sqlite_error() else {
        // The binding says so: a column is not of the kind it was written in.
        return Error::Damaged(why);
    };
    match said.code {
        Code::DiskFull => Error::NoSpace(why),
        Code::ReadOnly | Code::PermissionDenied => Error::ReadOnly(why),
        Code::CannotOpen if doing == Doing::Writing => Error::ReadOnly(why),
        Code::DatabaseBusy | Code::DatabaseLocked | Code::FileLockingProtocolFailed => Error::Unavailable(why),
        Code::TooBig if doing == Doing::Writing => Error::Refused("it is more than the store can hold".to_owned()),
        Code::SystemIoFailure if is_of_the_file(said.extended_code) => Error::Damaged(why),
        Code::DatabaseCorrupt
        | Code::NotADatabase
        | Code::ConstraintViolation
        | Code::TypeMismatch
        | Code::SchemaChanged
        | Code::TooBig
        // "no such table", "no such column", and what else a damaged schema leads to.
        | Code::Unknown => Error::Damaged(why),
        _ => Error::Failed(why),
    }
}

/// Whether the file is shorter than it says it is, or its file system says that it is damaged.
fn is_of_the_file(extended_code: i32) -> bool {
    [ffi::SQLITE_IOERR_SHORT_READ, ffi::SQLITE_IOERR_CORRUPTFS].contains(&extended_code)
}
