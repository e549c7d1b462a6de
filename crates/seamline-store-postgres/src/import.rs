//! Imports a session.

use seamline_store::{DialectName, Error, Head, OpenedCommit, SessionId, chain};
use tokio_postgres::types::Type;

use crate::connections::Operation;
use crate::failure::Failure;
use crate::row::{SessionRow, bigint};
use crate::transaction::{Attempt, Params};

/// The most commits of one statement, and about the most bytes.
const CHUNK_COMMITS: usize = 500;
const CHUNK_BYTES: usize = 8 * 1024 * 1024;

const CREATE: &str = "\
INSERT INTO seamline_sessions (tenant, session, epoch, head_seq, head_hash, commits, bytes, dialect)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (tenant, session) DO NOTHING
RETURNING epoch";

const INSERT: &str = "\
INSERT INTO seamline_commits (tenant, session, seq, records, epoch, commit_id, prev, hash, body)
SELECT $1, $2, c.seq, c.records, c.epoch, c.commit_id, c.prev, c.hash, c.body
FROM unnest($3, $4, $5, $6, $7, $8, $9) AS c(seq, records, epoch, commit_id, prev, hash, body)";

/// Stores the ids of inbox messages that the commits took, so that they are not taken again.
const TAKEN: &str = "\
INSERT INTO seamline_inbox (tenant, session, id, place)
SELECT $1, $2, t.id, 0 FROM unnest($3) AS t(id)
ON CONFLICT (tenant, session, id) DO NOTHING";

/// A session to import, with the columns of its commits.
#[derive(Debug)]
pub(crate) struct Import {
    session: SessionId,
    head: Head,
    commits: Vec<Incoming>,
    /// The ids of inbox messages that the commits took.
    taken: Vec<Vec<u8>>,
    dialect: Option<DialectName>,
}

#[derive(Debug)]
struct Incoming {
    seq: i64,
    records: i64,
    epoch: i64,
    id: [u8; 16],
    prev: [u8; 32],
    hash: [u8; 32],
    bytes: Vec<u8>,
}

impl Import {
    /// Checks that the commits are the whole chain of the session.
    pub(crate) fn new(session: &SessionId, commits: &[Vec<u8>]) -> Result<Self, Error> {
        let (head, opened) = chain(session, commits)?;
        let incoming = opened.iter().zip(commits).map(|(commit, bytes)| Incoming::new(commit, bytes.clone()));
        let taken = opened.iter().flat_map(OpenedCommit::taken).map(|id| id.as_str().as_bytes().to_vec()).collect();
        let dialect = opened.iter().rev().find_map(OpenedCommit::dialect);
        Ok(Self { session: session.clone(), head, commits: incoming.collect(), taken, dialect })
    }

    fn chunks(&self) -> Vec<&[Incoming]> {
        let (mut chunks, mut rest) = (Vec::new(), self.commits.as_slice());
        while !rest.is_empty() {
            let mut bytes = 0;
            let fitting = rest.iter().take(CHUNK_COMMITS).take_while(|commit| {
                bytes += commit.bytes.len();
                bytes <= CHUNK_BYTES
            });
            let (chunk, later) = rest.split_at(fitting.count().max(1));
            chunks.push(chunk);
            rest = later;
        }
        chunks
    }

    /// Runs the transaction without its end. Returns false if the session exists already.
    async fn insert(&self, attempt: &Attempt<'_>) -> Result<bool, tokio_postgres::Error> {
        let (tenant, session) = (attempt.tenant(), self.session.as_str());
        let bytes: usize = self.commits.iter().map(|commit| commit.bytes.len()).sum();
        let params: Params<'_> = &[
            (&tenant, Type::TEXT),
            (&session, Type::TEXT),
            (&bigint(self.head.epoch), Type::INT8),
            (&bigint(self.head.seq), Type::INT8),
            (&self.head.hash.as_bytes().as_slice(), Type::BYTEA),
            (&bigint(self.commits.len() as u64), Type::INT8),
            (&bigint(bytes as u64), Type::INT8),
            (&self.dialect.as_ref().map(DialectName::as_str), Type::TEXT),
        ];
        attempt.client.batch_execute(attempt.begin).await?;
        if attempt.client.query_typed(CREATE, params).await?.is_empty() {
            return Ok(false);
        }
        for chunk in self.chunks() {
            let params: Params<'_> = &[
                (&tenant, Type::TEXT),
                (&session, Type::TEXT),
                (&column_of(chunk, |commit| commit.seq), Type::INT8_ARRAY),
                (&column_of(chunk, |commit| commit.records), Type::INT8_ARRAY),
                (&column_of(chunk, |commit| commit.epoch), Type::INT8_ARRAY),
                (&column_of(chunk, |commit| commit.id.as_slice()), Type::BYTEA_ARRAY),
                (&column_of(chunk, |commit| commit.prev.as_slice()), Type::BYTEA_ARRAY),
                (&column_of(chunk, |commit| commit.hash.as_slice()), Type::BYTEA_ARRAY),
                (&column_of(chunk, |commit| commit.bytes.as_slice()), Type::BYTEA_ARRAY),
            ];
            attempt.client.query_typed(INSERT, params).await?;
        }
        if !self.taken.is_empty() {
            let params: Params<'_> = &[(&tenant, Type::TEXT), (&session, Type::TEXT), (&self.taken, Type::BYTEA_ARRAY)];
            attempt.client.query_typed(TAKEN, params).await?;
        }
        Ok(true)
    }
}

impl Operation for Import {
    type Output = Head;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<Head, Failure> {
        let inserted = self.insert(attempt).await;
        let end = if matches!(inserted, Ok(true)) { "COMMIT" } else { "ROLLBACK" };
        let ended = attempt.client.batch_execute(end).await;
        let is_new = inserted?;
        ended?;
        if is_new {
            return Ok(self.head);
        }
        let found = SessionRow::require(attempt, &self.session).await?;
        // An earlier attempt imported it and its response was lost.
        let is_ours = attempt.again && found.head == self.head;
        if is_ours { Ok(self.head) } else { Err(Failure::Final(Error::Exists(self.session.clone()))) }
    }

    fn steps(&self) -> u32 {
        u32::try_from(self.chunks().len()).unwrap_or(u32::MAX).saturating_add(3)
    }
}

impl Incoming {
    fn new(commit: &OpenedCommit, bytes: Vec<u8>) -> Self {
        Self {
            seq: bigint(commit.seq),
            records: bigint(commit.records.len() as u64),
            epoch: bigint(commit.epoch),
            id: commit.id.to_bytes(),
            prev: *commit.prev.as_bytes(),
            hash: *commit.hash.as_bytes(),
            bytes,
        }
    }
}

fn column_of<'a, T>(chunk: &'a [Incoming], what: impl Fn(&'a Incoming) -> T) -> Vec<T> {
    chunk.iter().map(what).collect()
}
