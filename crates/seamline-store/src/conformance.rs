//! The conformance test of stores.
//!
//! The test of a store opens an empty one, calls [`run`] and asserts that no check failed. Failures that only one store
//! can have are tested with that store.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::commit::{Commit, OpenedCommit, Sealed};
use crate::error::Error;
use crate::hash::Hash;
use crate::id::{CommitId, DialectName, InboxId, SessionId};
use crate::raw::Raw;
use crate::record::{Begin, InboxTaken, MessageRecord, Origin, Record, Switch};
use crate::replay::{Replayed, replay};
use crate::store::{
    Acquire, Appended, Head, Holder, INBOX_BYTES_MAX, InboxItem, Lease, Pushed, SessionInfo, Store, StoredCommit,
};

/// The outcome of one check.
#[derive(Debug)]
pub struct ConformanceOutcome {
    /// The name of the check.
    pub name: &'static str,
    /// The reason for the failure, if it failed.
    pub failed: Option<String>,
}

/// Runs every check against a store. The names of its sessions start with `prefix`, so that one store takes several
/// runs.
pub async fn run(store: Arc<dyn Store>, prefix: &str) -> Vec<ConformanceOutcome> {
    let mut outcomes = Vec::with_capacity(CHECKS.len());
    for (number, (name, check)) in CHECKS.into_iter().enumerate() {
        let failed = match format!("{prefix}-{number}").parse() {
            Ok(session) => check(Bench { store: store.clone(), session }).await.err(),
            Err(error) => Some(error.to_string()),
        };
        outcomes.push(ConformanceOutcome { name, failed });
    }
    outcomes
}

type Check = fn(Bench) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

const CHECKS: [(&str, Check); 18] = [
    ("a session is created once", |bench| Box::pin(made_once(bench))),
    ("stored commits are read back byte for byte", |bench| Box::pin(read_back(bench))),
    ("reading continues where it stopped", |bench| Box::pin(read_on(bench))),
    ("a commit that is sent twice is stored once", |bench| Box::pin(sent_twice(bench))),
    ("a commit that does not follow is rejected", |bench| Box::pin(not_following(bench))),
    ("a writer is fenced after a take-over", |bench| Box::pin(fenced(bench))),
    ("a lease is taken over only from the holder that is meant", |bench| Box::pin(taken_from(bench))),
    ("a leased session is busy until its lease is released", |bench| Box::pin(busy(bench))),
    ("a commit from before a take-over can be settled", |bench| Box::pin(asked_about(bench))),
    ("inbox messages are taken once, in order", |bench| Box::pin(inbox(bench))),
    ("inbox messages keep their dialect", |bench| Box::pin(inbox_dialects(bench))),
    ("a full inbox is read page by page", |bench| Box::pin(full_inbox(bench))),
    ("the quarantine keeps the same bytes once", |bench| Box::pin(quarantine(bench))),
    ("a session moves between stores byte for byte", |bench| Box::pin(import(bench))),
    ("an erased session stays erased", |bench| Box::pin(erase(bench))),
    ("sessions are listed by name", |bench| Box::pin(listed(bench))),
    ("the list has the current dialect of a session", |bench| Box::pin(listed_dialect(bench))),
    ("a missing session is not found", |bench| Box::pin(not_found(bench))),
];

/// A store and a session in it that only this check uses.
struct Bench {
    store: Arc<dyn Store>,
    session: SessionId,
}

impl Bench {
    async fn create(&self) -> Result<Lease, String> {
        said(self.store.create(&self.session, &holder(1)).await)
    }

    /// Appends a commit of one message and returns it.
    async fn append(&self, lease: &mut Lease, number: u8) -> Result<Arc<Sealed>, String> {
        let sealed = self.sealed(lease, number, &[said_record(number)?])?;
        same("append", self.store.append(sealed.clone()).await, Ok(Appended::New))?;
        lease.head = sealed.after();
        Ok(sealed)
    }

