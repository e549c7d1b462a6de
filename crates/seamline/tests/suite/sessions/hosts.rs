//! A host that stores sessions itself: it only has to implement the store.

use std::collections::BTreeMap;
use std::future::{pending, ready};
use std::sync::{Arc, Mutex};

use seamline::classify::Failure;
use seamline::session::{OpenOptions, ResetOptions, Session, SessionOptions};
use seamline::store::{
    Acquire, Appended, Effect, Erased, Error, Hash, Head, Holder, InboxItem, IncidentKind, Lease, OpenedCommit,
    Operation, Pending, Pushed, Quarantined, Record, Sealed, SessionId, SessionInfo, Store, StoredCommit, cause,
};

use super::stores::{ASK, Tool, kept, open_options, turn};

/// The data that a host stores of a session: its head and its commits.
type Kept = (Head, Vec<StoredCommit>);

/// A host that stores only what the interface requires.
#[derive(Debug, Default)]
struct Host(Mutex<BTreeMap<SessionId, Kept>>);

fn said<'a, T: Send + 'a>(answer: Result<T, Error>) -> Pending<'a, T> {
    Box::pin(ready(answer))
}

impl Host {
    fn with<'a, T: Send + 'a>(
        &self,
        id: &SessionId,
        work: impl FnOnce(&mut Kept) -> Result<T, Error>,
    ) -> Pending<'a, T> {
        let mut all = self.0.lock().unwrap();
        said(all.get_mut(id).ok_or_else(|| Error::NotFound(id.clone())).and_then(work))
    }

    /// The commits that it was told to persist, each time.
    fn persisted(&self, id: &SessionId) -> Vec<Vec<Record>> {
        let all = self.0.lock().unwrap();
        all[id].1.iter().map(|commit| OpenedCommit::open(&commit.bytes).unwrap().records).collect()
    }
}

impl Store for Host {
    fn create<'a>(&'a self, session: &'a SessionId, _holder: &'a Holder) -> Pending<'a, Lease> {
        let mut all = self.0.lock().unwrap();
        if all.contains_key(session) {
            return said(Err(Error::Exists(session.clone())));
        }
        all.insert(session.clone(), (Head::START, Vec::new()));
        said(Ok(Lease { epoch: Head::START.epoch, head: Head::START }))
    }

    fn acquire<'a>(&'a self, session: &'a SessionId, _holder: &'a Holder, _how: Acquire) -> Pending<'a, Lease> {
        self.with(session, |(head, _)| {
            head.epoch += 1;
            Ok(Lease { epoch: head.epoch, head: *head })
        })
    }

    fn release<'a>(&'a self, session: &'a SessionId, _epoch: u64) -> Pending<'a, ()> {
        self.with(session, |_| Ok(()))
    }

    fn append(&self, commit: Arc<Sealed>) -> Pending<'_, Appended> {
        self.with(commit.session(), |(head, commits)| {
            if commit.before() != *head {
                return Err(Error::Conflict(commit.session().clone()));
            }
            commits.push(StoredCommit { seq: commit.seq(), bytes: commit.bytes().to_vec(), is_indexed: true });
            *head = commit.after();
            Ok(Appended::New)
        })
    }

    fn read_head<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Head> {
        self.with(session, |(head, _)| Ok(*head))
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: u64, _bytes_max: usize) -> Pending<'a, Vec<StoredCommit>> {
        self.with(session, |(_, commits)| Ok(commits.iter().filter(|commit| commit.seq > after).cloned().collect()))
    }

    fn list_sessions<'a>(&'a self, _after: Option<&'a SessionId>, _limit: usize) -> Pending<'a, Vec<SessionInfo>> {
        said(Ok(Vec::new()))
    }

    fn push<'a>(&'a self, _session: &'a SessionId, _item: &'a InboxItem) -> Pending<'a, Pushed> {
        said(Err(Error::Refused(cause::Refused::Other("this host has no inbox".to_owned()))))
    }

    fn read_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxItem>> {
        self.with(session, |_| Ok(Vec::new()))
    }

    fn count_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, u64> {
        self.with(session, |_| Ok(0))
    }

    fn quarantine<'a>(&'a self, session: &'a SessionId, bytes: &'a [u8]) -> Pending<'a, Hash> {
        self.with(session, |_| Ok(Hash::of(bytes)))
    }

    fn read_quarantine<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<Quarantined>> {
        self.with(session, |_| Ok(Vec::new()))
    }

    fn import<'a>(&'a self, _session: &'a SessionId, _commits: &'a [Vec<u8>]) -> Pending<'a, Head> {
        said(Err(Error::Refused(cause::Refused::Other("this host imports nothing".to_owned()))))
    }

    fn erase<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Erased> {
        self.with(session, |(_, commits)| Ok(Erased { commits: commits.drain(..).count() as u64, bytes: 0 }))
    }
}

async fn hosted(host: &Arc<Host>) -> Session {
    let mut session = Session::create(host.clone(), "s".parse().unwrap(), SessionOptions::default()).await.unwrap();
    session.append(ASK).await.unwrap();
    session
}

fn is_record(record: &Record, what: &str) -> bool {
    matches!(
        (what, record),
        ("checkpoint", Record::Checkpoint(_))
            | ("turn", Record::Turn(_))
            | ("intent", Record::Intent(_))
            | ("cycle", Record::Cycle(_))
            | ("staged", Record::Staged(_))
            | ("commit", Record::CheckpointCommit(_))
    )
}

