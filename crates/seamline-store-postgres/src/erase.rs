//! Removing a session.

use seamline_store::{Erased, Error, SessionId};
use tokio_postgres::types::Type;

use crate::connections::Operation;
use crate::fault::Fault;
use crate::row::{Standing, count};
use crate::transaction::{Params, Place};

/// The row stays, so that the name is not used again. It is written first: whoever adds to the session holds it, so what
/// the statements behind it remove is all there is.
const MARK: &str = "\
UPDATE seamline_sessions SET erased_at = now(), holder = NULL, lease_until = NULL
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

    async fn attempt(&self, place: &Place<'_>) -> Result<Erased, Fault> {
        let session = &self.0;
        let params: Params<'_> = &[(&place.tenant(), Type::TEXT), (&session.as_str(), Type::TEXT)];
        let [commits, inbox, quarantine] = REMOVE;
        let rows = place.transact(&[(MARK, params), (commits, params), (inbox, params), (quarantine, params)]).await?;
        if let Some(row) = rows.first().and_then(|marked| marked.first()) {
            return Ok(Erased { commits: count(row, "commits")?, bytes: count(row, "bytes")? });
        }
        match Standing::find(place, session).await? {
            None => Err(Fault::Answer(Error::NotFound(session.clone()))),
            // An attempt whose answer was lost has erased it; the figures are those it would have given.
            Some(Standing { commits, bytes, .. }) if place.again => Ok(Erased { commits, bytes }),
            Some(_) => Err(Fault::Answer(Error::Erased(session.clone()))),
        }
    }

    fn steps(&self) -> u32 {
        REMOVE.len() as u32 + 1
    }
}
