//! The operations that read the file.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, params};
use seamline_store::{
    DialectName, Error, Hash, Head, Holder, InboxDamage, InboxDamages, InboxItem, InboxPage, OpenedCommit, Quarantined,
    Raw, SessionId, SessionInfo,
};

use crate::failure::{Failure, Outcome};
use crate::rows::{self, bound, hash, number, optional_hash, optional_text, raw_bytes, text};
use crate::schema;

/// The row of a session.
pub(crate) struct SessionRow {
    pub(crate) head: Head,
    pub(crate) commits: u64,
    pub(crate) bytes: u64,
    pub(crate) holder: Option<Holder>,
    /// How many messages wait in its inbox.
    pub(crate) waiting: u64,
}

/// Returns the row of a session. Fails if it does not exist or was erased.
pub(crate) fn session_row(connection: &Connection, session: &SessionId) -> Outcome<SessionRow> {
    match look_up(connection, session)? {
        Lookup::Found(row) => Ok(row),
        Lookup::Erased => Err(Error::Erased(session.clone()).into()),
        Lookup::Missing => Err(Error::NotFound(session.clone()).into()),
    }
}

/// Fails if a session has this name or was erased under it.
pub(crate) fn require_absent(connection: &Connection, session: &SessionId) -> Outcome<()> {
    match look_up(connection, session)? {
        Lookup::Found(_) => Err(Error::Exists(session.clone()).into()),
        Lookup::Erased => Err(Error::Erased(session.clone()).into()),
        Lookup::Missing => Ok(()),
    }
}

enum Lookup {
    Found(SessionRow),
    Erased,
    Missing,
}

