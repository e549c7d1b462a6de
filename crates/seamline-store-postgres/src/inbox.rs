//! Messages that somebody else than the writer has for a session.

use seamline_store::{Hash, InboxDamage, InboxItem, Pushed, Raw, SessionId};
use tokio_postgres::types::Type;

use crate::connections::Operation;
use crate::fault::Fault;
use crate::row::{Standing, column};
use crate::transaction::{Params, Place};

/// The row of the session gives out the numbers, so messages have one order. A row whose message was taken stays: its
/// id is not taken again.
const PUSH: &str = "\
WITH next AS (
    UPDATE seamline_sessions SET inbox_last = inbox_last + 1
    WHERE tenant = $1 AND session = $2 AND erased_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM seamline_inbox WHERE tenant = $1 AND session = $2 AND id = $3)
    RETURNING inbox_last
)
INSERT INTO seamline_inbox (tenant, session, id, place, message, hash)
SELECT $1, $2, $3, inbox_last, $4, $5 FROM next
ON CONFLICT (tenant, session, id) DO NOTHING
RETURNING place";

const INBOX: &str = "\
SELECT id, place, message, hash FROM seamline_inbox
WHERE tenant = $1 AND session = $2 AND message IS NOT NULL ORDER BY place";

#[derive(Debug)]
pub(crate) struct Push {
    pub(crate) session: SessionId,
    pub(crate) item: InboxItem,
}

impl Operation for Push {
    type Output = Pushed;

    async fn attempt(&self, place: &Place<'_>) -> Result<Pushed, Fault> {
        self.item.fits().map_err(Fault::Answer)?;
        let hash = seal(&self.session, self.item.id.as_bytes(), self.item.message.as_bytes());
        let params: Params<'_> = &[
            (&place.tenant(), Type::TEXT),
            (&self.session.as_str(), Type::TEXT),
            (&self.item.id.as_bytes(), Type::BYTEA),
            (&self.item.message.as_bytes(), Type::BYTEA),
            (&hash.as_bytes().as_slice(), Type::BYTEA),
        ];
        if !place.query(PUSH, params).await?.is_empty() {
            return Ok(Pushed::New);
        }
        Standing::live(place, &self.session).await?;
        Ok(Pushed::Already)
    }
}

#[derive(Debug)]
pub(crate) struct Inbox(pub(crate) SessionId);

impl Operation for Inbox {
    type Output = (Vec<InboxItem>, Vec<InboxDamage>);
    const WRITES: bool = false;

    async fn attempt(&self, place: &Place<'_>) -> Result<Self::Output, Fault> {
        Standing::live(place, &self.0).await?;
        let params: Params<'_> = &[(&place.tenant(), Type::TEXT), (&self.0.as_str(), Type::TEXT)];
        let rows = place.query(INBOX, params).await?;
        let (mut items, mut damages) = (Vec::new(), Vec::new());
        for row in &rows {
            match item(&self.0, row)? {
                Ok(item) => items.push(item),
                Err(damage) => damages.push(damage),
            }
        }
        Ok((items, damages))
    }
}

/// A message, or what stands there instead of it.
fn item(session: &SessionId, row: &tokio_postgres::Row) -> Result<Result<InboxItem, InboxDamage>, Fault> {
    let (id, message): (&[u8], &[u8]) = (column(row, "id")?, column(row, "message")?);
    let kept: Option<&[u8]> = column(row, "hash")?;
    if kept.is_some_and(|hash| hash == seal(session, id, message).as_bytes())
        && let (Ok(id), Ok(text)) = (std::str::from_utf8(id), std::str::from_utf8(message))
        && let Ok(message) = Raw::parse(text)
    {
        return Ok(Ok(InboxItem { id: id.to_owned(), message }));
    }
    let place: i64 = column(row, "place")?;
    let why = format!("message {place} of the inbox is not what was put there");
    Ok(Err(InboxDamage { why, bytes: message.to_vec() }))
}

/// The hash by which a message is known to be what was put there.
fn seal(session: &SessionId, id: &[u8], message: &[u8]) -> Hash {
    Hash::of(format!("{session}\n{}\n", id.len()).as_bytes()).then(id).then(message)
}
