//! What an error of the database means for the one who asked.

use std::error::Error as _;

use deadpool_postgres::{PoolError, TimeoutType};
use seamline_store::Error;
use tokio_postgres::error::SqlState;

/// What is said of an answer that is not of the shape our tables have.
const MISREAD: [&str; 3] = ["error deserializing column", "invalid column", "query returned"];
/// What is said of something that cannot be put into a message for the database.
const NOT_SENT: [&str; 2] = ["error serializing parameter", "error encoding message"];
/// What is said where no encrypted connection came about.
const NOT_ENCRYPTED: [&str; 1] = ["error performing TLS handshake"];

/// How an attempt failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The database was asked and answered: trying again would give the same.
    Answer(Error),
    /// This attempt did nothing. Of an earlier one it says nothing.
    Nothing(Error),
    /// This attempt did nothing, and another one may well do better.
    Aborted(String),
    /// The connection was lost, and nobody knows what was done.
    Lost(String),
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        let why = said(&error);
        match error.code() {
            Some(code) => of_code(code, why),
            None if starts(&error, &MISREAD) => Self::Answer(Error::Damaged(why)),
            None if starts(&error, &NOT_SENT) => Self::Nothing(Error::Refused(why)),
            None => Self::Lost(why),
        }
    }
}

/// What kept us from getting a connection.
pub(crate) fn unreached(error: PoolError) -> Error {
    match error {
        PoolError::Backend(error) => refused_at_the_door(&error),
        PoolError::Timeout(TimeoutType::Wait) => Error::Unavailable("all connections are in use".to_owned()),
        PoolError::Timeout(_) => Error::Unavailable("no connection could be made in time".to_owned()),
        other => Error::Unavailable(other.to_string()),
    }
}

fn refused_at_the_door(error: &tokio_postgres::Error) -> Error {
    let why = said(error);
    if starts(error, &NOT_ENCRYPTED) {
        return Error::Unavailable(format!(
            "{why}\nhint: name the root certificate of the server, or say sslmode=disable where the network is trusted"
        ));
    }
    let Some(code) = error.code().map(SqlState::code) else { return Error::Unavailable(why) };
    // Who we are, or which database is meant, is wrong; waiting does not help.
    if code.starts_with("28") || code == "3D000" { Error::Address(why) } else { Error::Unavailable(why) }
}

fn of_code(code: &SqlState, why: String) -> Fault {
    match code.code() {
        // Connections that break, servers that stop, and the one code for "the outcome is not known".
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" | "40003" | "25P03" => Fault::Lost(why),
        code if code.starts_with("08") => Fault::Lost(why),
        // Another transaction was in the way.
        "40001" | "40P01" | "55P03" => Fault::Aborted(why),
        "53100" => Fault::Nothing(Error::NoSpace(why)),
        "25006" | "42501" => Fault::Nothing(Error::ReadOnly(why)),
        // Too many of something, or too slow.
        "57014" => Fault::Nothing(Error::Unavailable(why)),
        code if code.starts_with("53") => Fault::Nothing(Error::Unavailable(why)),
        code if code.starts_with("54") => Fault::Answer(Error::Refused(why)),
        // Tables, columns, types, schemas or files that should be there; bytes that should be others.
        "42P01" | "42703" | "42804" | "42883" | "42P10" | "3F000" | "58P01" | "XX001" | "XX002" => {
            Fault::Answer(Error::Damaged(why))
        }
        _ => Fault::Nothing(Error::Failed(why)),
    }
}

/// Errors that have no code are told apart by their text only. One that is not known here counts as a lost connection,
/// which is always safe.
fn starts(error: &tokio_postgres::Error, texts: &[&str]) -> bool {
    let said = error.to_string();
    texts.iter().any(|text| said.starts_with(text))
}

/// The message and its cause. The details that a database adds can hold what is in a row, so they stay out.
fn said(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!("{} ({})", error.message(), error.code().code());
    }
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_say_who_must_act() {
        let of = |code: &str| of_code(&SqlState::from_code(code), "why".to_owned());
        let why = || "why".to_owned();
        assert!(matches!(of("53100"), Fault::Nothing(error) if error == Error::NoSpace(why())));
        assert!(matches!(of("25006"), Fault::Nothing(error) if error == Error::ReadOnly(why())));
        assert!(matches!(of("42P01"), Fault::Answer(error) if error == Error::Damaged(why())));
        for lost in ["08006", "08007", "57P01", "57P02", "57P03", "40003"] {
            assert!(matches!(of(lost), Fault::Lost(_)), "{lost}");
        }
        for aborted in ["40001", "40P01"] {
            assert!(matches!(of(aborted), Fault::Aborted(_)), "{aborted}");
        }
        assert!(matches!(of("53300"), Fault::Nothing(error) if error == Error::Unavailable(why())));
    }
}
