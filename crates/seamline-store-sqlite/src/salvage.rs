//! Reads commits around damage: compares the index with the table, and takes the commits that either of them leads to.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row, Rows, params};
use seamline_store::{OpenedCommit, SessionId, StoredCommit};

use crate::commits::{Page, look_up};
use crate::failure::{Failure, Outcome};
use crate::rows::{bound, number, text};

/// Fills a page with the commits after its record. It reads the index and the table to their ends, or up to their damage
/// from both sides.
pub(crate) fn fill(connection: &Connection, session: &SessionId, page: &mut Page) -> Outcome<()> {
    let mut places = Places::default();
    let after = page.seq;
    places.walk_index(connection, session, after)?;
    places.walk_table(connection, session, after)?;
    let places: Vec<(Place, Ways)> = places.0.into_iter().collect();
    for same in places.chunk_by(|((one, _), _), ((other, _), _)| one == other) {
        if let Some(commit) = choose(connection, session, same)?
            && !page.take(commit)
        {
            break;
        }
    }
    Ok(())
}

/// Whether the table has a commit of a session between two records.
pub(crate) fn has_between(connection: &Connection, session: &SessionId, after: u64, before: u64) -> Outcome<bool> {
    let mut places = Places::default();
    places.walk_table(connection, session, after)?;
    Ok(places.0.into_keys().any(|(seq, _)| seq < before))
}

/// The number of a commit and its row id.
type Place = (u64, i64);

/// The ways that lead to a place.
#[derive(Default, Clone, Copy)]
struct Ways {
    index: bool,
    table: bool,
}

#[derive(Default)]
struct Places(BTreeMap<Place, Ways>);

impl Places {
    /// Walks the index from both sides, since a damaged entry can end either walk early.
    fn walk_index(&mut self, connection: &Connection, session: &SessionId, after: u64) -> Outcome<()> {
        for order in ["ASC", "DESC"] {
            let sql = format!(
                "SELECT seq, rowid FROM commits INDEXED BY sqlite_autoindex_commits_1
                 WHERE session = ?1 AND seq > ?2 ORDER BY seq {order}"
            );
            is_complete(self.take_index(connection, &sql, session, after))?;
        }
        Ok(())
    }

    fn take_index(&mut self, connection: &Connection, sql: &str, session: &SessionId, after: u64) -> Outcome<()> {
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query(params![session.as_str(), bound(after)])?;
        in_order(rows, |row| {
            let place = (number(row, 0)?, row.get(1)?);
            if place.0 > after {
                self.0.entry(place).or_default().index = true;
            }
            Ok(i64::try_from(place.0).unwrap_or(i64::MAX))
        })
    }

    /// Walks the table, and from its end too if the walk meets damage.
    fn walk_table(&mut self, connection: &Connection, session: &SessionId, after: u64) -> Outcome<()> {
        for order in ["ASC", "DESC"] {
            let sql = format!("SELECT rowid, session, seq FROM commits NOT INDEXED ORDER BY rowid {order}");
            if is_complete(self.take_table(connection, &sql, session, after))? {
                break;
            }
        }
        Ok(())
    }

    fn take_table(&mut self, connection: &Connection, sql: &str, session: &SessionId, after: u64) -> Outcome<()> {
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query([])?;
        in_order(rows, |row| {
            let place = row.get(0)?;
            // A row with a damaged name or number does not hide the others.
            if let (Ok(name), Ok(seq)) = (text(row, 1), number(row, 2))
                && name == session.as_str()
                && seq > after
            {
                self.0.entry((seq, place)).or_default().table = true;
            }
            Ok(place)
        })
    }
}

/// Visits rows while their numbers rise, or while they fall. This bounds the walk where a damaged tree is circular.
fn in_order(mut rows: Rows<'_>, mut visit: impl FnMut(&Row<'_>) -> Outcome<i64>) -> Outcome<()> {
    let (mut last, mut direction) = (None, None);
    while let Some(row) = rows.next()? {
        let number = visit(row)?;
        if let Some(last) = last {
            let step = number.cmp(&last);
            if step.is_eq() || *direction.get_or_insert(step) != step {
                return Err(Failure::Inconsistent("the commits are not in order"));
            }
        }
        last = Some(number);
    }
    Ok(())
}

/// Whether a walk reached its end. Damage only ends it early.
fn is_complete(walked: Outcome<()>) -> Outcome<bool> {
    match walked {
        Err(failure) if failure.is_damage() => Ok(false),
        walked => walked.map(|()| true),
    }
}

/// Chooses the commit among the rows with its number: the intact one, else one with damaged bytes. An entry of the index
/// that leads to another intact commit is wrong.
fn choose(connection: &Connection, session: &SessionId, same: &[(Place, Ways)]) -> Outcome<Option<StoredCommit>> {
    let mut damaged = None;
    for &((seq, place), ways) in same {
        let Some(bytes) = look_up(connection, "SELECT bytes FROM commits WHERE rowid = ?1", [place])? else { continue };
        let opened = OpenedCommit::outline(&bytes);
        let is_own = opened.as_ref().is_ok_and(|commit| commit.session == *session && commit.seq == seq);
        let is_elsewhere = opened.is_ok() && !ways.table;
        let commit = StoredCommit { seq, bytes, is_indexed: ways.index };
        if is_own {
            return Ok(Some(commit));
        }
        if damaged.is_none() && !is_elsewhere {
            damaged = Some(commit);
        }
    }
    Ok(damaged)
}
