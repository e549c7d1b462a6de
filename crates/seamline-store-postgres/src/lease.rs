//! The lease of a session: create, take, renew, release.

use seamline_store::{Acquire, Error, Hash, Head, Holder, Lease, OpenedCommit, SessionId, cause};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::connections::Operation;
use crate::failure::Failure;
use crate::row::{SessionRow, bigint, column, head};
use crate::transaction::{Attempt, Params};

const CREATE: &str = "\
INSERT INTO seamline_sessions (tenant, session, epoch, head_seq, head_hash, commits, bytes, holder, lease_until)
VALUES ($1, $2, 1, 0, $5, 0, 0, $3, now() + $4 * interval '1 second')
ON CONFLICT (tenant, session) DO NOTHING
RETURNING epoch";

const ACQUIRE: &str = "\
UPDATE seamline_sessions
SET epoch = epoch + 1, holder = $3, lease_until = now() + $4 * interval '1 second', touched_at = now()
WHERE tenant = $1 AND session = $2 AND erased_at IS NULL
    AND ($5 OR holder IS NULL OR holder = $3 OR holder = $6 OR lease_until IS NULL OR lease_until <= now())
RETURNING epoch, head_seq, head_hash";

/// Finds the last commit, if the session's row ends before it.
const BEYOND: &str = "\
SELECT body FROM (
    SELECT seq, records, body FROM seamline_commits
    WHERE tenant = $1 AND session = $2 ORDER BY seq DESC LIMIT 1
) AS last
WHERE seq + records - 1 > $3";

const MEND: &str = "\
UPDATE seamline_sessions SET head_seq = $4, head_hash = $5
WHERE tenant = $1 AND session = $2 AND epoch = $3 AND erased_at IS NULL
RETURNING epoch";

const RENEW: &str = "\
UPDATE seamline_sessions SET lease_until = now() + $4 * interval '1 second'
WHERE tenant = $1 AND session = $2 AND epoch = $3 AND holder IS NOT NULL AND erased_at IS NULL
RETURNING epoch";

const RELEASE: &str = "\
UPDATE seamline_sessions SET holder = NULL, lease_until = NULL
WHERE tenant = $1 AND session = $2 AND epoch = $3 AND erased_at IS NULL
RETURNING epoch";

/// Creates a session with its first lease.
#[derive(Debug)]
pub(crate) struct Create {
    pub(crate) session: SessionId,
    pub(crate) holder: Holder,
}

impl Operation for Create {
    type Output = Lease;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<Lease, Failure> {
        let session = &self.session;
        let made = Lease { epoch: Head::START.epoch, head: Head::START };
        let start = Hash::ZERO;
        let start: Params<'_> = &[(&start.as_bytes().as_slice(), Type::BYTEA)];
        let rows = lease_to(attempt, CREATE, (session, &self.holder), start).await?;
        if !rows.is_empty() {
            return Ok(made);
        }
        let found = SessionRow::require(attempt, session).await?;
        // An earlier attempt created it and its response was lost.
        let is_ours = attempt.again && found.head == Head::START && found.holder.as_ref() == Some(&self.holder);
        if is_ours { Ok(made) } else { Err(Failure::Final(Error::Exists(session.clone()))) }
    }
}

/// Takes the lease of a session with a new epoch. An epoch that no caller received does no harm.
#[derive(Debug)]
pub(crate) struct Take {
    pub(crate) session: SessionId,
    pub(crate) holder: Holder,
    pub(crate) how: Acquire,
}

impl Operation for Take {
    type Output = Lease;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<Lease, Failure> {
        let session = &self.session;
        let (takes_over, from) = match &self.how {
            Acquire::IfFree => (false, None),
            Acquire::TakeOverFrom(from) => (false, Some(encode(from)?)),
            Acquire::TakeOver => (true, None),
        };
        let how: Params<'_> = &[(&takes_over, Type::BOOL), (&from, Type::TEXT)];
        let rows = lease_to(attempt, ACQUIRE, (session, &self.holder), how).await?;
        if let Some(row) = rows.first() {
            let head = self.correct_head(attempt, head(row)?).await?;
            return Ok(Lease { epoch: head.epoch, head });
        }
        match SessionRow::require(attempt, session).await?.holder {
            Some(busy) => Err(Failure::Final(Error::Busy { session: session.clone(), holder: Box::new(busy) })),
            None => Err(Failure::Retry("the session was released during the request".to_owned())),
        }
    }
}

