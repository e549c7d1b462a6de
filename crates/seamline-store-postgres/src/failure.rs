//! Why an attempt failed, and whether another one can help.

use std::error::Error as _;
use std::io;

use deadpool_postgres::{PoolError, TimeoutType};
use seamline_store::{Error, cause};
use tokio_postgres::error::SqlState;

/// Why an attempt failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The database gave a definite result: another attempt would give the same.
    Final(Error),
    /// This attempt changed nothing. An earlier one may have.
    NotDone(Error),
    /// This attempt changed nothing, and another one may succeed.
    Retry(String),
    /// The connection was lost, and this attempt may or may not have changed something.
    Lost(String),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let detail = describe(&error);
        match error.code() {
            Some(code) => from_code(code, detail),
            None if is_unsendable(&error) => Self::NotDone(Error::Refused(cause::Refused::Other(detail))),
            None => Self::Lost(detail),
        }
    }
}

/// Converts an error of the pool: no connection could be had.
pub(crate) fn connect_error(error: PoolError) -> Error {
    match error {
        PoolError::Backend(error) => login_error(&error),
        PoolError::Timeout(TimeoutType::Wait) => Error::Unavailable(cause::Unavailable::PoolBusy),
        PoolError::Timeout(_) => Error::Unavailable(cause::Unavailable::ConnectTimeout),
        other => unavailable(other.to_string()),
    }
}

/// Makes the error of a connection that failed or of a server that rejects requests for now.
pub(crate) fn unavailable(detail: String) -> Error {
    Error::Unavailable(cause::Unavailable::Connection(detail))
}

fn login_error(error: &tokio_postgres::Error) -> Error {
    let detail = describe(error);
    match error.code().map(SqlState::code) {
        // The user, the password or the database is wrong; waiting does not help.
        Some(code) if code.starts_with("28") || code == "3D000" => Error::Address(cause::Address::Login(detail)),
        None if is_handshake(error) => Error::Unavailable(cause::Unavailable::Handshake(detail)),
        _ => unavailable(detail),
    }
}

fn from_code(code: &SqlState, detail: String) -> Failure {
    match code.code() {
        // Broken connections, stopping servers, and the code for "the outcome is unknown".
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" | "40003" | "25P03" => Failure::Lost(detail),
        code if code.starts_with("08") => Failure::Lost(detail),
        // Another transaction was in the way.
        "40001" | "40P01" | "55P03" => Failure::Retry(detail),
        "53100" => Failure::NotDone(Error::NoSpace(detail)),
        "25006" | "42501" => Failure::NotDone(Error::ReadOnly(cause::ReadOnly::Server(detail))),
        // A timeout, or a limit of the server.
        "57014" => Failure::NotDone(unavailable(detail)),
        code if code.starts_with("53") => Failure::NotDone(unavailable(detail)),
        code if code.starts_with("54") => Failure::Final(Error::Refused(cause::Refused::Other(detail))),
        // Tables, columns, types, schemas or files are missing, or pages are damaged.
        "42P01" | "42703" | "42804" | "42883" | "42P10" | "3F000" | "58P01" | "XX001" | "XX002" => {
            Failure::Final(Error::Damaged(cause::Damaged::Database(detail)))
        }
        _ => Failure::NotDone(Error::Failed(cause::Failed::Database(detail))),
    }
}

/// Whether the driver could not encode the request, so that nothing was sent. Errors that are neither this nor coded
/// count as a lost connection, which is always safe.
fn is_unsendable(error: &tokio_postgres::Error) -> bool {
    let io = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    io.is_some_and(|io| io.kind() == io::ErrorKind::InvalidInput && io.raw_os_error().is_none())
}

/// Whether the connection was made, but the handshake on it failed: the network's errors are plain I/O errors, those of
/// TLS hold an error of `rustls`, and those of the driver are neither.
fn is_handshake(error: &tokio_postgres::Error) -> bool {
    let Some(source) = error.source() else { return false };
    match source.downcast_ref::<io::Error>() {
        Some(io) => matches!(io.get_ref(), Some(inner) if inner.is::<rustls::Error>()),
        None => true,
    }
}

/// Returns the message and its source. The details that a database adds can hold row content, so they stay out.
pub(crate) fn describe(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!("{} ({})", error.message(), error.code().code());
    }
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_say_who_must_act() {
        let of = |code: &str| from_code(&SqlState::from_code(code), "why".to_owned());
        assert!(matches!(of("53100"), Failure::NotDone(Error::NoSpace(_))));
        assert!(matches!(of("25006"), Failure::NotDone(Error::ReadOnly(cause::ReadOnly::Server(_)))));
        assert!(matches!(of("42P01"), Failure::Final(Error::Damaged(cause::Damaged::Database(_)))));
        for lost in ["08006", "08007", "57P01", "57P02", "57P03", "40003"] {
            assert!(matches!(of(lost), Failure::Lost(_)), "{lost}");
        }
        for aborted in ["40001", "40P01"] {
            assert!(matches!(of(aborted), Failure::Retry(_)), "{aborted}");
        }
        assert!(matches!(of("53300"), Failure::NotDone(Error::Unavailable(cause::Unavailable::Connection(_)))));
    }
}
