//! Messages that somebody else than the writer has for a session.

use seamline_store::{
    Hash, INBOX_BYTES_MAX, INBOX_MESSAGES_MAX, InboxDamage, InboxDamages, InboxItem, InboxPage, Pushed, Raw, SessionId,
};
use tokio_postgres::types::Type;

use crate::connections::Operation;
use crate::fault::Fault;
use crate::row::{Standing, bigint, column, count};
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

/// What was ever there under an id: its hash stays when it is taken, and there is none where it came with an import.
const PUSHED: &str = "SELECT hash FROM seamline_inbox WHERE tenant = $1 AND session = $2 AND id = $3";

/// The next messages, and no more of them than are wanted at once.
const INBOX: &str = "\
SELECT id, place, message, hash FROM (
    SELECT id, place, message, hash, row_number() OVER (ORDER BY place) AS number,
        sum(octet_length(message)) OVER (ORDER BY place) AS bytes_to_here
    FROM (
        SELECT id, place, message, hash FROM seamline_inbox
        WHERE tenant = $1 AND session = $2 AND message IS NOT NULL AND place > $3 ORDER BY place LIMIT $4
    ) AS next
) AS page
WHERE bytes_to_here <= $5 OR number = 1
ORDER BY place";

const COUNT: &str = "\
SELECT count(*) AS waiting FROM seamline_inbox WHERE tenant = $1 AND session = $2 AND message IS NOT NULL";

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
        let rows = place.query(PUSHED, &params[..3]).await?;
        let Some(row) = rows.first() else {
            return Err(Fault::Aborted("the inbox was changed while a message was put there".to_owned()));
        };
        let kept: Option<&[u8]> = column(row, "hash")?;
        let is_same = kept.is_none_or(|kept| kept == hash.as_bytes());
        self.item.again(&self.session, is_same).map_err(Fault::Answer)
    }
}

/// The first messages that are what was put there.
#[derive(Debug)]
pub(crate) struct Inbox(pub(crate) SessionId);

impl Operation for Inbox {
    type Output = Vec<InboxItem>;
    const WRITES: bool = false;

    async fn attempt(&self, place: &Place<'_>) -> Result<Self::Output, Fault> {
        let mut page = InboxPage::default();
        go_through(place, &self.0, |found| found.is_err() || found.is_ok_and(|item| page.take(item))).await?;
        Ok(page.into_items())
    }
}

/// How many messages there are.
#[derive(Debug)]
pub(crate) struct Waiting(pub(crate) SessionId);

impl Operation for Waiting {
    type Output = u64;
    const WRITES: bool = false;

    async fn attempt(&self, place: &Place<'_>) -> Result<u64, Fault> {
        Standing::live(place, &self.0).await?;
        let params: Params<'_> = &[(&place.tenant(), Type::TEXT), (&self.0.as_str(), Type::TEXT)];
        let rows = place.query(COUNT, params).await?;
        rows.first().map_or(Ok(0), |row| count(row, "waiting"))
    }
}

/// What is not what was put there.
#[derive(Debug)]
pub(crate) struct Damaged(pub(crate) SessionId);

impl Operation for Damaged {
    type Output = Vec<InboxDamage>;
    const WRITES: bool = false;

    async fn attempt(&self, place: &Place<'_>) -> Result<Self::Output, Fault> {
        let mut damages = InboxDamages::default();
        go_through(place, &self.0, |found| {
            found.err().into_iter().for_each(|damage| damages.take(damage));
            true
        })
        .await?;
        Ok(damages.into_damages())
    }
}

/// Looks at one message after the other, as long as more is wanted.
async fn go_through(
    place: &Place<'_>,
    session: &SessionId,
    mut take: impl FnMut(Result<InboxItem, InboxDamage>) -> bool + Send,
) -> Result<(), Fault> {
    Standing::live(place, session).await?;
    let mut after = i64::MIN;
    loop {
        let params: Params<'_> = &[
            (&place.tenant(), Type::TEXT),
            (&session.as_str(), Type::TEXT),
            (&after, Type::INT8),
            (&bigint(INBOX_MESSAGES_MAX as u64), Type::INT8),
            (&bigint(INBOX_BYTES_MAX as u64), Type::INT8),
        ];
        let rows = place.query(INBOX, params).await?;
        for row in &rows {
            if !take(item(session, row)?) {
                return Ok(());
            }
        }
        let Some(last) = rows.last() else { return Ok(()) };
        after = column(last, "place")?;
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
