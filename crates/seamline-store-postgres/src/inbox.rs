//! The inbox: messages that other processes push for a session's writer.

use seamline_store::{
    DialectName, Hash, INBOX_BYTES_MAX, INBOX_MESSAGES_MAX, InboxDamage, InboxDamages, InboxItem, InboxPage, Pushed,
    Raw, SessionId,
};
use tokio_postgres::types::Type;

use crate::connections::Operation;
use crate::failure::Failure;
use crate::row::{NO_COLUMN, SessionRow, bigint, column, count};
use crate::transaction::{Attempt, Params};

/// Stores a message. The session's row numbers the messages, so they have one order. The row of a taken message stays,
/// so that its id is not taken again.
const PUSH: &str = "\
WITH next AS (
    UPDATE seamline_sessions SET inbox_last = inbox_last + 1
    WHERE tenant = $1 AND session = $2 AND erased_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM seamline_inbox WHERE tenant = $1 AND session = $2 AND id = $3)
    RETURNING inbox_last
)
INSERT INTO seamline_inbox (tenant, session, id, place, message, hash, dialect)
SELECT $1, $2, $3, inbox_last, $4, $5, $6 FROM next
ON CONFLICT (tenant, session, id) DO NOTHING
RETURNING place";

/// Finds the hash of a message by its id. It stays when the message is taken; an id from an import has none.
const PUSHED: &str = "SELECT hash, dialect FROM seamline_inbox WHERE tenant = $1 AND session = $2 AND id = $3";

/// Reads the next page of messages.
const INBOX: &str = "\
SELECT id, place, message, hash, dialect FROM (
    SELECT id, place, message, hash, dialect, row_number() OVER (ORDER BY place) AS number,
        sum(octet_length(message)) OVER (ORDER BY place) AS bytes_to_here
    FROM (
        SELECT id, place, message, hash, seamline_inbox.dialect AS dialect FROM seamline_inbox
        WHERE tenant = $1 AND session = $2 AND message IS NOT NULL AND place > $3 ORDER BY place LIMIT $4
    ) AS next
) AS page
WHERE bytes_to_here <= $5 OR number = 1
ORDER BY place";

/// The column of [`INBOX`] that tables of older formats do not have, and its value for them: a reader does not upgrade
/// the tables.
const OWN_DIALECT: &str = "seamline_inbox.dialect";
const NO_DIALECT: &str = "NULL::text";

const COUNT: &str = "\
SELECT count(*) AS waiting FROM seamline_inbox WHERE tenant = $1 AND session = $2 AND message IS NOT NULL";

#[derive(Debug)]
pub(crate) struct Push {
    pub(crate) session: SessionId,
    pub(crate) item: InboxItem,
}

impl Operation for Push {
    type Output = Pushed;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<Pushed, Failure> {
        self.item.fits().map_err(Failure::Final)?;
        let (id, message) = (self.item.id.as_str().as_bytes(), self.item.message.as_bytes());
        let dialect = self.item.dialect.as_ref().map(DialectName::as_str);
        let hash = seal(&self.session, id, message, dialect);
        let params: Params<'_> = &[
            (&attempt.tenant(), Type::TEXT),
            (&self.session.as_str(), Type::TEXT),
            (&id, Type::BYTEA),
            (&message, Type::BYTEA),
            (&hash.as_bytes().as_slice(), Type::BYTEA),
            (&dialect, Type::TEXT),
        ];
        if !attempt.query(PUSH, params).await?.is_empty() {
            return Ok(Pushed::New);
        }
        SessionRow::require(attempt, &self.session).await?;
        let rows = attempt.query(PUSHED, &params[..3]).await?;
        let Some(row) = rows.first() else {
            return Err(Failure::Retry("the inbox changed during the push".to_owned()));
        };
        let kept: Option<&[u8]> = column(row, "hash")?;
        // Only the bytes have to be the same: the stored dialect takes the place of the item's.
        let own = seal(&self.session, id, message, column(row, "dialect")?);
        let is_same = kept.is_none_or(|kept| kept == own.as_bytes());
        self.item.again(&self.session, is_same).map_err(Failure::Final)
    }
}

