//! The operations that change the file. The writer runs several of them in one transaction. An operation rejects its
//! request before it changes anything; any other failure rolls the whole transaction back.

use std::ops::Range;

use rusqlite::{Connection, Rows, params};
use seamline_store::{
    Acquire, Appended, DialectName, Erased, Error, Hash, Head, Holder, InboxItem, Lease, OpenedCommit, Pushed, Sealed,
    SessionId, cause,
};

use crate::commits;
use crate::failure::{Failure, Outcome};
use crate::holder::is_gone;
use crate::reads::{self, require_absent, session_row};
use crate::rows::{self, number};
use crate::salvage;

pub(crate) fn create(connection: &Connection, session: &SessionId, holder: &Holder) -> Outcome<Lease> {
    require_absent(connection, session)?;
    insert_session(connection, session, Head::START, Some(holder))?;
    Ok(Lease { epoch: Head::START.epoch, head: Head::START })
}

pub(crate) fn acquire(connection: &Connection, session: &SessionId, holder: &Holder, how: &Acquire) -> Outcome<Lease> {
    let row = session_row(connection, session)?;
    let other = row.holder.filter(|other| other != holder && !is_gone(other));
    if let Some(other) = other.filter(|other| !how.takes_over(other)) {
        return Err(Error::Busy { session: session.clone(), holder: Box::new(other) }.into());
    }
    let epoch = row.head.epoch + 1;
    let mut statement = connection.prepare_cached("UPDATE sessions SET epoch = ?2, holder = ?3 WHERE session = ?1")?;
    require_one(statement.execute(params![session.as_str(), rows::integer(epoch)?, encode(holder)?])?)?;
    let head = Head { epoch, ..row.head };
    match commits::last(connection, session)? {
        // The session row ends before the last commit. No commit could follow such a head, so it is corrected.
        Some(last) if last.last_seq() > head.seq => {
            let head = Head { epoch, seq: last.last_seq(), hash: last.hash };
            set_head(connection, session, head, (0, 0))?;
            Ok(Lease { epoch, head })
        }
        _ => Ok(Lease { epoch, head }),
    }
}

pub(crate) fn release(connection: &Connection, session: &SessionId, epoch: u64) -> Outcome<()> {
    if session_row(connection, session)?.head.epoch == epoch {
        let mut statement = connection.prepare_cached("UPDATE sessions SET holder = NULL WHERE session = ?1")?;
        require_one(statement.execute([session.as_str()])?)?;
    }
    Ok(())
}

pub(crate) fn append(connection: &Connection, commit: &Sealed) -> Outcome<Appended> {
    let session = commit.session();
    if !advance(connection, commit)? {
        return explain_rejection(connection, commit);
    }
    for id in commit.taken() {
        let mut statement = connection
            .prepare_cached("UPDATE inbox SET message = NULL WHERE session = ?1 AND id = ?2 AND message IS NOT NULL")?;
        let taken = statement.execute(params![session.as_str(), id.as_str()])?;
        add_waiting(connection, session, -rows::integer(taken as u64)?)?;
    }
    let row = Row { seq: commit.seq(), count: commit.count(), epoch: commit.epoch(), hash: commit.hash() };
    insert_commit(connection, session, &row, (commit.id().to_bytes(), commit.bytes()))?;
    Ok(Appended::New)
}

/// Moves the head of a session from before a commit to after it. Returns false if the head is elsewhere.
fn advance(connection: &Connection, commit: &Sealed) -> Outcome<bool> {
    let mut statement = connection.prepare_cached(
        "UPDATE sessions SET head_seq = ?2, head_hash = ?3, commits = commits + 1, bytes = bytes + ?4,
         dialect = coalesce(?8, dialect) WHERE session = ?1 AND epoch = ?5 AND head_seq = ?6 AND head_hash = ?7 AND erased = 0",
    )?;
    let (before, after) = (commit.before(), commit.after());
    let moved = statement.execute(params![
        commit.session().as_str(),
        rows::integer(after.seq)?,
        &after.hash.as_bytes()[..],
        rows::integer(commit.bytes().len() as u64)?,
        rows::integer(commit.epoch())?,
        rows::integer(before.seq)?,
        &before.hash.as_bytes()[..],
        commit.dialect().map(DialectName::as_str),
    ])?;
    Ok(moved == 1)
}

/// Handles a commit that does not follow the head: it is stored already, fenced or in conflict.
fn explain_rejection(connection: &Connection, commit: &Sealed) -> Outcome<Appended> {
    let session = commit.session();
    let head = session_row(connection, session)?.head;
    if reads::hash_of(connection, session, commit.seq(), commit.id().to_bytes())? == Some(commit.hash()) {
        return Ok(Appended::Already);
    }
    let (epoch, current) = (commit.epoch(), head.epoch);
    Err(if epoch == current {
        Error::Conflict(session.clone())
    } else {
        Error::Fenced { session: session.clone(), epoch, current }
    }
    .into())
}

