//! Who may write a session.

use seamline_store::{Acquire, Error, Hash, Head, Holder, Lease, OpenedCommit, SessionId};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::connections::Operation;
use crate::fault::Fault;
use crate::row::{Standing, bigint, column, head};
use crate::transaction::{Params, Place};

const CREATE: &str = "\
INSERT INTO seamline_sessions (tenant, session, epoch, head_seq, head_hash, commits, bytes, holder, lease_until)
VALUES ($1, $2, 1, 0, $5, 0, 0, $3, now() + $4 * interval '1 second')
ON CONFLICT (tenant, session) DO NOTHING
RETURNING epoch";

const ACQUIRE: &str = "\
UPDATE seamline_sessions
SET epoch = epoch + 1, holder = $3, lease_until = now() + $4 * interval '1 second', touched_at = now()
WHERE tenant = $1 AND session = $2 AND erased_at IS NULL
    AND ($5 OR holder IS NULL OR holder = $3 OR lease_until IS NULL OR lease_until <= now())
RETURNING epoch, head_seq, head_hash";

/// The last commit, where the row of the session says that it ends before it.
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

/// Makes a session.
#[derive(Debug)]
pub(crate) struct Create {
    pub(crate) session: SessionId,
    pub(crate) holder: Holder,
}

impl Operation for Create {
    type Output = Lease;

    async fn attempt(&self, place: &Place<'_>) -> Result<Lease, Fault> {
        let session = &self.session;
        let made = Lease { epoch: Head::START.epoch, head: Head::START };
        let start = Hash::ZERO;
        let rows = give(place, CREATE, (session, &self.holder), (&start.as_bytes().as_slice(), Type::BYTEA)).await?;
        if !rows.is_empty() {
            return Ok(made);
        }
        let found = Standing::live(place, session).await?;
        // An attempt whose answer was lost has made it.
        let is_ours = place.again && found.head == Head::START && found.holder.as_ref() == Some(&self.holder);
        if is_ours { Ok(made) } else { Err(Fault::Answer(Error::Exists(session.clone()))) }
    }
}

/// Gives a session a new epoch. One that was given out and never heard of does no harm.
#[derive(Debug)]
pub(crate) struct Take {
    pub(crate) session: SessionId,
    pub(crate) holder: Holder,
    pub(crate) how: Acquire,
}

impl Operation for Take {
    type Output = Lease;

    async fn attempt(&self, place: &Place<'_>) -> Result<Lease, Fault> {
        let (session, takes_over) = (&self.session, self.how == Acquire::TakeOver);
        let rows = give(place, ACQUIRE, (session, &self.holder), (&takes_over, Type::BOOL)).await?;
        if let Some(row) = rows.first() {
            let head = self.end(place, head(row)?).await?;
            return Ok(Lease { epoch: head.epoch, head });
        }
        match Standing::live(place, session).await?.holder {
            Some(busy) => Err(Fault::Answer(Error::Busy { session: session.clone(), holder: Box::new(busy) })),
            None => Err(Fault::Aborted("the session became free while it was asked for".to_owned())),
        }
    }
}

impl Take {
    /// The end of the session. Where its row says that it ends before what is kept of it, nothing could ever be added
    /// there, so the row is put right; nobody else writes it in this epoch.
    async fn end(&self, place: &Place<'_>, head: Head) -> Result<Head, Fault> {
        let session = self.session.as_str();
        let own: Params<'_> = &[(&place.tenant(), Type::TEXT), (&session, Type::TEXT), (&bigint(head.seq), Type::INT8)];
        let rows = place.query(BEYOND, own).await?;
        let body: Option<&[u8]> = rows.first().map(|row| column(row, "body")).transpose()?;
        let last = body.and_then(|body| OpenedCommit::open(body).ok());
        let Some(last) = last.filter(|last| last.session == self.session && last.last_seq() > head.seq) else {
            return Ok(head);
        };
        let end = Head { seq: last.last_seq(), hash: last.hash, ..head };
        let params: Params<'_> = &[
            (&place.tenant(), Type::TEXT),
            (&session, Type::TEXT),
            (&bigint(end.epoch), Type::INT8),
            (&bigint(end.seq), Type::INT8),
            (&end.hash.as_bytes().as_slice(), Type::BYTEA),
        ];
        // Where somebody took the session over meanwhile, it is theirs to put right.
        place.query(MEND, params).await?;
        Ok(end)
    }
}

/// Says that a writer is still there. False where the session is not its any more.
#[derive(Debug, Clone)]
pub(crate) struct Renew {
    pub(crate) session: SessionId,
    pub(crate) epoch: u64,
}

impl Operation for Renew {
    type Output = bool;
    // Whoever does not know whether it was done does it again.
    const WRITES: bool = false;

    async fn attempt(&self, place: &Place<'_>) -> Result<bool, Fault> {
        let params: Params<'_> = &[
            (&place.tenant(), Type::TEXT),
            (&self.session.as_str(), Type::TEXT),
            (&bigint(self.epoch), Type::INT8),
            (&place.lease(), Type::FLOAT8),
        ];
        Ok(!place.query(RENEW, params).await?.is_empty())
    }
}

/// Lets a session go.
#[derive(Debug)]
pub(crate) struct Release {
    pub(crate) session: SessionId,
    pub(crate) epoch: u64,
}

impl Operation for Release {
    type Output = ();

    async fn attempt(&self, place: &Place<'_>) -> Result<(), Fault> {
        let session = &self.session;
        let params: Params<'_> =
            &[(&place.tenant(), Type::TEXT), (&session.as_str(), Type::TEXT), (&bigint(self.epoch), Type::INT8)];
        if place.query(RELEASE, params).await?.is_empty() {
            Standing::live(place, session).await?;
        }
        Ok(())
    }
}

/// Asks for a session for somebody who writes it, with what else the statement wants to know.
async fn give(
    place: &Place<'_>,
    sql: &str,
    (session, holder): (&SessionId, &Holder),
    last: (&(dyn ToSql + Sync), Type),
) -> Result<Vec<Row>, Fault> {
    let holder = written(holder)?;
    let params: Params<'_> = &[
        (&place.tenant(), Type::TEXT),
        (&session.as_str(), Type::TEXT),
        (&holder, Type::TEXT),
        (&place.lease(), Type::FLOAT8),
        last,
    ];
    place.query(sql, params).await
}

fn written(holder: &Holder) -> Result<String, Fault> {
    serde_json::to_string(holder).map_err(|error| Fault::Answer(Error::Refused(error.to_string())))
}