/// Reads the first intact messages.
#[derive(Debug)]
pub(crate) struct Inbox(pub(crate) SessionId);

impl Operation for Inbox {
    type Output = Vec<InboxItem>;
    const WRITES: bool = false;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<Self::Output, Failure> {
        let mut page = InboxPage::default();
        visit_inbox(attempt, &self.0, |found| found.is_err() || found.is_ok_and(|item| page.take(item))).await?;
        Ok(page.into_items())
    }
}

/// Counts the messages.
#[derive(Debug)]
pub(crate) struct Waiting(pub(crate) SessionId);

impl Operation for Waiting {
    type Output = u64;
    const WRITES: bool = false;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<u64, Failure> {
        SessionRow::require(attempt, &self.0).await?;
        let params: Params<'_> = &[(&attempt.tenant(), Type::TEXT), (&self.0.as_str(), Type::TEXT)];
        let rows = attempt.query(COUNT, params).await?;
        rows.first().map_or(Ok(0), |row| count(row, "waiting"))
    }
}

/// Finds the damage of the inbox.
#[derive(Debug)]
pub(crate) struct InboxDamageCheck(pub(crate) SessionId);

impl Operation for InboxDamageCheck {
    type Output = Vec<InboxDamage>;
    const WRITES: bool = false;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<Self::Output, Failure> {
        let mut damages = InboxDamages::default();
        visit_inbox(attempt, &self.0, |found| {
            found.err().into_iter().for_each(|damage| damages.take(damage));
            true
        })
        .await?;
        Ok(damages.into_damages())
    }
}

/// Passes the messages to `take` in order, until it returns false.
async fn visit_inbox(
    attempt: &Attempt<'_>,
    session: &SessionId,
    mut take: impl FnMut(Result<InboxItem, InboxDamage>) -> bool + Send,
) -> Result<(), Failure> {
    SessionRow::require(attempt, session).await?;
    let mut after = i64::MIN;
    loop {
        let params: Params<'_> = &[
            (&attempt.tenant(), Type::TEXT),
            (&session.as_str(), Type::TEXT),
            (&after, Type::INT8),
            (&bigint(INBOX_MESSAGES_MAX as u64), Type::INT8),
            (&bigint(INBOX_BYTES_MAX as u64), Type::INT8),
        ];
        let rows = match attempt.query_unless(NO_COLUMN, INBOX, params).await? {
            Some(rows) => rows,
            None => attempt.query(&INBOX.replace(OWN_DIALECT, NO_DIALECT), params).await?,
        };
        for row in &rows {
            if !take(item(session, row)?) {
                return Ok(());
            }
        }
        let Some(last) = rows.last() else { return Ok(()) };
        after = column(last, "place")?;
    }
}

/// Reads a message, or the damage in its place.
fn item(session: &SessionId, row: &tokio_postgres::Row) -> Result<Result<InboxItem, InboxDamage>, Failure> {
    let (id, message): (&[u8], &[u8]) = (column(row, "id")?, column(row, "message")?);
    let (kept, dialect): (Option<&[u8]>, Option<&str>) = (column(row, "hash")?, column(row, "dialect")?);
    if kept.is_some_and(|hash| hash == seal(session, id, message, dialect).as_bytes())
        && let (Ok(id), Ok(text)) = (std::str::from_utf8(id), std::str::from_utf8(message))
        && let Ok(message) = Raw::parse(text)
    {
        return Ok(Ok(InboxItem { id: id.into(), message, dialect: dialect.map(DialectName::from) }));
    }
    let place: i64 = column(row, "place")?;
    Ok(Err(InboxDamage::altered(place, message.to_vec())))
}

/// Computes the hash of a message with its dialect, by which alterations are found. Messages of older formats have no
/// dialect.
fn seal(session: &SessionId, id: &[u8], message: &[u8], dialect: Option<&str>) -> Hash {
    let hash = Hash::of(format!("{session}\n{}\n", id.len()).as_bytes()).then(id).then(message);
    dialect.map_or(hash, |dialect| hash.then(dialect.as_bytes()))
}