pub(crate) fn push(connection: &Connection, session: &SessionId, item: &InboxItem) -> Outcome<Pushed> {
    session_row(connection, session)?;
    item.fits()?;
    if let Some(is_same) = reads::find_pushed(connection, session, item)? {
        return Ok(item.again(session, is_same)?);
    }
    let mut last = connection.prepare_cached("SELECT coalesce(max(number), 0) FROM inbox")?;
    let place = last.query_row([], |row| Ok(number(row, 0)))?? + 1;
    let (message, dialect) = (item.message.as_str(), item.dialect.as_ref().map(DialectName::as_str));
    let hash = reads::seal(session, place, item.id.as_str(), (message, dialect));
    let mut statement = connection.prepare_cached(
        "INSERT INTO inbox (number, session, id, message, hash, dialect) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let (place, hash) = (rows::integer(place)?, &hash.as_bytes()[..]);
    statement.execute(params![place, session.as_str(), item.id.as_str(), message, hash, dialect])?;
    add_waiting(connection, session, 1)?;
    Ok(Pushed::New)
}

pub(crate) fn quarantine(connection: &Connection, session: &SessionId, bytes: &[u8]) -> Outcome<Hash> {
    session_row(connection, session)?;
    let hash = Hash::of(bytes);
    let mut statement =
        connection.prepare_cached("INSERT OR IGNORE INTO quarantine (session, hash, bytes) VALUES (?1, ?2, ?3)")?;
    statement.execute(params![session.as_str(), &hash.as_bytes()[..], bytes])?;
    Ok(hash)
}

pub(crate) fn import(
    connection: &Connection,
    session: &SessionId,
    head: Head,
    commits: &[(OpenedCommit, Vec<u8>)],
) -> Outcome<Head> {
    require_absent(connection, session)?;
    insert_session(connection, session, head, None)?;
    for (commit, bytes) in commits {
        let count = commit.records.len() as u64;
        let row = Row { seq: commit.seq, count, epoch: commit.epoch, hash: commit.hash };
        insert_commit(connection, session, &row, (commit.id.to_bytes(), bytes))?;
        for id in commit.taken() {
            let mut statement =
                connection.prepare_cached("INSERT OR IGNORE INTO inbox (session, id) VALUES (?1, ?2)")?;
            statement.execute(params![session.as_str(), id.as_str()])?;
        }
    }
    set_head(connection, session, head, (commits.len(), commits.iter().map(|(_, bytes)| bytes.len()).sum()))?;
    if let Some(dialect) = commits.iter().rev().find_map(|(commit, _)| commit.dialect()) {
        let mut statement = connection.prepare_cached("UPDATE sessions SET dialect = ?2 WHERE session = ?1")?;
        require_one(statement.execute(params![session.as_str(), dialect.as_str()])?)?;
    }
    Ok(head)
}

pub(crate) fn erase(connection: &Connection, session: &SessionId) -> Outcome<Erased> {
    let known = session_row(connection, session)?.commits;
    let count = "SELECT count(*), coalesce(sum(length(bytes)), 0) FROM commits WHERE session = ?1";
    let (commits, bytes) =
        connection.query_row(count, [session.as_str()], |row| Ok((number(row, 0), number(row, 1))))?;
    for delete in [
        "DELETE FROM commits WHERE session = ?1",
        "DELETE FROM inbox WHERE session = ?1",
        "DELETE FROM quarantine WHERE session = ?1",
    ] {
        connection.execute(delete, [session.as_str()])?;
    }
    let commits = commits?;
    if commits < known {
        // A damaged index hides commits from the deletion. Where SQLite cannot delete them either, it fails.
        connection.execute("DELETE FROM commits NOT INDEXED WHERE session = ?1", [session.as_str()])?;
    }
    let erased = connection.execute(
        "UPDATE sessions SET epoch = 0, head_seq = 0, head_hash = NULL, commits = 0, bytes = 0, waiting = 0, holder = NULL,
         dialect = NULL, erased = 1 WHERE session = ?1",
        [session.as_str()],
    )?;
    require_one(erased)?;
    Ok(Erased { commits, bytes: bytes? })
}

/// The columns of a commit beside its id and bytes.
struct Row {
    seq: u64,
    count: u64,
    epoch: u64,
    hash: Hash,
}

fn insert_commit(connection: &Connection, session: &SessionId, row: &Row, stored: ([u8; 16], &[u8])) -> Outcome<()> {
    // A given row id makes SQLite check that no row has it. Where the end of the table is damaged, SQLite would choose a
    // row id that exists, and would overwrite that row.
    let mut statement = connection.prepare_cached(
        "INSERT INTO commits (rowid, session, seq, count, epoch, id, hash, bytes)
         VALUES ((SELECT coalesce(max(rowid), 0) + 1 FROM commits), ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let (seq, count, epoch) = (rows::integer(row.seq)?, rows::integer(row.count)?, rows::integer(row.epoch)?);
    let (id, bytes) = stored;
    let hash = &row.hash.as_bytes()[..];
    statement.execute(params![session.as_str(), seq, count, epoch, &id[..], hash, bytes])?;
    check_readable(connection, session, row.seq)
}

/// Checks that later reads find the commit that was just inserted. A commit in a damaged tree could get lost.
fn check_readable(connection: &Connection, session: &SessionId, seq: u64) -> Outcome<()> {
    let place = connection.last_insert_rowid();
    let mut last = connection.prepare_cached("SELECT max(rowid) FROM commits")?;
    if last.query_row([], |row| row.get::<_, Option<i64>>(0))? != Some(place) {
        return Err(Failure::Inconsistent("the table does not end with a new commit"));
    }
    let mut statement = connection.prepare_cached(
        "SELECT t.rowid, t.seq, t.count
         FROM commits AS i INDEXED BY sqlite_autoindex_commits_1 CROSS JOIN commits AS t ON t.rowid = i.rowid
         WHERE i.session = ?1 ORDER BY i.seq DESC LIMIT 2",
    )?;
    let mut rows = statement.query([session.as_str()])?;
    let Some(row) = rows.next()? else { return Err(Failure::Unindexed) };
    match (row.get::<_, i64>(0)?, number(row, 1)?) {
        (found, _) if found == place => {}
        (_, later) if later > seq => return Err(Failure::Inconsistent("a session has commits after its head")),
        _ => return Err(Failure::Unindexed),
    }
    let before = match span(&mut rows) {
        Ok(before) if before.end == seq => return Ok(()),
        Ok(before) => before.start,
        Err(failure) if failure.is_damage() => 0,
        Err(failure) => return Err(failure),
    };
    // Earlier damage may have lost the commit before it. Only one that the table still has shows a damaged index.
    if salvage::has_between(connection, session, before, seq)? {
        return Err(Failure::Unindexed);
    }
    Ok(())
}

/// The records of the next commit, which has the columns `rowid`, `seq` and `count`.
fn span(rows: &mut Rows<'_>) -> Outcome<Range<u64>> {
    let Some(row) = rows.next()? else { return Ok(0..1) };
    let seq = number(row, 1)?;
    Ok(seq..seq.saturating_add(number(row, 2)?))
}

fn insert_session(connection: &Connection, session: &SessionId, head: Head, holder: Option<&Holder>) -> Outcome<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO sessions (session, epoch, head_seq, head_hash, commits, bytes, waiting, holder, erased)
         VALUES (?1, ?2, ?3, ?4, 0, 0, 0, ?5, 0)",
    )?;
    let (epoch, seq) = (rows::integer(head.epoch)?, rows::integer(head.seq)?);
    let holder = holder.map(encode).transpose()?;
    statement.execute(params![session.as_str(), epoch, seq, &head.hash.as_bytes()[..], holder])?;
    Ok(())
}

/// Sets the head of a session and adds to its counts of commits and bytes.
fn set_head(connection: &Connection, session: &SessionId, head: Head, more: (usize, usize)) -> Outcome<()> {
    let mut statement = connection.prepare_cached(
        "UPDATE sessions SET head_seq = ?2, head_hash = ?3, commits = commits + ?4, bytes = bytes + ?5
         WHERE session = ?1",
    )?;
    let (commits, bytes) = (rows::integer(more.0 as u64)?, rows::integer(more.1 as u64)?);
    let seq = rows::integer(head.seq)?;
    require_one(statement.execute(params![session.as_str(), seq, &head.hash.as_bytes()[..], commits, bytes])?)
}

/// Adds to the count of messages in the inbox.
fn add_waiting(connection: &Connection, session: &SessionId, more: i64) -> Outcome<()> {
    if more == 0 {
        return Ok(());
    }
    let mut statement = connection.prepare_cached("UPDATE sessions SET waiting = waiting + ?2 WHERE session = ?1")?;
    require_one(statement.execute(params![session.as_str(), more])?)
}

/// Checks that an update changed the session's row; the session was found before.
fn require_one(changed: usize) -> Outcome<()> {
    if changed == 1 { Ok(()) } else { Err(Failure::Inconsistent("a session row cannot be updated")) }
}

fn encode(holder: &Holder) -> Outcome<String> {
    serde_json::to_string(holder).map_err(|error| Error::Refused(cause::Refused::Other(error.to_string())).into())
}
