//! Reads commits in the order of the index.

use rusqlite::{Connection, OptionalExtension, Params, params};
use seamline_store::{OpenedCommit, SessionId, StoredCommit};

use crate::failure::Outcome;
use crate::reads::session_row;
use crate::rows::{bound, bytes, number};
use crate::salvage;

/// Reads the commits after a record. Where the index is damaged or misses commits, it reads the table without the index.
/// It skips commits that cannot be read, so replay sees a gap. It fails only if no commit can be read at all.
pub(crate) fn read(
    connection: &Connection,
    session: &SessionId,
    after: u64,
    bytes_max: usize,
) -> Outcome<Vec<StoredCommit>> {
    let end = session_row(connection, session)?.head.seq;
    let mut page = Page { commits: Vec::new(), seq: after, bytes: 0, bytes_max };
    let failure = match page.fill(connection, session, end) {
        Ok(Reach::Whole) => return Ok(page.commits),
        Ok(Reach::Gap) => None,
        Err(failure) if failure.is_damage() => Some(failure),
        Err(failure) => return Err(failure),
    };
    // After the first commit, the next read meets the damage again.
    if page.commits.is_empty() {
        salvage::fill(connection, session, &mut page)?;
    }
    match failure {
        Some(failure) if page.commits.is_empty() && after == 0 => Err(failure),
        _ => Ok(page.commits),
    }
}

/// Returns the last commit of a session, if it is intact.
pub(crate) fn last(connection: &Connection, session: &SessionId) -> Outcome<Option<OpenedCommit>> {
    let last = "SELECT bytes FROM commits WHERE session = ?1 ORDER BY seq DESC LIMIT 1";
    let bytes = look_up(connection, last, [session.as_str()])?;
    let opened = bytes.and_then(|bytes| OpenedCommit::outline(&bytes).ok());
    Ok(opened.filter(|commit| commit.session == *session))
}

/// Reads the bytes of a commit; none if they cannot be read.
pub(crate) fn look_up(connection: &Connection, sql: &str, place: impl Params) -> Outcome<Option<Vec<u8>>> {
    let looked = || {
        let mut statement = connection.prepare_cached(sql)?;
        statement.query_row(place, |row| Ok(bytes(row, 0).map(<[u8]>::to_vec))).optional()?.transpose()
    };
    match looked() {
        Err(failure) if failure.is_damage() => Ok(None),
        looked => looked,
    }
}

/// The commits that were read so far.
pub(crate) struct Page {
    commits: Vec<StoredCommit>,
    /// The number of the last commit, or of the record to read after.
    pub(crate) seq: u64,
    bytes: usize,
    bytes_max: usize,
}

/// How far the index led.
enum Reach {
    /// The index led to the end of the page or of the session.
    Whole,
    /// The index led to a place where a commit is missing.
    Gap,
}

impl Page {
    /// Adds the next commit, if the page has room for it.
    pub(crate) fn take(&mut self, commit: StoredCommit) -> bool {
        self.bytes = self.bytes.saturating_add(commit.bytes.len());
        if !self.commits.is_empty() && self.bytes > self.bytes_max {
            return false;
        }
        self.seq = commit.seq;
        self.commits.push(commit);
        true
    }

    /// Reads commits in the order of the index, up to the first one that is missing. `end` is the last record of the
    /// session.
    fn fill(&mut self, connection: &Connection, session: &SessionId, end: u64) -> Outcome<Reach> {
        let mut expected = next_after(connection, session, self.seq)?;
        // The second table makes SQLite compare the entry of the index with its row, at no cost: the first one is read
        // from the index alone.
        let mut statement = connection.prepare_cached(
            "SELECT t.seq, t.count, t.bytes, t.session = i.session AND t.seq = i.seq
             FROM commits AS i INDEXED BY sqlite_autoindex_commits_1 CROSS JOIN commits AS t ON t.rowid = i.rowid
             WHERE i.session = ?1 AND i.seq > ?2 ORDER BY i.seq",
        )?;
        let mut rows = statement.query(params![session.as_str(), bound(self.seq)])?;
        while let Some(row) = rows.next()? {
            let (seq, count, is_same) = (number(row, 0)?, number(row, 1)?, number(row, 3)? == 1);
            // The second condition bounds the loop where a damaged index is circular.
            if seq != expected || seq <= self.seq || !is_same {
                return Ok(Reach::Gap);
            }
            if !self.take(StoredCommit { seq, bytes: bytes(row, 2)?.to_vec(), is_indexed: true }) {
                return Ok(Reach::Whole);
            }
            expected = seq.saturating_add(count);
        }
        Ok(if expected > end { Reach::Whole } else { Reach::Gap })
    }
}

/// Returns the number of the commit that follows a record.
fn next_after(connection: &Connection, session: &SessionId, after: u64) -> Outcome<u64> {
    if after == 0 {
        return Ok(1);
    }
    let mut statement = connection.prepare_cached(
        "SELECT seq, count FROM commits INDEXED BY sqlite_autoindex_commits_1
         WHERE session = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT 1",
    )?;
    let mut rows = statement.query(params![session.as_str(), bound(after)])?;
    let Some(row) = rows.next()? else { return Ok(1) };
    Ok(number(row, 0)?.saturating_add(number(row, 1)?))
}