fn look_up(connection: &Connection, session: &SessionId) -> Outcome<Lookup> {
    let mut statement = connection.prepare_cached(
        "SELECT session, epoch, head_seq, head_hash, commits, bytes, holder, erased, waiting FROM sessions WHERE session = ?1",
    )?;
    let mut rows = statement.query([session.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(Lookup::Missing) };
    if text(row, 0)? != session.as_str() {
        return Err(Failure::Inconsistent("a session row has another name"));
    }
    Ok(read_row(row)?.map_or(Lookup::Erased, Lookup::Found))
}

/// Reads the row of a session; none if the session was erased.
fn read_row(row: &Row<'_>) -> Outcome<Option<SessionRow>> {
    let (epoch, seq, commits, bytes) = (number(row, 1)?, number(row, 2)?, number(row, 4)?, number(row, 5)?);
    // An unreadable holder counts as none: safety does not depend on it.
    let holder = optional_text(row, 6)?.and_then(|holder| serde_json::from_str(holder).ok());
    let waiting = number(row, 8)?;
    match (optional_hash(row, 3)?, number(row, 7)?) {
        (Some(hash), 0) => Ok(Some(SessionRow { head: Head { epoch, seq, hash }, commits, bytes, holder, waiting })),
        (None, 1) => Ok(None),
        _ => Err(Failure::Inconsistent("a session is only partly erased")),
    }
}

/// Returns the hash of the commit with this id and first record, if it exists.
pub(crate) fn hash_of(connection: &Connection, session: &SessionId, seq: u64, id: [u8; 16]) -> Outcome<Option<Hash>> {
    let mut statement =
        connection.prepare_cached("SELECT hash FROM commits WHERE session = ?1 AND seq = ?2 AND id = ?3")?;
    let place = params![session.as_str(), bound(seq), &id[..]];
    let found = statement.query_row(place, |row| Ok(hash(row, 0))).optional()?;
    found.transpose()
}

const LIST: &str = "SELECT session, epoch, head_seq, head_hash, commits, bytes, holder, erased, waiting, dialect
    FROM sessions WHERE session > ?1 ORDER BY session";

/// The same for a file in a format without the dialects of sessions.
const OLD_LIST: &str = "SELECT session, epoch, head_seq, head_hash, commits, bytes, holder, erased, waiting, NULL
    FROM sessions WHERE session > ?1 ORDER BY session";

pub(crate) fn sessions(connection: &Connection, after: Option<&str>, limit: usize) -> Outcome<Vec<SessionInfo>> {
    let has_dialects = schema::has_session_dialects(connection)?;
    let mut statement = connection.prepare_cached(if has_dialects { LIST } else { OLD_LIST })?;
    let mut rows = statement.query([after.unwrap_or("")])?;
    let (mut infos, mut last) = (Vec::new(), None);
    while infos.len() < limit
        && let Some(row) = rows.next()?
    {
        let session: SessionId =
            text(row, 0)?.parse().map_err(|_| Failure::Inconsistent("a session has an invalid name"))?;
        // This bounds the loop where a damaged table is circular, so erased sessions count too.
        if last.is_some_and(|last| last >= session) {
            return Err(Failure::Inconsistent("the sessions are not in order"));
        }
        last = Some(session.clone());
        if let Some(SessionRow { head, commits, bytes, holder, .. }) = read_row(row)? {
            let dialect = match optional_text(row, 9)? {
                Some(dialect) => Some(dialect.into()),
                None => first_dialect(connection, &session)?,
            };
            infos.push(SessionInfo { session, head, commits, bytes, holder, dialect });
        }
    }
    if infos.len() < limit {
        check_owners(connection)?;
    }
    Ok(infos)
}

/// The dialect in the first commit of a session. An older version wrote it, and has stored the dialect nowhere else.
fn first_dialect(connection: &Connection, session: &SessionId) -> Outcome<Option<DialectName>> {
    let mut statement = connection.prepare_cached("SELECT bytes FROM commits WHERE session = ?1 AND seq = 1")?;
    let mut rows = statement.query([session.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    // The list shows damaged sessions, too.
    Ok(OpenedCommit::outline(raw_bytes(row, 0)?).ok().and_then(|commit| commit.dialect()))
}

/// Returns the last record of each session.
pub(crate) fn heads(connection: &Connection) -> Outcome<BTreeMap<SessionId, u64>> {
    let mut statement = connection.prepare("SELECT session, head_seq FROM sessions WHERE erased = 0")?;
    let mut rows = statement.query([])?;
    let mut heads = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let name = text(row, 0)?.parse().map_err(|_| Failure::Inconsistent("a session has an invalid name"))?;
        // This bounds the loop where a damaged table is circular.
        if heads.insert(name, number(row, 1)?).is_some() {
            return Err(Failure::Inconsistent("the sessions are not in order"));
        }
    }
    Ok(heads)
}

/// Checks that all commits belong to an existing session: the list must not be empty where only the session rows are
/// lost.
fn check_owners(connection: &Connection) -> Outcome<()> {
    let mut next =
        connection.prepare_cached("SELECT session FROM commits WHERE session > ?1 ORDER BY session LIMIT 1")?;
    let mut named = connection.prepare_cached("SELECT 1 FROM sessions WHERE session = ?1 AND erased = 0")?;
    let mut last = String::new();
    while let Some(session) = next.query_row([&last], |row| Ok(text(row, 0).map(str::to_owned))).optional()? {
        let session = session?;
        if session <= last {
            return Err(Failure::Inconsistent("the commits are not in order"));
        }
        if !named.exists([&session])? {
            return Err(Failure::Inconsistent("there are commits without their session"));
        }
        last = session;
    }
    Ok(())
}

/// Returns the first intact messages of the inbox.
pub(crate) fn inbox(connection: &Connection, session: &SessionId) -> Outcome<Vec<InboxItem>> {
    session_row(connection, session)?;
    let mut page = InboxPage::default();
    visit_inbox(connection, session, |found| found.is_err() || found.is_ok_and(|item| page.take(item)))?;
    Ok(page.into_items())
}

/// Counts the messages in the inbox.
pub(crate) fn waiting(connection: &Connection, session: &SessionId) -> Outcome<u64> {
    session_row(connection, session)?;
    let mut statement =
        connection.prepare_cached("SELECT count(*) FROM inbox WHERE session = ?1 AND message IS NOT NULL")?;
    statement.query_row([session.as_str()], |row| Ok(number(row, 0)))?
}

/// Whether this id was pushed before with the same message; none if the id is new. The hash of a message stays when the
/// message is taken. An id from an import has no hash and counts as the same message.
pub(crate) fn find_pushed(connection: &Connection, session: &SessionId, item: &InboxItem) -> Outcome<Option<bool>> {
    let mut statement =
        connection.prepare_cached("SELECT number, hash, dialect FROM inbox WHERE session = ?1 AND id = ?2")?;
    let mut rows = statement.query(params![session.as_str(), item.id.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    // Only the bytes have to be the same: the stored dialect takes the place of the item's.
    let own = seal(session, number(row, 0)?, item.id.as_str(), (item.message.as_str(), optional_text(row, 2)?));
    Ok(Some(optional_hash(row, 1)?.is_none_or(|hash| hash == own)))
}

/// Returns the damage of the inbox.
pub(crate) fn inbox_damage(connection: &Connection, session: &SessionId) -> Outcome<Vec<InboxDamage>> {
    let waiting = session_row(connection, session)?.waiting;
    let (mut found, mut damages) = (0, InboxDamages::default());
    visit_inbox(connection, session, |item| {
        found += 1;
        item.err().into_iter().for_each(|damage| damages.take(damage));
        true
    })?;
    let mut damages = damages.into_damages();
    damages.extend(InboxDamage::miscounted(waiting, found));
    Ok(damages)
}

const INBOX: &str =
    "SELECT number, id, message, hash, dialect FROM inbox WHERE session = ?1 AND message IS NOT NULL ORDER BY number";

/// The same for a file in the first format.
const OLD_INBOX: &str =
    "SELECT number, id, message, hash, NULL FROM inbox WHERE session = ?1 AND message IS NOT NULL ORDER BY number";

/// Passes the messages of the inbox to `take` in order, until it returns false.
fn visit_inbox(
    connection: &Connection,
    session: &SessionId,
    mut take: impl FnMut(Result<InboxItem, InboxDamage>) -> bool,
) -> Outcome<()> {
    let mut statement = connection.prepare_cached(if schema::has_dialects(connection)? { INBOX } else { OLD_INBOX })?;
    let mut rows = statement.query([session.as_str()])?;
    let mut last = 0;
    while let Some(row) = rows.next()? {
        let place = number(row, 0)?;
        if place <= last {
            return Err(Failure::Inconsistent("the messages are not in order"));
        }
        last = place;
        let found = match item(session, place, row) {
            Ok(item) => Ok(item),
            Err(Failure::Inconsistent(_)) => {
                Err(InboxDamage::altered(rows::integer(place)?, raw_bytes(row, 2)?.to_vec()))
            }
            Err(failure) => return Err(failure),
        };
        if !take(found) {
            break;
        }
    }
    Ok(())
}

fn item(session: &SessionId, place: u64, row: &Row<'_>) -> Outcome<InboxItem> {
    let (id, message, dialect) = (text(row, 1)?, text(row, 2)?, optional_text(row, 4)?);
    if seal(session, place, id, (message, dialect)) != hash(row, 3)? {
        return Err(Failure::Inconsistent("the hash does not match"));
    }
    let message = Raw::parse(message).map_err(|_| Failure::Inconsistent("the message is not JSON"))?;
    Ok(InboxItem { id: id.into(), message, dialect: dialect.map(DialectName::from) })
}

/// Computes the hash of a message with its dialect and its place, by which alterations are found. Messages of the first
/// format have no dialect.
pub(crate) fn seal(session: &SessionId, place: u64, id: &str, (message, dialect): (&str, Option<&str>)) -> Hash {
    let head = format!("{session}\n{place}\n{}\n", id.len());
    let hash = Hash::of(head.as_bytes()).then(id.as_bytes()).then(message.as_bytes());
    dialect.map_or(hash, |dialect| hash.then(dialect.as_bytes()))
}

pub(crate) fn read_quarantine(connection: &Connection, session: &SessionId) -> Outcome<Vec<Quarantined>> {
    session_row(connection, session)?;
    let mut statement =
        connection.prepare_cached("SELECT hash, bytes FROM quarantine WHERE session = ?1 ORDER BY hash")?;
    let mut rows = statement.query([session.as_str()])?;
    let mut found: Vec<Quarantined> = Vec::new();
    while let Some(row) = rows.next()? {
        // Altered bytes do not match their hash, so the caller can tell.
        let (hash, bytes) = (hash(row, 0).unwrap_or(Hash::ZERO), raw_bytes(row, 1)?.to_vec());
        // This bounds the loop where a damaged index is circular.
        if found.last().is_some_and(|last| last.hash >= hash) {
            found.push(Quarantined { hash: Hash::ZERO, bytes });
            break;
        }
        found.push(Quarantined { hash, bytes });
    }
    Ok(found)
}
