//! Erases a session.

use seamline_store::{Erased, Error, SessionId};
use tokio_postgres::types::Type;

use crate::connections::Operation;
use crate::failure::Failure;
use crate::row::{SessionRow, count};
use crate::transaction::{Attempt, Params};

/// Marks the session as erased. Its row stays, so that the name cannot be used again. This statement runs first: it
/// waits for writers that hold the row, so the deletes after it find everything.
const MARK: &str = "\
UPDATE seamline_sessions SET erased_at = now(), holder = NULL, lease_until = NULL, dialect = NULL
WHERE tenant = $1 AND session = $2 AND erased_at IS NULL
RETURNING commits, bytes";

const REMOVE: [&str; 3] = [
    "DELETE FROM seamline_commits WHERE tenant = $1 AND session = $2",
    "DELETE FROM seamline_inbox WHERE tenant = $1 AND session = $2",
    "DELETE FROM seamline_quarantine WHERE tenant = $1 AND session = $2",
];

#[derive(Debug)]
pub(crate) struct Erase(pub(crate) SessionId);

impl Operation for Erase {
    type Output = Erased;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<Erased, Failure> {
        let session = &self.0;
        let params: Params<'_> = &[(&attempt.tenant(), Type::TEXT), (&session.as_str(), Type::TEXT)];
        let [commits, inbox, quarantine] = REMOVE;
        let rows =
            attempt.transact(&[(MARK, params), (commits, params), (inbox, params), (quarantine, params)]).await?;
        if let Some(row) = rows.first().and_then(|marked| marked.first()) {
            return Ok(Erased { commits: count(row, "commits")?, bytes: count(row, "bytes")? });
        }
        match SessionRow::find(attempt, session).await? {
            None => Err(Failure::Final(Error::NotFound(session.clone()))),
            // An earlier attempt erased it and its response was lost; the counts are still in the row.
            Some(SessionRow { commits, bytes, .. }) if attempt.again => Ok(Erased { commits, bytes }),
            Some(_) => Err(Failure::Final(Error::Erased(session.clone()))),
        }
    }

    fn steps(&self) -> u32 {
        REMOVE.len() as u32 + 1
    }
}