    fn sealed(&self, lease: &Lease, number: u8, records: &[Record]) -> Result<Arc<Sealed>, String> {
        let id = CommitId::from_bytes([number; 16]);
        let commit = Commit { session: &self.session, epoch: lease.epoch, head: lease.head, id, at: 7, records };
        said(commit.seal()).map(Arc::new)
    }

    async fn commits(&self) -> Result<Vec<StoredCommit>, String> {
        said(self.store.read(&self.session, 0, usize::MAX).await)
    }

    /// The whole list of sessions, read page by page.
    async fn listing(&self) -> Result<Vec<SessionInfo>, String> {
        let (mut all, mut after): (_, Option<SessionId>) = (Vec::new(), None);
        loop {
            let page = said(self.store.list_sessions(after.as_ref(), 2).await)?;
            let Some(last) = page.last() else { return Ok(all) };
            after = Some(last.session.clone());
            all.extend(page);
        }
    }

    /// The dialect of the session in the list.
    async fn dialect(&self) -> Result<Option<DialectName>, String> {
        let own = self.listing().await?.into_iter().find(|info| info.session == self.session);
        own.map(|info| info.dialect).ok_or_else(|| "the session is not listed".to_owned())
    }

    async fn replayed(&self) -> Result<Replayed, String> {
        let head = said(self.store.read_head(&self.session).await)?;
        Ok(replay(&self.session, head, &self.commits().await?))
    }
}

async fn made_once(bench: Bench) -> Result<(), String> {
    same("the first lease", bench.create().await?, Lease { epoch: 1, head: Head::START })?;
    let again = bench.store.create(&bench.session, &holder(2)).await;
    same("making it again", again, Err(Error::Exists(bench.session.clone())))
}

async fn read_back(bench: Bench) -> Result<(), String> {
    let mut lease = bench.create().await?;
    let begin = Begin { dialect: "anthropic_messages".into(), provider: None, title: None, parent: None, policy: None };
    let odd = Raw::parse("{ \"b\":1.0e+2,\n\"a\":\"\\ud800\\u0000 \u{1f600}\" }").map_err(|error| error.to_string())?;
    let records = [Record::Begin(begin), Record::Message(MessageRecord::new(odd, Origin::Synthetic, None))];
    let first = bench.sealed(&lease, 1, &records)?;
    same("append", bench.store.append(first.clone()).await, Ok(Appended::New))?;
    lease.head = first.after();
    let second = bench.append(&mut lease, 2).await?;
    let kept: Vec<Vec<u8>> = bench.commits().await?.into_iter().map(|commit| commit.bytes).collect();
    same("the bytes", kept, vec![first.bytes().to_vec(), second.bytes().to_vec()])?;
    same("the head", bench.store.read_head(&bench.session).await, Ok(second.after()))?;
    let replayed = bench.replayed().await?;
    same("the damages", replayed.damages, Vec::new())?;
    same("the messages", replayed.state.view.len(), 2)
}

async fn read_on(bench: Bench) -> Result<(), String> {
    let mut lease = bench.create().await?;
    for number in 1..=20 {
        bench.append(&mut lease, number).await?;
    }
    let (mut seen, mut after) = (Vec::new(), 0);
    loop {
        let page = said(bench.store.read(&bench.session, after, 1_000).await)?;
        let Some(last) = page.last() else { break };
        after = said(OpenedCommit::open(&last.bytes))?.last_seq();
        seen.extend(page.iter().map(|commit| commit.seq));
    }
    same("the pages", seen, (1..=20).collect::<Vec<u64>>())
}

async fn sent_twice(bench: Bench) -> Result<(), String> {
    let mut lease = bench.create().await?;
    let first = bench.append(&mut lease, 1).await?;
    let second = bench.append(&mut lease, 2).await?;
    for commit in [first, second] {
        same("the same again", bench.store.append(commit).await, Ok(Appended::Already))?;
    }
    same("the commits", bench.commits().await?.len(), 2)
}

