//! The quarantine: bytes that cannot be read.

use seamline_store::{Hash, Quarantined, SessionId};
use tokio_postgres::types::Type;

use crate::connections::Operation;
use crate::failure::Failure;
use crate::row::{SessionRow, column, hash};
use crate::transaction::{Attempt, Params};

/// Stores the bytes. It locks the session's row, so that a session that is being erased gets none.
const PUT: &str = "\
WITH kept AS (
    SELECT session FROM seamline_sessions
    WHERE tenant = $1 AND session = $2 AND erased_at IS NULL FOR UPDATE
)
INSERT INTO seamline_quarantine (tenant, session, hash, bytes)
SELECT $1, $2, $3, $4 FROM kept
ON CONFLICT (tenant, session, hash) DO NOTHING
RETURNING hash";

const LIST: &str = "\
SELECT hash, bytes FROM seamline_quarantine WHERE tenant = $1 AND session = $2 ORDER BY hash";

#[derive(Debug)]
pub(crate) struct Quarantine {
    pub(crate) session: SessionId,
    pub(crate) bytes: Vec<u8>,
}

impl Operation for Quarantine {
    type Output = Hash;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<Hash, Failure> {
        let hash = Hash::of(&self.bytes);
        let params: Params<'_> = &[
            (&attempt.tenant(), Type::TEXT),
            (&self.session.as_str(), Type::TEXT),
            (&hash.as_bytes().as_slice(), Type::BYTEA),
            (&self.bytes.as_slice(), Type::BYTEA),
        ];
        if attempt.query(PUT, params).await?.is_empty() {
            SessionRow::require(attempt, &self.session).await?;
        }
        Ok(hash)
    }
}

#[derive(Debug)]
pub(crate) struct ListQuarantined(pub(crate) SessionId);

impl Operation for ListQuarantined {
    type Output = Vec<Quarantined>;
    const WRITES: bool = false;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<Vec<Quarantined>, Failure> {
        SessionRow::require(attempt, &self.0).await?;
        let params: Params<'_> = &[(&attempt.tenant(), Type::TEXT), (&self.0.as_str(), Type::TEXT)];
        let rows = attempt.query(LIST, params).await?;
        rows.iter().map(|row| Ok(Quarantined { hash: hash(row, "hash")?, bytes: column(row, "bytes")? })).collect()
    }
}
