//! Commits, as far as the file can be read.

use rusqlite::{Connection, OptionalExtension, Params, params};
use seamline_store::{OpenedCommit, SessionId, StoredCommit};

use crate::fault::{Fault, Outcome};
use crate::reads::kept;
use crate::rows::{bound, bytes, number};

/// The commits behind a record. A place that cannot be read is passed over, so that it is a gap for whoever replays them;
/// it is an error only where there is nothing before it and nothing behind it.
pub(crate) fn read(
    connection: &Connection,
    session: &SessionId,
    after: u64,
    bytes_max: usize,
) -> Outcome<Vec<StoredCommit>> {
    kept(connection, session)?;
    let mut found = Found { commits: Vec::new(), seq: after, bytes: 0, bytes_max };
    match found.in_order(connection, session) {
        // The damage is met again when it is read on.
        Err(fault) if fault.is_damage() && !found.commits.is_empty() => Ok(found.commits),
        Err(fault) if fault.is_damage() => {
            found.one_by_one(connection, session)?;
            if found.commits.is_empty() && after == 0 { Err(fault) } else { Ok(found.commits) }
        }
        filled => filled.map(|()| found.commits),
    }
}

/// The last commit of a session, where it is whole.
pub(crate) fn last(connection: &Connection, session: &SessionId) -> Outcome<Option<OpenedCommit>> {
    let last = "SELECT bytes FROM commits WHERE session = ?1 ORDER BY seq DESC LIMIT 1";
    let bytes = look_up(connection, last, [session.as_str()])?;
    let opened = bytes.and_then(|bytes| OpenedCommit::open(&bytes).ok());
    Ok(opened.filter(|commit| commit.session == *session))
}

/// Commits that were found so far.
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
            // It is what bounds a damaged index that leads in circles.
            if seq <= self.seq {
                return Err(Fault::Odd("commits stand in disorder"));
            }
            if !self.take(seq, bytes) {
                break;
            }
        }
        Ok(())
    }

    /// Takes the next commit, if there is room for it.
    fn take(&mut self, seq: u64, bytes: &[u8]) -> bool {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if !self.commits.is_empty() && self.bytes > self.bytes_max {
            return false;
        }
        self.seq = seq;
        self.commits.push(StoredCommit { seq, bytes: bytes.to_vec() });
        true
    }

    /// Goes on where the file cannot be read in one go: the index says which commits there are, and each is looked up by
    /// itself.
    fn one_by_one(&mut self, connection: &Connection, session: &SessionId) -> Outcome<()> {
        loop {
            let seq = match next(connection, session, self.seq) {
                Ok(Some(seq)) => seq,
                Ok(None) => return Ok(()),
                Err(fault) if fault.is_damage() => return self.without_index(connection, session),
                Err(fault) => return Err(fault),
            };
            let place = params![session.as_str(), bound(seq)];
            match look_up(connection, "SELECT bytes FROM commits WHERE session = ?1 AND seq = ?2", place)? {
                Some(bytes) if !self.take(seq, &bytes) => return Ok(()),
                Some(_) => {}
                None => self.seq = seq,
            }
        }
    }

    /// Goes on where the index cannot be read: the table is gone through for the places of the commits.
    fn without_index(&mut self, connection: &Connection, session: &SessionId) -> Outcome<()> {
        for (seq, place) in places(connection, session, self.seq)? {
            match look_up(connection, "SELECT bytes FROM commits WHERE rowid = ?1", [place])? {
                Some(bytes) if seq > self.seq && !self.take(seq, &bytes) => break,
                _ => {}
            }
        }
        Ok(())
    }
}

/// The number of the next commit. Only the index is looked at.
fn next(connection: &Connection, session: &SessionId, after: u64) -> Outcome<Option<u64>> {
    let mut statement =
        connection.prepare_cached("SELECT seq FROM commits WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT 1")?;
    let place = params![session.as_str(), bound(after)];
    let Some(seq) = statement.query_row(place, |row| Ok(number(row, 0))).optional()?.transpose()? else {
        return Ok(None);
    };
    if seq > after { Ok(Some(seq)) } else { Err(Fault::Odd("commits stand in disorder")) }
}

/// The bytes of a commit; nothing where they cannot be read.
fn look_up(connection: &Connection, sql: &str, place: impl Params) -> Outcome<Option<Vec<u8>>> {
    let looked = || {
        let mut statement = connection.prepare_cached(sql)?;
        statement.query_row(place, |row| Ok(bytes(row, 0).map(<[u8]>::to_vec))).optional()?.transpose()
    };
    match looked() {
        Err(fault) if fault.is_damage() => Ok(None),
        looked => looked,
    }
}

/// The numbers and places of the commits behind a record, in their order, as far as the table can be gone through.
fn places(connection: &Connection, session: &SessionId, after: u64) -> Outcome<Vec<(u64, i64)>> {
    let mut places = Vec::new();
    match walk(connection, session, after, &mut places) {
        Err(fault) if !fault.is_damage() => return Err(fault),
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
            return Err(Fault::Odd("commits stand in disorder"));
        }
        places.push((seq, place));
    }
    Ok(())
}
