//! Sessions that open although some stored bytes are damaged.

use std::sync::Arc;

use futures_executor::block_on;
use seamline::session::{Follower, Health, OpenOptions, Session, SessionError, SessionOptions};
use seamline::store::{DamageKind, Effect, Error, Hash, InboxItem, IncidentKind, Raw, Store};

use super::faulty::{Fault, Faulty};
use super::stores::{ASK, Tick, kept, memory, open_options, results, turn};

/// A session with these messages, each in its own commit, and its store.
fn written(messages: &[&str]) -> (Arc<dyn Store>, Session) {
    let store = memory().store;
    let options = SessionOptions { clock: Arc::new(Tick::default()), ..SessionOptions::default() };
    let session = block_on(async {
        let mut session = Session::create(store.clone(), "s".parse().unwrap(), options).await.unwrap();
        for message in messages {
            session.append(message).await.unwrap();
        }
        session
    });
    (store, session)
}

fn opened(store: Arc<dyn Store>, options: OpenOptions) -> Result<Session, SessionError> {
    block_on(Session::open(store, "s".parse().unwrap(), OpenOptions { take_over: true, ..options }))
}

#[test]
fn a_session_without_its_first_commit_opens_if_its_messages_identify_the_dialect() {
    let messages = [ASK, &turn(&["toolu_1"]), &results(&["toolu_1"])];
    let (store, _) = written(&messages);
    let altered: Arc<dyn Store> = Faulty::new(store, Fault::Alters { seq: 1 });
    let follower = block_on(Follower::open(altered.clone(), "s".parse().unwrap())).unwrap();
    assert!(!follower.health().is_whole());
    assert!(follower.body("{}").is_ok());
    let session = opened(altered.clone(), open_options()).unwrap();
    assert_eq!((session.dialect(), kept(&session)), ("anthropic_messages", messages.map(str::to_owned).to_vec()));
    assert!(matches!(session.health(), Health::Degraded(_)));
    // It is recorded for the next process.
    let state = opened(altered, open_options()).unwrap().state().clone();
    assert_eq!(state.begin.unwrap().dialect, "anthropic_messages");
}

/// The first damage of a session.
fn kind(health: &Health) -> Option<&DamageKind> {
    match health {
        Health::Whole => None,
        Health::Degraded(damages) => damages.first().map(|damage| &damage.kind),
    }
}