async fn not_following(bench: Bench) -> Result<(), String> {
    let mut lease = bench.create().await?;
    let before = lease.clone();
    bench.append(&mut lease, 1).await?;
    let conflict = || Err(Error::Conflict(bench.session.clone()));
    let rival = bench.sealed(&before, 2, &[said_record(9)?])?;
    same("at the same place", bench.store.append(rival).await, conflict())?;
    let head = Head { hash: Hash::of(b"other"), ..lease.head };
    let unlinked = bench.sealed(&Lease { head, ..lease.clone() }, 3, &[said_record(9)?])?;
    same("behind another commit", bench.store.append(unlinked).await, conflict())?;
    let head = Head { seq: lease.head.seq + 5, ..lease.head };
    let ahead = bench.sealed(&Lease { head, ..lease.clone() }, 4, &[said_record(9)?])?;
    same("with a gap", bench.store.append(ahead).await, conflict())?;
    same("the commits", bench.commits().await?.len(), 1)
}

async fn fenced(bench: Bench) -> Result<(), String> {
    let mut old = bench.create().await?;
    bench.append(&mut old, 1).await?;
    let mut new = said(bench.store.acquire(&bench.session, &holder(2), Acquire::TakeOver).await)?;
    same("the new epoch", (new.epoch, new.head.seq), (2, 1))?;
    let late = bench.sealed(&old, 2, &[said_record(2)?])?;
    let fenced = Error::Fenced { session: bench.session.clone(), epoch: 1, current: 2 };
    same("the old writer", bench.store.append(late.clone()).await, Err(fenced.clone()))?;
    bench.append(&mut new, 3).await?;
    same("the old writer, later", bench.store.append(late).await, Err(fenced))?;
    let replayed = bench.replayed().await?;
    same("the messages", (replayed.state.view.len(), replayed.damages), (2, Vec::new()))
}

async fn taken_from(bench: Bench) -> Result<(), String> {
    bench.create().await?;
    let (store, session) = (&bench.store, &bench.session);
    let from = |pid| Acquire::TakeOverFrom(Box::new(holder(pid)));
    same("from the holder", said(store.acquire(session, &holder(2), from(1)).await)?.epoch, 2)?;
    let busy = Error::Busy { session: session.clone(), holder: Box::new(holder(2)) };
    same("from an earlier holder", store.acquire(session, &holder(3), from(1)).await, Err(busy))?;
    same("the epoch", said(store.read_head(session).await)?.epoch, 2)?;
    said(store.release(session, 2).await)?;
    same("once it is free", said(store.acquire(session, &holder(3), from(1)).await)?.epoch, 3)
}

async fn busy(bench: Bench) -> Result<(), String> {
    let lease = bench.create().await?;
    let (store, session) = (&bench.store, &bench.session);
    let other = store.acquire(session, &holder(2), Acquire::IfFree).await;
    same(
        "while it is written",
        other.map(|lease| lease.epoch).map_err(|error| matches!(error, Error::Busy { .. })),
        Err(true),
    )?;
    said(store.release(session, lease.epoch).await)?;
    let free = said(store.acquire(session, &holder(2), Acquire::IfFree).await)?;
    same("after its release", free.epoch, 2)?;
    said(store.release(session, lease.epoch).await)?;
    let other = store.acquire(session, &holder(3), Acquire::IfFree).await;
    same("a release after a take-over", other.is_err(), true)
}

async fn asked_about(bench: Bench) -> Result<(), String> {
    let mut old = bench.create().await?;
    let kept = bench.append(&mut old, 1).await?;
    said(bench.store.acquire(&bench.session, &holder(2), Acquire::TakeOver).await)?;
    same("a commit that was kept", bench.store.append(kept).await, Ok(Appended::Already))
}

