//! What is asked of the file without changing it.

use rusqlite::{Connection, OptionalExtension, Row, params};
use seamline_store::{
    Error, Hash, Head, Holder, InboxDamage, InboxDamages, InboxItem, InboxPage, Quarantined, Raw, SessionId,
    SessionInfo,
};

use crate::fault::{Fault, Outcome};
use crate::rows::{bound, hash, number, optional_hash, optional_text, stands, text};

/// What stands in the row of a session.
pub(crate) struct Kept {
    pub(crate) head: Head,
    pub(crate) commits: u64,
    pub(crate) bytes: u64,
    pub(crate) holder: Option<Holder>,
    /// How many messages are in its inbox.
    pub(crate) waiting: u64,
}

/// The row of a session that is there.
pub(crate) fn kept(connection: &Connection, session: &SessionId) -> Outcome<Kept> {
    match look(connection, session)? {
        Look::There(kept) => Ok(kept),
        Look::Erased => Err(Error::Erased(session.clone()).into()),
        Look::Nothing => Err(Error::NotFound(session.clone()).into()),
    }
}

/// Fails where there is a session of that name, or was one.
pub(crate) fn not_kept(connection: &Connection, session: &SessionId) -> Outcome<()> {
    match look(connection, session)? {
        Look::There(_) => Err(Error::Exists(session.clone()).into()),
        Look::Erased => Err(Error::Erased(session.clone()).into()),
        Look::Nothing => Ok(()),
    }
}

enum Look {
    There(Kept),
    Erased,
    Nothing,
}

