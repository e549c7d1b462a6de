//! Reads values from rows.

use seamline_store::{Error, Hash, Head, Holder, SessionId, cause};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use crate::failure::{Failure, describe};
use crate::transaction::Attempt;

/// The error code of a column that does not exist.
pub(crate) const NO_COLUMN: &str = "42703";

/// The row of a session.
#[derive(Debug)]
pub(crate) struct SessionRow {
    pub(crate) head: Head,
    pub(crate) is_erased: bool,
    pub(crate) holder: Option<Holder>,
    pub(crate) commits: u64,
    pub(crate) bytes: u64,
}

impl SessionRow {
    /// The columns that [`SessionRow::read`] reads. A holder whose lease has expired is left out.
    pub(crate) const COLUMNS: &'static str = "epoch, head_seq, head_hash, erased_at IS NOT NULL AS is_erased, \
         CASE WHEN lease_until > now() THEN holder END AS holder, commits, bytes";

    /// Finds the row of a session.
    pub(crate) async fn find(attempt: &Attempt<'_>, session: &SessionId) -> Result<Option<Self>, Failure> {
        let columns = Self::COLUMNS;
        let sql = format!("SELECT {columns} FROM seamline_sessions WHERE tenant = $1 AND session = $2");
        let params: crate::transaction::Params<'_> =
            &[(&attempt.tenant(), Type::TEXT), (&session.as_str(), Type::TEXT)];
        let rows = attempt.query(&sql, params).await?;
        rows.first().map(Self::read).transpose()
    }

    /// Finds the row of a session. Fails if it does not exist or was erased.
    pub(crate) async fn require(attempt: &Attempt<'_>, session: &SessionId) -> Result<Self, Failure> {
        match Self::find(attempt, session).await? {
            None => Err(Failure::Final(Error::NotFound(session.clone()))),
            Some(found) if found.is_erased => Err(Failure::Final(Error::Erased(session.clone()))),
            Some(found) => Ok(found),
        }
    }

    pub(crate) fn read(row: &Row) -> Result<Self, Failure> {
        let holder: Option<&str> = column(row, "holder")?;
        let holder = holder.map(serde_json::from_str).transpose();
        Ok(Self {
            head: head(row)?,
            is_erased: column(row, "is_erased")?,
            holder: holder.map_err(|error| damaged(format!("the holder of a session cannot be read: {error}")))?,
            commits: count(row, "commits")?,
            bytes: count(row, "bytes")?,
        })
    }
}

/// Reads the head of a session.
pub(crate) fn head(row: &Row) -> Result<Head, Failure> {
    Ok(Head { epoch: count(row, "epoch")?, seq: count(row, "head_seq")?, hash: hash(row, "head_hash")? })
}

pub(crate) fn column<'a, T: FromSql<'a>>(row: &'a Row, name: &str) -> Result<T, Failure> {
    // The tables are ours, so a column that is missing or has another type is damage.
    row.try_get(name).map_err(|error| damaged(describe(&error)))
}

pub(crate) fn count(row: &Row, name: &str) -> Result<u64, Failure> {
    let number: i64 = column(row, name)?;
    u64::try_from(number).map_err(|_| damaged(format!("`{name}` is {number}")))
}

pub(crate) fn hash(row: &Row, name: &str) -> Result<Hash, Failure> {
    let bytes: &[u8] = column(row, name)?;
    let len = bytes.len();
    let bytes = bytes
        .try_into()
        .map_err(|_| damaged(format!("`{name}` has {len} bytes, which is not the length of a hash")))?;
    Ok(Hash::from_bytes(bytes))
}

pub(crate) fn damaged(why: String) -> Failure {
    Failure::Final(Error::Damaged(cause::Damaged::Database(why)))
}

/// Converts a number to the database's type. Stored numbers always fit; a bound is cut to its maximum.
pub(crate) fn bigint(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