async fn inbox(bench: Bench) -> Result<(), String> {
    let mut lease = bench.create().await?;
    let items = ["b", "a", "c"].map(|id| InboxItem { id: id.into(), message: Raw::default(), dialect: None });
    for item in &items {
        same("push", bench.store.push(&bench.session, item).await, Ok(Pushed::New))?;
        same("push again", bench.store.push(&bench.session, item).await, Ok(Pushed::Already))?;
        another_under(&bench, &item.id).await?;
    }
    same("the inbox", bench.store.read_inbox(&bench.session).await, Ok(items.to_vec()))?;
    let taken = Record::Inbox(InboxTaken { ids: vec!["b".into(), "a".into()] });
    let commit = bench.sealed(&lease, 1, &[taken, said_record(1)?])?;
    same("append", bench.store.append(commit.clone()).await, Ok(Appended::New))?;
    lease.head = commit.after();
    same("the remaining messages", bench.store.read_inbox(&bench.session).await, Ok(items[2..].to_vec()))?;
    same("push a taken message", bench.store.push(&bench.session, &items[0]).await, Ok(Pushed::Already))?;
    another_under(&bench, &items[0].id).await?;
    same("the remaining messages", bench.store.read_inbox(&bench.session).await, Ok(items[2..].to_vec()))?;
    bench.append(&mut lease, 2).await.map(|_| ())
}

async fn inbox_dialects(bench: Bench) -> Result<(), String> {
    let lease = bench.create().await?;
    let named = [("a", Some("openai_chat")), ("b", None), ("c", Some("gemini_generate"))];
    let items = named.map(|(id, dialect)| InboxItem {
        id: id.into(),
        message: Raw::default(),
        dialect: dialect.map(DialectName::from),
    });
    for item in &items {
        same("push", bench.store.push(&bench.session, item).await, Ok(Pushed::New))?;
    }
    same("the inbox", bench.store.read_inbox(&bench.session).await, Ok(items.to_vec()))?;
    let again = |at: usize, dialect: Option<&str>| InboxItem { dialect: dialect.map(Into::into), ..items[at].clone() };
    for item in [again(0, None), again(1, Some("openai_chat")), again(2, Some("openai_chat"))] {
        same("the same bytes again", bench.store.push(&bench.session, &item).await, Ok(Pushed::Already))?;
    }
    same("damage", bench.store.check_inbox(&bench.session).await, Ok(Vec::new()))?;
    let taken = Record::Inbox(InboxTaken { ids: vec!["a".into()] });
    let commit = bench.sealed(&lease, 1, &[taken, said_record(1)?])?;
    same("append", bench.store.append(commit).await, Ok(Appended::New))?;
    same("the inbox", bench.store.read_inbox(&bench.session).await, Ok(items[1..].to_vec()))?;
    same("push what was taken", bench.store.push(&bench.session, &again(0, None)).await, Ok(Pushed::Already))
}

/// The store rejects another message under a used id.
async fn another_under(bench: &Bench, id: &InboxId) -> Result<(), String> {
    let item = InboxItem { id: id.into(), message: said(Raw::parse("{\"another\":1}"))?, dialect: None };
    let taken = Error::IdTaken { session: bench.session.clone(), id: id.clone() };
    same("push another message", bench.store.push(&bench.session, &item).await, Err(taken))
}

async fn full_inbox(bench: Bench) -> Result<(), String> {
    let lease = bench.create().await?;
    let large = format!("\"{}\"", "x".repeat(INBOX_BYTES_MAX / 5 * 2));
    for id in ["a", "b", "c"] {
        let message = said(Raw::parse(large.clone()))?;
        same(
            "push",
            bench.store.push(&bench.session, &InboxItem { id: id.into(), message, dialect: None }).await,
            Ok(Pushed::New),
        )?;
    }
    same("how many wait", bench.store.count_inbox(&bench.session).await, Ok(3))?;
    let ids = |items: Vec<InboxItem>| items.into_iter().map(|item| item.id).collect::<Vec<_>>();
    let first = ids(said(bench.store.read_inbox(&bench.session).await)?);
    same("the first of them", first.clone(), vec!["a".into(), "b".into()])?;
    let commit = bench.sealed(&lease, 1, &[Record::Inbox(InboxTaken { ids: first }), said_record(1)?])?;
    same("append", bench.store.append(commit).await, Ok(Appended::New))?;
    same("the others", ids(said(bench.store.read_inbox(&bench.session).await)?), vec!["c".into()])?;
    same("how many are left", bench.store.count_inbox(&bench.session).await, Ok(1))
}

