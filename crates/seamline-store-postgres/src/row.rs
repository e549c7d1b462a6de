//! From rows to what they say.

use seamline_store::{Error, Hash, Head, Holder, SessionId};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use crate::fault::Fault;
use crate::transaction::Place;

/// The row of a session.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) head: Head,
    pub(crate) is_erased: bool,
    pub(crate) holder: Option<Holder>,
    pub(crate) commits: u64,
    pub(crate) bytes: u64,
}

impl Standing {
    /// What [`Standing::read`] reads. Whoever's lease has run out does not hold the session any more.
    pub(crate) const COLUMNS: &'static str = "epoch, head_seq, head_hash, erased_at IS NOT NULL AS is_erased, \
         CASE WHEN lease_until > now() THEN holder END AS holder, commits, bytes";

    /// What is known of a session, if anything is.
    pub(crate) async fn find(place: &Place<'_>, session: &SessionId) -> Result<Option<Self>, Fault> {
        let columns = Self::COLUMNS;
        let sql = format!("SELECT {columns} FROM seamline_sessions WHERE tenant = $1 AND session = $2");
        let params: crate::transaction::Params<'_> = &[(&place.tenant(), Type::TEXT), (&session.as_str(), Type::TEXT)];
        let rows = place.query(&sql, params).await?;
        rows.first().map(Self::read).transpose()
    }

    /// What is known of a session that is there.
    pub(crate) async fn live(place: &Place<'_>, session: &SessionId) -> Result<Self, Fault> {
        match Self::find(place, session).await? {
            None => Err(Fault::Answer(Error::NotFound(session.clone()))),
            Some(found) if found.is_erased => Err(Fault::Answer(Error::Erased(session.clone()))),
            Some(found) => Ok(found),
        }
    }

    pub(crate) fn read(row: &Row) -> Result<Self, Fault> {
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

/// The end of a session.
pub(crate) fn head(row: &Row) -> Result<Head, Fault> {
    Ok(Head { epoch: count(row, "epoch")?, seq: count(row, "head_seq")?, hash: hash(row, "head_hash")? })
}

pub(crate) fn column<'a, T: FromSql<'a>>(row: &'a Row, name: &str) -> Result<T, Fault> {
    Ok(row.try_get(name)?)
}

pub(crate) fn count(row: &Row, name: &str) -> Result<u64, Fault> {
    let number: i64 = column(row, name)?;
    u64::try_from(number).map_err(|_| damaged(format!("`{name}` is {number}")))
}

pub(crate) fn hash(row: &Row, name: &str) -> Result<Hash, Fault> {
    let bytes: &[u8] = column(row, name)?;
    let len = bytes.len();
    let bytes = bytes.try_into().map_err(|_| damaged(format!("`{name}` has {len} bytes")))?;
    Ok(Hash::from_bytes(bytes))
}

pub(crate) fn damaged(why: String) -> Fault {
    Fault::Answer(Error::Damaged(why))
}

/// A number as the database takes it. Ours never reach the half that it lacks, and a bound may be cut to it.
pub(crate) fn bigint(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
