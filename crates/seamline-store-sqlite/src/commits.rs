//! Reads commits, also from a damaged file.

use rusqlite::{Connection, OptionalExtension, Params, params};
use seamline_store::{OpenedCommit, SessionId, StoredCommit};

use crate::failure::{Failure, Outcome};
use crate::reads::session_row;
use crate::rows::{bound, bytes, number};

/// Reads the commits after a record. It skips commits that cannot be read, so replay sees a gap. It fails only if no
/// commit can be read at all.
pub(crate) fn read(
    connection: &Connection,
    session: &SessionId,
    after: u64,
    bytes_max: usize,
) -> Outcome<Vec<StoredCommit>> {
    session_row(connection, session)?;
    let mut found = Found { commits: Vec::new(), seq: after, bytes: 0, bytes_max };
    match found.in_order(connection, session) {
        // The next read meets the damage again.
        Err(failure) if failure.is_damage() && !found.commits.is_empty() => Ok(found.commits),
        Err(failure) if failure.is_damage() => {
            found.read_one_by_one(connection, session)?;
            if found.commits.is_empty() && after == 0 { Err(failure) } else { Ok(found.commits) }
        }
        filled => filled.map(|()| found.commits),
    }
}

/// Returns the last commit of a session, if it is intact.
pub(crate) fn last(connection: &Connection, session: &SessionId) -> Outcome<Option<OpenedCommit>> {
    let last = "SELECT bytes FROM commits WHERE session = ?1 ORDER BY seq DESC LIMIT 1";
    let bytes = look_up(connection, last, [session.as_str()])?;
    let opened = bytes.and_then(|bytes| OpenedCommit::open(&bytes).ok());
    Ok(opened.filter(|commit| commit.session == *session))
}

/// The commits that were read so far.
struct Found {
    commits: Vec<StoredCommit>,
    seq: u64,
    bytes: usize,
    bytes_max: usize,
}

impl Found {
    fn in_order(&mut self, connection: &Connection, session: &SessionId) -> Outcome<()> {
        let mut statement =
            connection.prepare_cached("SELECT seq, bytes FROM commits WHERE session = ?1 AND seq > ?2 ORDER BY seq")?;
        let mut rows = statement.query(params![session.as_str(), bound(self.seq)])?;
        while let Some(row) = rows.next()? {
            let (seq, bytes) = (number(row, 0)?, bytes(row, 1)?);
            // This bounds the loop where a damaged index is circular.
            if seq <= self.seq {
                return Err(Failure::Inconsistent("the commits are not in order"));
            }
            if !self.take(seq, bytes) {
                break;
            }
        }
        Ok(())
    }

    /// Adds the next commit, if the page has room for it.
    fn take(&mut self, seq: u64, bytes: &[u8]) -> bool {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if !self.commits.is_empty() && self.bytes > self.bytes_max {
            return false;
        }
        self.seq = seq;
        self.commits.push(StoredCommit { seq, bytes: bytes.to_vec() });
        true
    }

    /// Continues after damage: takes the numbers of the commits from the index and reads each commit by itself.
    fn read_one_by_one(&mut self, connection: &Connection, session: &SessionId) -> Outcome<()> {
        loop {
            let seq = match next(connection, session, self.seq) {
                Ok(Some(seq)) => seq,
                Ok(None) => return Ok(()),
                Err(failure) if failure.is_damage() => return self.read_without_index(connection, session),
                Err(failure) => return Err(failure),
            };
            let place = params![session.as_str(), bound(seq)];
            match look_up(connection, "SELECT bytes FROM commits WHERE session = ?1 AND seq = ?2", place)? {
                Some(bytes) if !self.take(seq, &bytes) => return Ok(()),
                Some(_) => {}
                None => self.seq = seq,
            }
        }
    }

    /// Continues where the index is damaged too: scans the table for the rows of the commits.
    fn read_without_index(&mut self, connection: &Connection, session: &SessionId) -> Outcome<()> {
        for (seq, place) in places(connection, session, self.seq)? {
            match look_up(connection, "SELECT bytes FROM commits WHERE rowid = ?1", [place])? {
                Some(bytes) if seq > self.seq && !self.take(seq, &bytes) => break,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns the number of the next commit. It reads only the index.
fn next(connection: &Connection, session: &SessionId, after: u64) -> Outcome<Option<u64>> {
    let mut statement =
        connection.prepare_cached("SELECT seq FROM commits WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT 1")?;
    let place = params![session.as_str(), bound(after)];
    let Some(seq) = statement.query_row(place, |row| Ok(number(row, 0))).optional()?.transpose()? else {
        return Ok(None);
    };
    if seq > after { Ok(Some(seq)) } else { Err(Failure::Inconsistent("the commits are not in order")) }
}

/// Reads the bytes of a commit; none if they cannot be read.
fn look_up(connection: &Connection, sql: &str, place: impl Params) -> Outcome<Option<Vec<u8>>> {
    let looked = || {
        let mut statement = connection.prepare_cached(sql)?;
        statement.query_row(place, |row| Ok(bytes(row, 0).map(<[u8]>::to_vec))).optional()?.transpose()
    };
    match looked() {
        Err(failure) if failure.is_damage() => Ok(None),
        looked => looked,
    }
}

/// Returns the numbers and row ids of the commits after a record, in order, as far as the table can be scanned.
fn places(connection: &Connection, session: &SessionId, after: u64) -> Outcome<Vec<(u64, i64)>> {
    let mut places = Vec::new();
    match walk(connection, session, after, &mut places) {
        Err(failure) if !failure.is_damage() => return Err(failure),
        _ => places.sort_unstable(),
    }
    Ok(places)
}

fn walk(connection: &Connection, session: &SessionId, after: u64, places: &mut Vec<(u64, i64)>) -> Outcome<()> {
    let mut statement = connection
        .prepare_cached("SELECT seq, rowid FROM commits NOT INDEXED WHERE session = ?1 AND seq > ?2 ORDER BY rowid")?;
    let mut rows = statement.query(params![session.as_str(), bound(after)])?;
    while let Some(row) = rows.next()? {
        let (seq, place) = (number(row, 0)?, row.get(1)?);
        if places.last().is_some_and(|(_, last)| *last >= place) {
            return Err(Failure::Inconsistent("the commits are not in order"));
        }
        places.push((seq, place));
    }
    Ok(())
}