async fn quarantine(bench: Bench) -> Result<(), String> {
    bench.create().await?;
    let (store, session) = (&bench.store, &bench.session);
    for bytes in [&b"\xff\x00one"[..], b"two", b"\xff\x00one"] {
        same("the hash", store.quarantine(session, bytes).await, Ok(Hash::of(bytes)))?;
    }
    let kept = said(store.read_quarantine(session).await)?;
    let mut bytes: Vec<_> = kept.into_iter().map(|kept| kept.bytes).collect();
    bytes.sort();
    same("the quarantine", bytes, vec![b"two".to_vec(), b"\xff\x00one".to_vec()])
}

async fn import(bench: Bench) -> Result<(), String> {
    let other = Bench { store: Arc::new(crate::MemoryStore::new()), session: bench.session.clone() };
    let mut lease = other.create().await?;
    for number in 1..=3 {
        other.append(&mut lease, number).await?;
    }
    let item = InboxItem { id: "taken".into(), message: Raw::default(), dialect: None };
    let taken =
        other.sealed(&lease, 9, &[Record::Inbox(InboxTaken { ids: vec![item.id.clone()] }), said_record(9)?])?;
    same("append", other.store.append(taken.clone()).await, Ok(Appended::New))?;
    lease.head = taken.after();
    let mut bytes: Vec<Vec<u8>> = other.commits().await?.into_iter().map(|commit| commit.bytes).collect();
    let mut altered = bytes.clone();
    altered[1][60] ^= 1;
    let refused = bench.store.import(&bench.session, &altered).await;
    same("an altered commit", refused.is_err_and(|error| matches!(error, Error::Refused(_))), true)?;
    bytes.swap(1, 2);
    let refused = bench.store.import(&bench.session, &bytes).await;
    same("commits in disorder", refused.is_err_and(|error| matches!(error, Error::Refused(_))), true)?;
    bytes.swap(1, 2);
    same("the head", bench.store.import(&bench.session, &bytes).await, Ok(lease.head))?;
    same("again", bench.store.import(&bench.session, &bytes).await, Err(Error::Exists(bench.session.clone())))?;
    let kept: Vec<Vec<u8>> = bench.commits().await?.into_iter().map(|commit| commit.bytes).collect();
    same("the bytes", kept, bytes)?;
    same("push a taken message", bench.store.push(&bench.session, &item).await, Ok(Pushed::Already))?;
    same("the inbox", bench.store.read_inbox(&bench.session).await, Ok(Vec::new()))?;
    same("damage", bench.store.check_inbox(&bench.session).await, Ok(Vec::new()))?;
    let mut lease = said(bench.store.acquire(&bench.session, &holder(1), Acquire::IfFree).await)?;
    bench.append(&mut lease, 4).await.map(|_| ())
}

async fn erase(bench: Bench) -> Result<(), String> {
    let mut lease = bench.create().await?;
    let kept = bench.append(&mut lease, 1).await?;
    let (store, session) = (&bench.store, &bench.session);
    said(store.quarantine(session, b"aside").await)?;
    let erased = said(store.erase(session).await)?;
    same("the removed commits", (erased.commits, erased.bytes), (1, kept.bytes().len() as u64))?;
    let gone = Error::Erased(session.clone());
    let late = bench.sealed(&lease, 2, &[said_record(2)?])?;
    same("append", store.append(late).await, Err(gone.clone()))?;
    same("read", store.read(session, 0, 1).await, Err(gone.clone()))?;
    same("head", store.read_head(session).await, Err(gone.clone()))?;
    same("inbox", store.read_inbox(session).await, Err(gone.clone()))?;
    same("quarantined", store.read_quarantine(session).await, Err(gone.clone()))?;
    same("make", store.create(session, &holder(1)).await, Err(gone.clone()))?;
    same("erase", store.erase(session).await, Err(gone))?;
    let listed = said(store.list_sessions(None, usize::MAX >> 1).await)?;
    same("listed", listed.iter().any(|info| info.session == *session), false)
}

