//! Bytes that were put aside.

use seamline_store::{Hash, Quarantined, SessionId};
use tokio_postgres::types::Type;

use crate::connections::Operation;
use crate::fault::Fault;
use crate::row::{Standing, column, hash};
use crate::transaction::{Params, Place};

/// The row of the session is held, so that nothing is put aside for one that is being erased.
const PUT_ASIDE: &str = "\
WITH kept AS (
    SELECT session FROM seamline_sessions
    WHERE tenant = $1 AND session = $2 AND erased_at IS NULL FOR UPDATE
)
INSERT INTO seamline_quarantine (tenant, session, hash, bytes)
SELECT $1, $2, $3, $4 FROM kept
ON CONFLICT (tenant, session, hash) DO NOTHING
RETURNING hash";

const PUT_ASIDE_BEFORE: &str = "\
SELECT hash, bytes FROM seamline_quarantine WHERE tenant = $1 AND session = $2 ORDER BY hash";

#[derive(Debug)]
pub(crate) struct PutAside {
    pub(crate) session: SessionId,
    pub(crate) bytes: Vec<u8>,
}

impl Operation for PutAside {
    type Output = Hash;

    async fn attempt(&self, place: &Place<'_>) -> Result<Hash, Fault> {
        let hash = Hash::of(&self.bytes);
        let params: Params<'_> = &[
            (&place.tenant(), Type::TEXT),
            (&self.session.as_str(), Type::TEXT),
            (&hash.as_bytes().as_slice(), Type::BYTEA),
            (&self.bytes.as_slice(), Type::BYTEA),
        ];
        if place.query(PUT_ASIDE, params).await?.is_empty() {
            Standing::live(place, &self.session).await?;
        }
        Ok(hash)
    }
}

#[derive(Debug)]
pub(crate) struct ListAside(pub(crate) SessionId);

impl Operation for ListAside {
    type Output = Vec<Quarantined>;
    const WRITES: bool = false;

    async fn attempt(&self, place: &Place<'_>) -> Result<Vec<Quarantined>, Fault> {
        Standing::live(place, &self.0).await?;
        let params: Params<'_> = &[(&place.tenant(), Type::TEXT), (&self.0.as_str(), Type::TEXT)];
        let rows = place.query(PUT_ASIDE_BEFORE, params).await?;
        rows.iter().map(|row| Ok(Quarantined { hash: hash(row, "hash")?, bytes: column(row, "bytes")? })).collect()
    }
}
