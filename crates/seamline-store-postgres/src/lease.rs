//! Who may write a session.

use seamline_store::{Acquire, Error, Hash, Head, Holder, Lease, SessionId};
use tokio_postgres::types::Type;

use crate::connections::Operation;
use crate::fault::Fault;
use crate::row::{Standing, bigint, head};
use crate::transaction::{Params, Place};

const CREATE: &str = "\
INSERT INTO seamline_sessions (tenant, session, epoch, head_seq, head_hash, commits, bytes, holder, lease_until)
VALUES ($1, $2, 1, 0, $3, 0, 0, $4, now() + $5 * interval '1 second')
ON CONFLICT (tenant, session) DO NOTHING
RETURNING epoch";

const ACQUIRE: &str = "\
UPDATE seamline_sessions
SET epoch = epoch + 1, holder = $3, lease_until = now() + $4 * interval '1 second', touched_at = now()
WHERE tenant = $1 AND session = $2 AND erased_at IS NULL
    AND ($5 OR holder IS NULL OR holder = $3 OR lease_until IS NULL OR lease_until <= now())
RETURNING epoch, head_seq, head_hash";

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
        let (session, holder) = (&self.session, written(&self.holder)?);
        let params: Params<'_> = &[
            (&place.tenant(), Type::TEXT),
            (&session.as_str(), Type::TEXT),
            (&Hash::ZERO.as_bytes().as_slice(), Type::BYTEA),
            (&holder, Type::TEXT),
            (&place.lease(), Type::FLOAT8),
        ];
        let made = Lease { epoch: Head::START.epoch, head: Head::START };
        if !place.query(CREATE, params).await?.is_empty() {
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
        let (session, holder) = (&self.session, written(&self.holder)?);
        let params: Params<'_> = &[
            (&place.tenant(), Type::TEXT),
            (&session.as_str(), Type::TEXT),
            (&holder, Type::TEXT),
            (&place.lease(), Type::FLOAT8),
            (&(self.how == Acquire::TakeOver), Type::BOOL),
        ];
        if let Some(row) = place.query(ACQUIRE, params).await?.first() {
            let head = head(row)?;
            return Ok(Lease { epoch: head.epoch, head });
        }
        match Standing::live(place, session).await?.holder {
            Some(busy) => Err(Fault::Answer(Error::Busy { session: session.clone(), holder: Box::new(busy) })),
            None => Err(Fault::Aborted("the session became free while it was asked for".to_owned())),
        }
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

fn written(holder: &Holder) -> Result<String, Fault> {
    serde_json::to_string(holder).map_err(|error| Fault::Answer(Error::Refused(error.to_string())))
}