#[test]
fn the_fork_of_a_session_that_lost_a_message_is_degraded() {
    let (store, _) = written(&[ASK, r#"{"role":"assistant","content":"yes"}"#, ASK]);
    let altered: Arc<dyn Store> = Faulty::new(store.clone(), Fault::Alters { seq: 3 });
    let follower = block_on(Follower::open(altered.clone(), "s".parse().unwrap())).unwrap();
    let session = opened(altered, open_options()).unwrap();
    let forks = block_on(async {
        let of_reader = follower.fork_into(store.clone(), "f-1".parse().unwrap()).await.unwrap();
        let of_writer = session.fork("f-2".parse().unwrap()).await.unwrap();
        [of_reader, of_writer, session.create_child("c-1".parse().unwrap(), &"toolu_1".into()).await.unwrap()]
    });
    let inherited = DamageKind::Inherited { session: "s".parse().unwrap() };
    let expected = [Some(&inherited), Some(&inherited), None];
    assert_eq!(forks.each_ref().map(|fork| kind(fork.health())), expected);
    // A later reading of the intact store says the same, and so does the fork of the fork.
    let again = ["f-1", "f-2", "c-1"]
        .map(|id| block_on(Follower::open(store.clone(), id.parse().unwrap())).unwrap().health().clone());
    assert_eq!(again.each_ref().map(kind), expected);
    let second = block_on(forks[0].fork("f-3".parse().unwrap())).unwrap();
    assert_eq!(kind(second.health()), Some(&DamageKind::Inherited { session: "f-1".parse().unwrap() }));
}

#[test]
fn a_session_whose_messages_fit_several_dialects_opens_with_a_named_one() {
    let (store, _) = written(&[ASK]);
    let altered: Arc<dyn Store> = Faulty::new(store, Fault::Alters { seq: 1 });
    let lost = opened(altered.clone(), open_options());
    assert!(matches!(lost, Err(SessionError::Store(Error::Damaged(_)))), "{lost:?}");
    let dialect = Some("openai_chat".to_owned());
    let session = opened(altered.clone(), OpenOptions { dialect, ..open_options() }).unwrap();
    assert_eq!(kept(&session), [ASK]);
    assert_eq!(opened(altered, open_options()).unwrap().dialect(), "openai_chat");
}

#[test]
fn records_of_a_newer_version_are_skipped_and_never_written_behind() {
    let (store, session) = written(&[ASK, r#"{"role":"assistant","content":"yes"}"#]);
    let head = block_on(store.read_head(session.id())).unwrap();
    let newer: Arc<dyn Store> = Faulty::new(store.clone(), Fault::Newer { seq: 2 });
    let refused = opened(newer.clone(), open_options());
    assert!(matches!(refused, Err(SessionError::Store(Error::NewerFormat { .. }))), "{refused:?}");
    let after = block_on(store.read_head(session.id())).unwrap();
    assert_eq!((after.seq, after.hash), (head.seq, head.hash));
    assert!(block_on(store.read_quarantine(session.id())).unwrap().is_empty());
    assert!(block_on(store.list_sessions(None, 1)).unwrap()[0].holder.is_none(), "it is let go again");
    let follower = block_on(Follower::open(newer, "s".parse().unwrap())).unwrap();
    assert_eq!(follower.state().view.len(), 1);
    assert!(!follower.health().is_whole());
}

/// A store with a session of two commits. The second one has these records, as text.
fn imported(records: &[&str]) -> Arc<dyn Store> {
    let begin = r#"{"begin":{"dialect":"anthropic_messages"}}"#;
    let ask = format!(r#"{{"message":{{"message":{ASK}}}}}"#);
    let (first, hash) = sealed(1, Hash::ZERO, &[begin, &ask]);
    let (second, _) = sealed(3, hash, records);
    let store = memory().store;
    block_on(store.import(&"s".parse().unwrap(), &[first, second])).unwrap();
    store
}

fn sealed(seq: u64, prev: Hash, records: &[&str]) -> (Vec<u8>, Hash) {
    let (count, records) = (records.len(), records.join(","));
    let inside = format!(
        r#"{{"v":1,"session":"s","epoch":1,"seq":{seq},"n":{count},"at":1,"id":"{seq:032x}","prev":"{prev}","records":[{records}]"#
    );
    let hash = Hash::of(inside.as_bytes());
    (format!(r#"{inside},"hash":"{hash}"}}"#).into_bytes(), hash)
}

#[test]
fn a_session_with_an_unknown_record_kind_is_read_but_not_written() {
    let said = r#"{"message":{"message":{"role":"assistant","content":"yes"}}}"#;
    let store = imported(&[said, r#"{"future":{}}"#, r#""later""#]);
    let head = block_on(store.read_head(&"s".parse().unwrap())).unwrap();
    let refused = opened(store.clone(), open_options());
    let unknown = SessionError::Store(Error::UnknownRecords { count: 2, first: 4 });
    assert_eq!(refused.map(drop), Err(unknown.clone()));
    assert!(unknown.hint().is_some_and(|hint| hint.contains("newer version")));
    let after = block_on(store.read_head(&"s".parse().unwrap())).unwrap();
    assert_eq!((after.seq, after.hash), (head.seq, head.hash));
    assert!(block_on(store.list_sessions(None, 1)).unwrap()[0].holder.is_none(), "the lease is released");
    let follower = block_on(Follower::open(store, "s".parse().unwrap())).unwrap();
    assert_eq!((follower.state().view.len(), follower.state().unknown), (2, 2));
}

#[test]
fn a_known_record_that_cannot_be_read_is_damage() {
    let said = r#"{"message":{"message":{"role":"assistant","content":"yes"}}}"#;
    let store = imported(&[said, r#"{"rollback":{"checkpoint":7}}"#]);
    let follower = block_on(Follower::open(store.clone(), "s".parse().unwrap())).unwrap();
    let Health::Degraded(damages) = follower.health() else { panic!("{:?}", follower.health()) };
    assert_eq!(damages[0].to_string(), "record 4 of the kind `rollback` cannot be read");
    assert_eq!((damages.len(), follower.state().view.len(), follower.state().unknown), (1, 2, 0));
    // Its bytes are kept, and the incident is recorded once.
    opened(store.clone(), open_options()).unwrap();
    let session = opened(store.clone(), open_options()).unwrap();
    let damaged = session.incidents().filter(|incident| incident.kind == IncidentKind::Damaged);
    assert_eq!(damaged.map(|incident| incident.seq).collect::<Vec<_>>(), [Some(4)]);
    let quarantined = block_on(store.read_quarantine(session.id())).unwrap();
    assert!(quarantined.iter().any(|piece| String::from_utf8_lossy(&piece.bytes).contains(r#""checkpoint":7"#)));
}

#[test]
fn a_damaged_commit_hides_only_its_own_messages() {
    let (store, mut session) = written(&[ASK, r#"{"role":"assistant","content":"one"}"#, ASK]);
    block_on(async {
        let checkpoint = session.create_checkpoint(seamline::store::Operation::Manual).await.unwrap();
        session.append(r#"{"role":"assistant","content":"half an ans"}"#).await.unwrap();
        session.rollback(&checkpoint.id, "the stream broke off").await.unwrap();
        session.append(r#"{"role":"assistant","content":"two"}"#).await.unwrap();
    });
    let whole = kept(&session);
    let altered: Arc<dyn Store> = Faulty::new(store, Fault::Alters { seq: 3 });
    let follower = block_on(Follower::open(altered, "s".parse().unwrap())).unwrap();
    let left: Vec<&str> = follower.state().view.entries().iter().map(|entry| entry.message.as_str()).collect();
    assert_eq!(left, [&*whole[0], &*whole[2], &*whole[3]]);
}

#[test]
fn a_damaged_inbox_message_is_quarantined_and_the_others_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    block_on(async {
        let store = seamline::open_store(&format!("sqlite:{}", path.display())).await.unwrap();
        let mut session =
            Session::create(store.clone(), "s".parse().unwrap(), SessionOptions::default()).await.unwrap();
        for id in ["1", "2", "3"] {
            let message = Raw::parse(format!(r#"{{"role":"user","content":"{id}"}}"#)).unwrap();
            store.push(session.id(), &InboxItem { id: id.into(), message, dialect: None }).await.unwrap();
        }
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("UPDATE inbox SET message = '\"altered\"' WHERE id = '2'").unwrap();
        assert_eq!(session.take_inbox().await.unwrap(), 2);
        assert_eq!(session.take_inbox().await.unwrap(), 0);
        assert_eq!(kept(&session), [r#"{"role":"user","content":"1"}"#, r#"{"role":"user","content":"3"}"#]);
        assert_eq!(session.incidents().filter(|found| found.kind == IncidentKind::Damaged).count(), 1);
        let aside = store.read_quarantine(session.id()).await.unwrap();
        assert_eq!(aside.iter().map(|aside| aside.bytes.as_slice()).collect::<Vec<_>>(), [b"\"altered\""]);
        session.append(ASK).await.unwrap();
    });
}

#[test]
fn a_damaged_index_is_named_once_and_loses_nothing_that_is_appended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sessions/databases/0.1.sqlite");
    let mut file = std::fs::read(fixture).unwrap();
    // The length of an entry in the index of the commits.
    assert_eq!(std::mem::replace(&mut file[15525], 5), 4);
    std::fs::write(&path, file).unwrap();
    block_on(async {
        let id = || "compactions".parse().unwrap();
        for times in 1..3 {
            let store = seamline::open_store(&format!("sqlite:{}", path.display())).await.unwrap();
            let options = OpenOptions { take_over: true, ..OpenOptions::default() };
            let mut session = Session::open(store, id(), options).await.unwrap();
            let Health::Degraded(damages) = session.health() else { panic!("{:?}", session.health()) };
            assert_eq!(damages.len(), 1, "{damages:?}");
            let named: Vec<_> = session.incidents().filter(|found| found.kind == IncidentKind::Damaged).collect();
            assert!(named.len() == 1 && named[0].detail.contains("REINDEX"), "{named:?}");
            session.append(ASK).await.unwrap();
            assert_eq!(kept(&session).iter().filter(|message| *message == ASK).count(), times);
            session.close().await.unwrap();
        }
        rusqlite::Connection::open(&path).unwrap().execute_batch("REINDEX commits").unwrap();
        let store = seamline::open_store(&format!("sqlite:{}", path.display())).await.unwrap();
        let follower = Follower::open(store, id()).await.unwrap();
        assert!(follower.health().is_whole());
        assert_eq!(follower.state().view.len(), 4 + 2);
    });
}

#[test]
fn messages_that_a_damaged_commit_removed_reappear_and_the_damage_is_reported() {
    for compacts in [false, true] {
        let (store, mut session) = written(&[ASK]);
        let half = r#"{"role":"assistant","content":"half an ans"}"#;
        let (before, lost) = block_on(async {
            let checkpoint = session.create_checkpoint(seamline::store::Operation::Manual).await.unwrap();
            session.append(half).await.unwrap();
            let head = |store: Arc<dyn Store>| async move { store.read_head(&"s".parse().unwrap()).await.unwrap().seq };
            let lost = if compacts {
                let range = session.before_compaction(1..2).await.unwrap();
                let lost = head(store.clone()).await + 1;
                session.finish_compaction(range, &[]).await.unwrap();
                lost
            } else {
                let lost = head(store.clone()).await + 1;
                session.rollback(&checkpoint.id, "test").await.unwrap();
                lost
            };
            session.append(ASK).await.unwrap();
            session.create_checkpoint(seamline::store::Operation::Manual).await.unwrap();
            (kept(&session), lost)
        });
        assert_eq!(before, [ASK, ASK]);
        let altered: Arc<dyn Store> = Faulty::new(store, Fault::Alters { seq: lost });
        let session = opened(altered, open_options()).unwrap();
        assert_eq!(kept(&session), [ASK, half, ASK], "no record says any more that it was removed");
        let Health::Degraded(damages) = session.health() else { panic!("{:?}", session.health()) };
        assert_eq!(damages[0].seq, lost);
        let told = session.incidents().find(|found| found.kind == IncidentKind::Damaged).unwrap();
        assert_eq!(told.seq, Some(lost));
    }
}

#[test]
fn a_cycle_keeps_its_place_after_an_earlier_loss() {
    let (store, mut session) = written(&[ASK, r#"{"role":"assistant","content":"one"}"#, ASK]);
    block_on(async {
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::ReadOnly).await.unwrap();
        session.append(r#"{"role":"user","content":"wait"}"#).await.unwrap();
        session.finish_call(&cycle, &"toolu_1".into(), &super::calls::said("done")).await.unwrap();
        session.commit_cycle(&cycle).await.unwrap();
    });
    let whole = kept(&session);
    assert!(whole[5].contains("wait"), "{whole:?}");
    for (seq, at) in [(2, 0), (3, 1), (4, 2)] {
        let altered: Arc<dyn Store> = Faulty::new(store.clone(), Fault::Alters { seq });
        let follower = block_on(Follower::open(altered, "s".parse().unwrap())).unwrap();
        let left: Vec<&str> = follower.state().view.entries().iter().map(|entry| entry.message.as_str()).collect();
        let expected: Vec<&str> =
            (0..).zip(&whole).filter(|(place, _)| *place != at).map(|(_, it)| it.as_str()).collect();
        assert_eq!(left, expected);
        let Health::Degraded(damages) = follower.health() else { panic!("{:?}", follower.health()) };
        assert_eq!(damages.len(), 1, "nothing else is wrong: {damages:?}");
    }
}