async fn listed(bench: Bench) -> Result<(), String> {
    let mut lease = bench.create().await?;
    let kept = bench.append(&mut lease, 1).await?;
    let names = bench.listing().await?;
    same("the order", names.is_sorted_by(|one, other| one.session < other.session), true)?;
    let Some(own) = names.into_iter().find(|info| info.session == bench.session) else {
        return Err("the session is not listed".to_owned());
    };
    let holder = own.holder.map(|holder| holder.pid);
    same(
        "the figures",
        (own.head, own.commits, own.bytes, holder),
        (kept.after(), 1, kept.bytes().len() as u64, Some(1)),
    )
}

async fn listed_dialect(bench: Bench) -> Result<(), String> {
    listed_dialect_of_commits(&bench).await?;
    let session = said(format!("{}-imported", bench.session).parse())?;
    let other = Bench { store: Arc::new(crate::MemoryStore::new()), session };
    listed_dialect_of_commits(&other).await?;
    let commits: Vec<Vec<u8>> = other.commits().await?.into_iter().map(|commit| commit.bytes).collect();
    said(bench.store.import(&other.session, &commits).await)?;
    let imported = Bench { session: other.session, ..bench };
    same("the dialect of an import", imported.dialect().await?, Some("gemini_generate".into()))
}

async fn listed_dialect_of_commits(bench: &Bench) -> Result<(), String> {
    let mut lease = bench.create().await?;
    same("the dialect before the first commit", bench.dialect().await?, None)?;
    let begin = Begin { dialect: "anthropic_messages".into(), provider: None, title: None, parent: None, policy: None };
    let switch = |dialect: &str| Record::Switch(Switch { dialect: dialect.into(), provider: None });
    let steps = [
        (vec![Record::Begin(begin)], "anthropic_messages"),
        (vec![said_record(1)?], "anthropic_messages"),
        (vec![switch("openai_chat"), switch("gemini_generate"), said_record(2)?], "gemini_generate"),
        (vec![said_record(3)?], "gemini_generate"),
    ];
    for (number, (records, dialect)) in (1..).zip(steps) {
        let commit = bench.sealed(&lease, number, &records)?;
        same("append", bench.store.append(commit.clone()).await, Ok(Appended::New))?;
        lease.head = commit.after();
        same("the dialect", bench.dialect().await?, Some(dialect.into()))?;
    }
    Ok(())
}

async fn not_found(bench: Bench) -> Result<(), String> {
    let (store, session) = (&bench.store, &bench.session);
    let missing = Error::NotFound(session.clone());
    let lease = Lease { epoch: 1, head: Head::START };
    let commit = bench.sealed(&lease, 1, &[said_record(1)?])?;
    same("append", store.append(commit).await, Err(missing.clone()))?;
    same("acquire", store.acquire(session, &holder(1), Acquire::TakeOver).await, Err(missing.clone()))?;
    same("read", store.read(session, 0, 1).await, Err(missing.clone()))?;
    same("head", store.read_head(session).await, Err(missing.clone()))?;
    same("erase", store.erase(session).await, Err(missing.clone()))?;
    let item = InboxItem { id: "a".into(), message: Raw::default(), dialect: None };
    same("push", store.push(session, &item).await, Err(missing))
}

/// Holder of a lease. Each process number is a different process.
fn holder(pid: u32) -> Holder {
    Holder { host: "conformance".to_owned(), pid, started: 1, since: 1, ..Holder::default() }
}

fn said_record(number: u8) -> Result<Record, String> {
    let message = Raw::parse(format!("{{\"role\":\"user\",\"content\":\"message {number}\"}}"));
    let message = message.map_err(|error| error.to_string())?;
    Ok(Record::Message(MessageRecord::new(message, Origin::Said, None)))
}

fn said<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "callers pass temporary values")]
fn same<T: PartialEq + Debug>(what: &str, found: T, wanted: T) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{what}: {found:?}, not {wanted:?}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_store_conforms() {
        let outcomes = futures_executor::block_on(run(Arc::new(crate::MemoryStore::new()), "memory"));
        let failed: Vec<_> = outcomes.iter().filter(|outcome| outcome.failed.is_some()).collect();
        assert!(failed.is_empty(), "{failed:#?}");
        assert_eq!(outcomes.len(), CHECKS.len());
    }
}
