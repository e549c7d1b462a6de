//! Reads the head, the commits and the list of sessions.

use seamline_store::{DialectName, Head, OpenedCommit, SessionId, SessionInfo, StoredCommit};
use tokio_postgres::types::Type;

use crate::connections::Operation;
use crate::failure::Failure;
use crate::row::{NO_COLUMN, SessionRow, bigint, column, count, damaged};
use crate::transaction::{Attempt, Params};

/// The most commits of one page.
const PAGE_COMMITS: i64 = 1024;

/// Reads a page of commits. It returns the bytes of a commit only if the page has room for it.
const PAGE: &str = "\
SELECT seq, body FROM (
    SELECT seq, body, row_number() OVER (ORDER BY seq) AS place,
        sum(octet_length(body)) OVER (ORDER BY seq) AS bytes_to_here
    FROM (
        SELECT seq, body FROM seamline_commits
        WHERE tenant = $1 AND session = $2 AND seq > $3 ORDER BY seq LIMIT $4
    ) AS next
) AS page
WHERE bytes_to_here <= $5 OR (place = 1 AND $6)
ORDER BY seq";

/// The column of the list that tables of older formats do not have, and its value for them: a reader does not upgrade the
/// tables.
const OWN_DIALECT: &str = "own.dialect";
const NO_DIALECT: &str = "NULL::text";

/// Reads the head of a session.
#[derive(Debug)]
pub(crate) struct FindHead(pub(crate) SessionId);

impl Operation for FindHead {
    type Output = Head;
    const WRITES: bool = false;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<Head, Failure> {
        Ok(SessionRow::require(attempt, &self.0).await?.head)
    }
}

/// Reads commits in order.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) session: SessionId,
    pub(crate) after: u64,
    pub(crate) bytes_max: usize,
}

impl Operation for Read {
    type Output = Vec<StoredCommit>;
    const WRITES: bool = false;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<Vec<StoredCommit>, Failure> {
        let (mut commits, mut after, mut room) = (Vec::new(), self.after, self.bytes_max);
        loop {
            let page = self.page(attempt, after, room, commits.is_empty()).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            room = room.saturating_sub(page.iter().map(|commit| commit.bytes.len()).sum());
            let is_last = page.len() < PAGE_COMMITS as usize;
            commits.extend(page);
            if is_last {
                break;
            }
        }
        if commits.is_empty() {
            SessionRow::require(attempt, &self.session).await?;
        }
        Ok(commits)
    }
}

impl Read {
    async fn page(
        &self,
        attempt: &Attempt<'_>,
        after: u64,
        room: usize,
        is_first: bool,
    ) -> Result<Vec<StoredCommit>, Failure> {
        let params: Params<'_> = &[
            (&attempt.tenant(), Type::TEXT),
            (&self.session.as_str(), Type::TEXT),
            (&bigint(after), Type::INT8),
            (&PAGE_COMMITS, Type::INT8),
            (&bigint(room as u64), Type::INT8),
            (&is_first, Type::BOOL),
        ];
        let rows = attempt.query(PAGE, params).await?;
        let commit = |row| {
            let (seq, bytes) = (count(row, "seq")?, column(row, "body")?);
            Ok(StoredCommit { seq, bytes, is_indexed: true })
        };
        rows.iter().map(commit).collect()
    }
}

/// Lists the sessions by name.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) after: Option<SessionId>,
    pub(crate) limit: usize,
}

impl Operation for List {
    type Output = Vec<SessionInfo>;
    const WRITES: bool = false;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<Vec<SessionInfo>, Failure> {
        // Every name sorts after the empty one.
        let after = self.after.as_ref().map_or("", SessionId::as_str);
        let params: Params<'_> =
            &[(&attempt.tenant(), Type::TEXT), (&after, Type::TEXT), (&bigint(self.limit as u64), Type::INT8)];
        let rows = match attempt.query_unless(NO_COLUMN, &list(OWN_DIALECT), params).await? {
            Some(rows) => rows,
            None => attempt.query(&list(NO_DIALECT), params).await?,
        };
        rows.iter().map(info).collect()
    }
}

/// The statement of the list. A session that an older version wrote has its dialect only in its first commit.
fn list(dialect: &str) -> String {
    let columns = SessionRow::COLUMNS;
    format!(
        "SELECT session, {columns}, {dialect} AS dialect, CASE WHEN {dialect} IS NULL THEN \
         (SELECT body FROM seamline_commits AS c WHERE c.tenant = $1 AND c.session = own.session AND c.seq = 1) \
         END AS first_commit FROM seamline_sessions AS own \
         WHERE tenant = $1 AND session > $2 AND erased_at IS NULL ORDER BY session LIMIT $3"
    )
}

fn info(row: &tokio_postgres::Row) -> Result<SessionInfo, Failure> {
    let name: &str = column(row, "session")?;
    let session = name.parse().map_err(|error| damaged(format!("a session has an invalid name: {error}")))?;
    let (dialect, first): (Option<&str>, Option<&[u8]>) = (column(row, "dialect")?, column(row, "first_commit")?);
    // The list shows damaged sessions, too.
    let in_first = || first.and_then(|first| OpenedCommit::outline(first).ok()?.dialect());
    let dialect = dialect.map(DialectName::from).or_else(in_first);
    let SessionRow { head, holder, commits, bytes, .. } = SessionRow::read(row)?;
    Ok(SessionInfo { session, head, commits, bytes, holder, dialect })
}
