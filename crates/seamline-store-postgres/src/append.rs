//! Appends a commit.

use std::sync::Arc;

use seamline_store::{Appended, DialectName, Error, Sealed};
use tokio_postgres::types::Type;

use crate::connections::Operation;
use crate::failure::Failure;
use crate::row::{bigint, column, count};
use crate::transaction::{Attempt, Params};

/// Compares and sets the head, stores the commit, and takes messages out of the inbox, atomically. It returns no row if
/// the head does not match.
const APPEND: &str = "\
WITH head AS (
    UPDATE seamline_sessions
    SET head_seq = $6, head_hash = $7, commits = commits + 1, bytes = bytes + octet_length($10), touched_at = now(),
        dialect = coalesce($13, dialect),
        lease_until = CASE WHEN holder IS NULL THEN NULL ELSE now() + $12 * interval '1 second' END
    WHERE tenant = $1 AND session = $2 AND epoch = $3 AND head_seq = $4 AND head_hash = $5 AND erased_at IS NULL
    RETURNING session
), taken AS (
    UPDATE seamline_inbox SET message = NULL
    WHERE tenant = $1 AND session = $2 AND id = ANY($11) AND EXISTS (SELECT 1 FROM head)
    RETURNING id
)
INSERT INTO seamline_commits (tenant, session, seq, records, epoch, commit_id, prev, hash, body)
SELECT $1, $2, $4 + 1, $8, $3, $9, $5, $7, $10 FROM head
RETURNING seq";

/// Finds out why the head does not match.
const EXPLAIN: &str = "\
SELECT epoch, erased_at IS NOT NULL AS is_erased,
    (SELECT hash FROM seamline_commits WHERE tenant = $1 AND session = $2 AND commit_id = $3) AS hash
FROM seamline_sessions WHERE tenant = $1 AND session = $2";

/// PostgreSQL's code for a row that exists already.
const UNIQUE_VIOLATION: &str = "23505";

#[derive(Debug)]
pub(crate) struct Append(pub(crate) Arc<Sealed>);

impl Operation for Append {
    type Output = Appended;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<Appended, Failure> {
        if self.try_append(attempt).await? { Ok(Appended::New) } else { self.explain_rejection(attempt).await }
    }

    fn unknown(&self, why: String) -> Error {
        Error::Unknown { commit: self.0.id(), why }
    }
}

impl Append {
    async fn try_append(&self, attempt: &Attempt<'_>) -> Result<bool, Failure> {
        let commit = &self.0;
        let (before, after) = (commit.before(), commit.after());
        let id = commit.id().to_bytes();
        let taken: Vec<&[u8]> = commit.taken().iter().map(|id| id.as_str().as_bytes()).collect();
        let params: Params<'_> = &[
            (&attempt.tenant(), Type::TEXT),
            (&commit.session().as_str(), Type::TEXT),
            (&bigint(commit.epoch()), Type::INT8),
            (&bigint(before.seq), Type::INT8),
            (&before.hash.as_bytes().as_slice(), Type::BYTEA),
            (&bigint(after.seq), Type::INT8),
            (&after.hash.as_bytes().as_slice(), Type::BYTEA),
            (&bigint(commit.count()), Type::INT8),
            (&id.as_slice(), Type::BYTEA),
            (&commit.bytes(), Type::BYTEA),
            (&taken, Type::BYTEA_ARRAY),
            (&attempt.lease(), Type::FLOAT8),
            (&commit.dialect().map(DialectName::as_str), Type::TEXT),
        ];
        let rows = attempt.query_unless(UNIQUE_VIOLATION, APPEND, params).await?;
        Ok(rows.is_some_and(|rows| !rows.is_empty()))
    }

    async fn explain_rejection(&self, attempt: &Attempt<'_>) -> Result<Appended, Failure> {
        let commit = &self.0;
        let session = commit.session();
        let id = commit.id().to_bytes();
        let params: Params<'_> =
            &[(&attempt.tenant(), Type::TEXT), (&session.as_str(), Type::TEXT), (&id.as_slice(), Type::BYTEA)];
        let rows = attempt.query(EXPLAIN, params).await?;
        let Some(row) = rows.first() else { return Err(Failure::Final(Error::NotFound(session.clone()))) };
        if column(row, "is_erased")? {
            return Err(Failure::Final(Error::Erased(session.clone())));
        }
        let kept: Option<&[u8]> = column(row, "hash")?;
        if kept.is_some_and(|hash| hash == commit.hash().as_bytes()) {
            return Ok(Appended::Already);
        }
        let (epoch, current) = (commit.epoch(), count(row, "epoch")?);
        Err(Failure::Final(if epoch == current {
            Error::Conflict(session.clone())
        } else {
            Error::Fenced { session: session.clone(), epoch, current }
        }))
    }
}