impl Take {
    /// Returns the head of the session. If the row ends before the last commit, no commit could follow it, so this
    /// corrects the row. No other writer has this epoch.
    async fn correct_head(&self, attempt: &Attempt<'_>, head: Head) -> Result<Head, Failure> {
        let session = self.session.as_str();
        let own: Params<'_> =
            &[(&attempt.tenant(), Type::TEXT), (&session, Type::TEXT), (&bigint(head.seq), Type::INT8)];
        let rows = attempt.query(BEYOND, own).await?;
        let body: Option<&[u8]> = rows.first().map(|row| column(row, "body")).transpose()?;
        let last = body.and_then(|body| OpenedCommit::outline(body).ok());
        let Some(last) = last.filter(|last| last.session == self.session && last.last_seq() > head.seq) else {
            return Ok(head);
        };
        let end = Head { seq: last.last_seq(), hash: last.hash, ..head };
        let params: Params<'_> = &[
            (&attempt.tenant(), Type::TEXT),
            (&session, Type::TEXT),
            (&bigint(end.epoch), Type::INT8),
            (&bigint(end.seq), Type::INT8),
            (&end.hash.as_bytes().as_slice(), Type::BYTEA),
        ];
        // If another writer took the session over meanwhile, that writer corrects the row.
        attempt.query(MEND, params).await?;
        Ok(end)
    }
}

/// Renews a lease. Returns false if the writer has lost the session.
#[derive(Debug, Clone)]
pub(crate) struct Renew {
    pub(crate) session: SessionId,
    pub(crate) epoch: u64,
}

impl Operation for Renew {
    type Output = bool;
    // A lost renewal is simply repeated.
    const WRITES: bool = false;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<bool, Failure> {
        let params: Params<'_> = &[
            (&attempt.tenant(), Type::TEXT),
            (&self.session.as_str(), Type::TEXT),
            (&bigint(self.epoch), Type::INT8),
            (&attempt.lease(), Type::FLOAT8),
        ];
        Ok(!attempt.query(RENEW, params).await?.is_empty())
    }
}

/// Releases a lease.
#[derive(Debug)]
pub(crate) struct Release {
    pub(crate) session: SessionId,
    pub(crate) epoch: u64,
}

impl Operation for Release {
    type Output = ();

    async fn run(&self, attempt: &Attempt<'_>) -> Result<(), Failure> {
        let session = &self.session;
        let params: Params<'_> =
            &[(&attempt.tenant(), Type::TEXT), (&session.as_str(), Type::TEXT), (&bigint(self.epoch), Type::INT8)];
        if attempt.query(RELEASE, params).await?.is_empty() {
            SessionRow::require(attempt, session).await?;
        }
        Ok(())
    }
}

/// Runs a statement that gives the lease to a holder; `more` are its parameters from the fifth on.
async fn lease_to(
    attempt: &Attempt<'_>,
    sql: &str,
    (session, holder): (&SessionId, &Holder),
    more: Params<'_>,
) -> Result<Vec<Row>, Failure> {
    let (holder, tenant, session, lease) = (encode(holder)?, attempt.tenant(), session.as_str(), attempt.lease());
    let mut params: Vec<(&(dyn ToSql + Sync), Type)> =
        vec![(&tenant, Type::TEXT), (&session, Type::TEXT), (&holder, Type::TEXT), (&lease, Type::FLOAT8)];
    params.extend(more.iter().cloned());
    attempt.query(sql, &params).await
}

fn encode(holder: &Holder) -> Result<String, Failure> {
    serde_json::to_string(holder)
        .map_err(|error| Failure::Final(Error::Refused(cause::Refused::Other(error.to_string()))))
}
