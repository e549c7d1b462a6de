//! Messages that somebody else than the writer has for a session.

use seamline_store::{InboxItem, Pushed, Raw, SessionId};
use tokio_postgres::types::Type;

use crate::connections::Operation;
use crate::fault::Fault;
use crate::row::{Standing, column, damaged};
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
INSERT INTO seamline_inbox (tenant, session, id, place, message)
SELECT $1, $2, $3, inbox_last, $4 FROM next
ON CONFLICT (tenant, session, id) DO NOTHING
RETURNING place";

const INBOX: &str = "\
SELECT id, message FROM seamline_inbox
WHERE tenant = $1 AND session = $2 AND message IS NOT NULL ORDER BY place";

#[derive(Debug)]
pub(crate) struct Push {
    pub(crate) session: SessionId,
    pub(crate) item: InboxItem,
}

impl Operation for Push {
    type Output = Pushed;

    async fn attempt(&self, place: &Place<'_>) -> Result<Pushed, Fault> {
        let params: Params<'_> = &[
            (&place.tenant(), Type::TEXT),
            (&self.session.as_str(), Type::TEXT),
            (&self.item.id.as_bytes(), Type::BYTEA),
            (&self.item.message.as_bytes(), Type::BYTEA),
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
    type Output = Vec<InboxItem>;
    const WRITES: bool = false;

    async fn attempt(&self, place: &Place<'_>) -> Result<Vec<InboxItem>, Fault> {
        Standing::live(place, &self.0).await?;
        let params: Params<'_> = &[(&place.tenant(), Type::TEXT), (&self.0.as_str(), Type::TEXT)];
        let rows = place.query(INBOX, params).await?;
        rows.iter().map(item).collect()
    }
}

fn item(row: &tokio_postgres::Row) -> Result<InboxItem, Fault> {
    let unreadable = |what: &str| damaged(format!("{what} of a message in the inbox cannot be read"));
    let id = String::from_utf8(column(row, "id")?).map_err(|_| unreadable("the id"))?;
    let message = String::from_utf8(column(row, "message")?).map_err(|_| unreadable("the text"))?;
    Ok(InboxItem { id, message: Raw::parse(message).map_err(|_| unreadable("the JSON"))? })
}