fn look(connection: &Connection, session: &SessionId) -> Outcome<Look> {
    let mut statement = connection.prepare_cached(
        "SELECT session, epoch, head_seq, head_hash, commits, bytes, holder, erased, waiting FROM sessions WHERE session = ?1",
    )?;
    let mut rows = statement.query([session.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(Look::Nothing) };
    if text(row, 0)? != session.as_str() {
        return Err(Fault::Odd("a session stands under the name of another"));
    }
    Ok(row_of(row)?.map_or(Look::Erased, Look::There))
}

/// What a row says of a session; nothing where it was erased.
fn row_of(row: &Row<'_>) -> Outcome<Option<Kept>> {
    let (epoch, seq, commits, bytes) = (number(row, 1)?, number(row, 2)?, number(row, 4)?, number(row, 5)?);
    // A holder that cannot be read holds nothing: safety does not depend on it.
    let holder = optional_text(row, 6)?.and_then(|holder| serde_json::from_str(holder).ok());
    let waiting = number(row, 8)?;
    match (optional_hash(row, 3)?, number(row, 7)?) {
        (Some(hash), 0) => Ok(Some(Kept { head: Head { epoch, seq, hash }, commits, bytes, holder, waiting })),
        (None, 1) => Ok(None),
        _ => Err(Fault::Odd("a session is half erased")),
    }
}

/// The hash of the commit of that id whose first record is that one, if there is one.
pub(crate) fn hash_of(connection: &Connection, session: &SessionId, seq: u64, id: [u8; 16]) -> Outcome<Option<Hash>> {
    let mut statement =
        connection.prepare_cached("SELECT hash FROM commits WHERE session = ?1 AND seq = ?2 AND id = ?3")?;
    let place = params![session.as_str(), bound(seq), &id[..]];
    let found = statement.query_row(place, |row| Ok(hash(row, 0))).optional()?;
    found.transpose()
}

pub(crate) fn sessions(connection: &Connection, after: Option<&str>, limit: usize) -> Outcome<Vec<SessionInfo>> {
    let mut statement = connection.prepare_cached(
        "SELECT session, epoch, head_seq, head_hash, commits, bytes, holder, erased, waiting FROM sessions
         WHERE session > ?1 ORDER BY session",
    )?;
    let mut rows = statement.query([after.unwrap_or("")])?;
    let (mut infos, mut last) = (Vec::new(), None);
    while infos.len() < limit
        && let Some(row) = rows.next()?
    {
        let session: SessionId = text(row, 0)?.parse().map_err(|_| Fault::Odd("a session has no name"))?;
        // Erased ones count here too: it is what bounds a damaged table that leads in circles.
        if last.is_some_and(|last| last >= session) {
            return Err(Fault::Odd("sessions stand in disorder"));
        }
        last = Some(session.clone());
        if let Some(Kept { head, commits, bytes, holder, .. }) = row_of(row)? {
            infos.push(SessionInfo { session, head, commits, bytes, holder });
        }
    }
    if infos.len() < limit {
        no_strays(connection)?;
    }
    Ok(infos)
}

/// Checks that all commits belong to a session that is there: a list must not say that nothing was kept where only the
/// names are lost.
fn no_strays(connection: &Connection) -> Outcome<()> {
    let mut next =
        connection.prepare_cached("SELECT session FROM commits WHERE session > ?1 ORDER BY session LIMIT 1")?;
    let mut named = connection.prepare_cached("SELECT 1 FROM sessions WHERE session = ?1 AND erased = 0")?;
    let mut last = String::new();
    while let Some(session) = next.query_row([&last], |row| Ok(text(row, 0).map(str::to_owned))).optional()? {
        let session = session?;
        if session <= last {
            return Err(Fault::Odd("commits stand in disorder"));
        }
        if !named.exists([&session])? {
            return Err(Fault::Odd("there are commits of a session that is not there"));
        }
        last = session;
    }
    Ok(())
}

/// The first messages of the inbox that are what was put there.
pub(crate) fn inbox(connection: &Connection, session: &SessionId) -> Outcome<Vec<InboxItem>> {
    kept(connection, session)?;
    let mut page = InboxPage::default();
    go_through(connection, session, |found| found.is_err() || found.is_ok_and(|item| page.take(item)))?;
    Ok(page.into_items())
}

/// How many messages are in the inbox.
pub(crate) fn waiting(connection: &Connection, session: &SessionId) -> Outcome<u64> {
    kept(connection, session)?;
    let mut statement =
        connection.prepare_cached("SELECT count(*) FROM inbox WHERE session = ?1 AND message IS NOT NULL")?;
    statement.query_row([session.as_str()], |row| Ok(number(row, 0)))?
}

/// Whether the message that was ever in the inbox under that id is this one; nothing where there was none. Its hash
/// stays when it is taken; where it came with an import there is none.
pub(crate) fn was_pushed(connection: &Connection, session: &SessionId, item: &InboxItem) -> Outcome<Option<bool>> {
    let mut statement = connection.prepare_cached("SELECT number, hash FROM inbox WHERE session = ?1 AND id = ?2")?;
    let mut rows = statement.query(params![session.as_str(), item.id])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let own = seal(session, number(row, 0)?, &item.id, item.message.as_str());
    Ok(Some(optional_hash(row, 1)?.is_none_or(|hash| hash == own)))
}

/// What in the inbox is not what was put there.
pub(crate) fn inbox_damage(connection: &Connection, session: &SessionId) -> Outcome<Vec<InboxDamage>> {
    let waiting = kept(connection, session)?.waiting;
    let (mut found, mut damages) = (0, InboxDamages::default());
    go_through(connection, session, |item| {
        found += 1;
        item.err().into_iter().for_each(|damage| damages.take(damage));
        true
    })?;
    let mut damages = damages.into_damages();
    if found != waiting {
        let why = format!("{waiting} messages were put into the inbox and not taken, and {found} are there");
        damages.push(InboxDamage { why, bytes: Vec::new() });
    }
    Ok(damages)
}

/// Looks at what is in the inbox, one message after the other, as long as more is wanted.
fn go_through(
    connection: &Connection,
    session: &SessionId,
    mut take: impl FnMut(Result<InboxItem, InboxDamage>) -> bool,
) -> Outcome<()> {
    let mut statement = connection.prepare_cached(
        "SELECT number, id, message, hash FROM inbox WHERE session = ?1 AND message IS NOT NULL ORDER BY number",
    )?;
    let mut rows = statement.query([session.as_str()])?;
    let mut last = 0;
    while let Some(row) = rows.next()? {
        let place = number(row, 0)?;
        if place <= last {
            return Err(Fault::Odd("messages stand in disorder"));
        }
        last = place;
        let found = match item(session, place, row) {
            Ok(item) => Ok(item),
            Err(Fault::Odd(what)) => {
                let why = format!("message {place} of the inbox is not what was put there: {what}");
                Err(InboxDamage { why, bytes: stands(row, 2)?.to_vec() })
            }
            Err(fault) => return Err(fault),
        };
        if !take(found) {
            break;
        }
    }
    Ok(())
}

fn item(session: &SessionId, place: u64, row: &Row<'_>) -> Outcome<InboxItem> {
    let (id, message) = (text(row, 1)?, text(row, 2)?);
    if seal(session, place, id, message) != hash(row, 3)? {
        return Err(Fault::Odd("its hash is another one"));
    }
    let message = Raw::parse(message).map_err(|_| Fault::Odd("it is no JSON"))?;
    Ok(InboxItem { id: id.to_owned(), message })
}

/// The hash by which a message of the inbox is known to be what was put there, in that place.
pub(crate) fn seal(session: &SessionId, place: u64, id: &str, message: &str) -> Hash {
    let head = format!("{session}\n{place}\n{}\n", id.len());
    Hash::of(head.as_bytes()).then(id.as_bytes()).then(message.as_bytes())
}

pub(crate) fn quarantined(connection: &Connection, session: &SessionId) -> Outcome<Vec<Quarantined>> {
    kept(connection, session)?;
    let mut statement =
        connection.prepare_cached("SELECT hash, bytes FROM quarantine WHERE session = ?1 ORDER BY hash")?;
    let mut rows = statement.query([session.as_str()])?;
    let mut found: Vec<Quarantined> = Vec::new();
    while let Some(row) = rows.next()? {
        // What is not what was put there does not have its hash, and so whoever looks sees it.
        let (hash, bytes) = (hash(row, 0).unwrap_or(Hash::ZERO), stands(row, 1)?.to_vec());
        // It is what bounds a damaged index that leads in circles.
        if found.last().is_some_and(|last| last.hash >= hash) {
            found.push(Quarantined { hash: Hash::ZERO, bytes });
            break;
        }
        found.push(Quarantined { hash, bytes });
    }
    Ok(found)
}