#[test]
fn s1_110_a_host_gives_messages_persists_archives_logs_incidents_and_hands_out_checkpoints() {
    futures_executor::block_on(async {
        let host = Arc::new(Host::default());
        let mut session = hosted(&host).await;
        // persist: the host gets each message as it is appended, and returns the messages.
        assert_eq!(host.persisted(session.id()).len(), 2);
        // The host keeps the checkpoint, and any process that opens the session can use it.
        let made = session.create_checkpoint(Operation::Manual).await.unwrap();
        // persistToolCycle: the results and the record that makes them visible, in one commit.
        let calls = turn(&["toolu_1"]);
        session.execute_tool_cycle(&[&calls], &Tool::saying("done"), pending()).await.unwrap();
        let last = host.persisted(session.id()).pop().unwrap();
        let whole = ["staged", "cycle", "commit"].map(|what| last.iter().any(|record| is_record(record, what)));
        assert_eq!(whole, [true; 3], "{last:?}");
        // logIncident: the incident is in the data of the host.
        session.before_agent_start("{}").await.unwrap();
        let failure = Failure { status: Some(529), text: "Overloaded", ..Failure::default() };
        session.handle_error(&failure).await.unwrap();
        let logged = host.persisted(session.id()).concat();
        let is_logged =
            |record: &Record| matches!(record, Record::Incident(found) if found.kind == IncidentKind::ApiError);
        assert!(logged.iter().any(is_logged), "{logged:?}");
        // Everything is restored from the host alone.
        let before = kept(&session);
        let id = session.id().clone();
        session.close().await.unwrap();
        let mut session = Session::open(host.clone(), id.clone(), open_options()).await.unwrap();
        assert_eq!((kept(&session), session.get_checkpoint(&made.id)), (before.clone(), Some(made.clone())));
        session.rollback(&made.id, "by its handle").await.unwrap();
        assert_eq!(kept(&session), [ASK]);
        // archive: the host also stores the old session.
        let archive = session.reset(ResetOptions { archive: true }).await.unwrap().archive.unwrap();
        let archived = Session::open(host.clone(), archive, OpenOptions::default()).await.unwrap();
        assert_eq!((kept(&archived), session.messages().count()), (vec![ASK.to_owned()], 0));
    });
}

#[test]
fn s1_47_a_cycle_is_begun_run_and_committed_in_that_order() {
    futures_executor::block_on(async {
        let host = Arc::new(Host::default());
        let mut session = hosted(&host).await;
        let (watched, id) = (host.clone(), session.id().clone());
        let tool = Tool::doing(move |_| {
            // A checkpoint, the turn and the intent are stored before the tool runs, and no result.
            let log = watched.persisted(&id).concat();
            let at = |what| log.iter().position(|record| is_record(record, what));
            assert!(
                at("checkpoint") < at("turn") && at("turn") < at("intent") && at("checkpoint").is_some(),
                "{log:?}"
            );
            assert_eq!((at("staged"), at("cycle"), at("commit")), (None, None, None));
            Ok(super::calls::said("done"))
        });
        let done = session.execute_tool_cycle(&[&turn(&["toolu_1"])], &tool, pending()).await.unwrap();
        assert_eq!(done.outcomes[0].content, "done", "the tool got the right input");
        let log = host.persisted(session.id());
        let places = ["intent", "staged", "cycle", "commit"]
            .map(|what| log.concat().iter().position(|record| is_record(record, what)).unwrap());
        assert!(places.is_sorted(), "{places:?}");
        assert_eq!(log.len(), 4, "the first record, the message, the intent, the result: {log:?}");
    });
}

#[test]
fn the_last_result_that_a_host_reports_is_stored_with_its_cycle() {
    futures_executor::block_on(async {
        let host = Arc::new(Host::default());
        let mut session = hosted(&host).await;
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1", "toolu_2"])], &|_| Effect::ReadOnly).await.unwrap();
        for (id, staged_and_cycle) in [("toolu_1", [true, false]), ("toolu_2", [true, true])] {
            session.after_tool_call(&cycle, &id.into(), &super::calls::said("done")).await.unwrap();
            let last = host.persisted(session.id()).pop().unwrap();
            let has = ["staged", "cycle"].map(|what| last.iter().any(|record| is_record(record, what)));
            assert_eq!(has, staged_and_cycle, "{id}: {last:?}");
        }
    });
}

#[test]
fn s1_20_a_checkpoint_is_stored_before_a_request_and_before_a_tool_runs() {
    futures_executor::block_on(async {
        let host = Arc::new(Host::default());
        let mut session = hosted(&host).await;
        let operations = |host: &Host, id: &SessionId| -> Vec<Operation> {
            let log = host.persisted(id).concat();
            let made = log.iter().filter_map(|record| match record {
                Record::Checkpoint(made) => Some(made.operation),
                _ => None,
            });
            made.collect()
        };
        session.before_agent_start("{}").await.unwrap();
        assert_eq!(operations(&host, session.id()), [Operation::ApiCall]);
        let (watched, id) = (host.clone(), session.id().clone());
        let tool = Tool::doing(move |_| {
            assert_eq!(operations(&watched, &id), [Operation::ApiCall, Operation::ToolCycle]);
            Ok(super::calls::said("done"))
        });
        let done = session.execute_tool_cycle(&[&turn(&["toolu_1"])], &tool, pending()).await.unwrap();
        assert_eq!(done.outcomes[0].content, "done", "the tool got the right input");
    });
}
