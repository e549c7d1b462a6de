//! Further guarantees of sessions: compaction, inbox, forks, followers, take-over, disabled checks.

use std::future::pending;
use std::sync::Arc;

use futures_util::FutureExt;
use seamline::classify::Failure;
use seamline::session::{
    Follower, OnFailure, OpenOptions, PersistRepairs, RecoveryAction, Session, SessionError, SessionOptions,
    SessionPolicy, ToolOutput,
};
use seamline::store::{CallId, CheckpointState, Effect, Error, InboxItem, Operation, Origin, Raw, cause};

use super::faulty::{Fault, Faulty};
use super::stores::{ASK, ENVELOPE, Tool, is_valid, kept, on_every_store, open_options, results, turn};

const SUMMARY: &str = r#"{"role":"user","content":"so far: nothing"}"#;

#[test]
fn a_compaction_never_splits_a_cycle_and_loses_no_message_that_arrived_meanwhile() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        let messages =
            [ASK.to_owned(), turn(&["toolu_1"]), results(&["toolu_1"]), turn(&["toolu_2"]), results(&["toolu_2"])];
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        session.append_all(&messages).await.unwrap();
        let range = session.before_compaction(0..4).await.unwrap();
        assert_eq!(range, 0..3, "the cut would have parted a call from its result");
        session.append(r#"{"role":"user","content":"meanwhile"}"#).await.unwrap();
        // It is stored whatever happens to the compaction.
        let mut follower = Follower::open(place.store.clone(), session.id().clone()).await.unwrap();
        assert_eq!((session.messages().count(), follower.state().view.len()), (6, 6));
        assert!(!follower.refresh().await.unwrap());
        let compacted = session.finish_compaction(range, &[SUMMARY]).await.unwrap();
        assert_eq!((compacted.replaced, compacted.taken_in), (0..3, 1));
        let expected = [SUMMARY, messages[3], messages[4], r#"{"role":"user","content":"meanwhile"}"#];
        assert_eq!(kept(&session), expected);
        assert_eq!(session.entries()[0].origin, Origin::Summary);
        assert_eq!(kept(&place.reopen(&session).await), expected);
    });
}

#[test]
fn a_failed_compaction_adds_the_waiting_messages() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append_all(&[ASK, ASK]).await.unwrap();
        let range = session.before_compaction(0..1).await.unwrap();
        assert!(session.before_compaction(0..1).await.is_err(), "one at a time");
        session.append(SUMMARY).await.unwrap();
        assert!(session.finish_compaction(range, &["no json"]).await.is_err());
        assert_eq!(kept(&session), [ASK, ASK, SUMMARY]);
        let range = session.before_compaction(0..1).await.unwrap();
        session.append(SUMMARY).await.unwrap();
        assert_eq!(session.cancel_compaction().await.unwrap(), 1);
        assert_eq!((session.messages().count(), range), (4, 0..1));
    });
}

#[test]
fn messages_during_a_compaction_survive_a_failing_store() {
    on_every_store(async |place| {
        let session = place.create(SessionPolicy::default()).await;
        // The messages, the checkpoint, a message that arrives meanwhile, and then the compaction, which fails.
        let faulty = Faulty::new(place.store.clone(), Fault::FailsOnce { at: 3 });
        let options = OpenOptions { take_over: true, ..open_options() };
        let mut session = Session::open(faulty, session.id().clone(), options).await.unwrap();
        session.append_all(&[ASK, ASK]).await.unwrap();
        let range = session.before_compaction(0..1).await.unwrap();
        session.append(r#"{"role":"user","content":"meanwhile"}"#).await.unwrap();
        assert!(session.finish_compaction(range.clone(), &[SUMMARY]).await.is_err());
        assert_eq!(session.finish_compaction(range, &[SUMMARY]).await.unwrap().taken_in, 1);
        assert_eq!(kept(&session), [SUMMARY, ASK, r#"{"role":"user","content":"meanwhile"}"#]);
        session.append(ASK).await.unwrap();
        assert_eq!(session.messages().count(), 4);
    });
}

#[test]
fn a_rollback_behind_a_repair_or_a_compaction_restores_the_messages() {
    on_every_store(async |place| {
        let mut session =
            place.create(SessionPolicy { persist_repairs: PersistRepairs::All, ..SessionPolicy::default() }).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        let before = kept(&session);
        let made = session.create_checkpoint(Operation::Manual).await.unwrap();
        assert!(session.repair().await.unwrap().repaired);
        let range = session.before_compaction(0..1).await.unwrap();
        session.finish_compaction(range, &[SUMMARY]).await.unwrap();
        assert_ne!(kept(&session), before);
        session.rollback(&made.id, "test").await.unwrap();
        assert_eq!(kept(&session), before);
        assert_eq!(kept(&place.reopen(&session).await), before);
    });
}

#[test]
fn messages_of_other_processes_arrive_through_the_inbox_once() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        for id in ["a", "b", "a"] {
            let message = Raw::parse(format!(r#"{{"role":"user","content":"{id}"}}"#)).unwrap();
            place.store.push(session.id(), &InboxItem { id: id.into(), message, dialect: None }).await.unwrap();
        }
        assert_eq!(session.take_inbox().await.unwrap(), 2);
        assert_eq!(session.take_inbox().await.unwrap(), 0);
        assert_eq!(session.messages().count(), 2);
    });
}

#[test]
fn a_fork_is_independent_and_a_child_knows_its_parent() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let mut fork = session.fork(place.name().parse().unwrap()).await.unwrap();
        fork.append(SUMMARY).await.unwrap();
        assert_eq!((session.messages().count(), fork.messages().count()), (1, 2));
        let child = session.create_child(place.name().parse().unwrap(), &"toolu_1".into()).await.unwrap();
        let parent = child.state().begin.clone().unwrap().parent.unwrap();
        assert_eq!((&parent.session, parent.call.as_ref().map(CallId::as_str)), (session.id(), Some("toolu_1")));
    });
}

#[test]
fn the_older_writer_is_fenced_and_a_follower_sees_all() {
    on_every_store(async |place| {
        let mut old = place.create(SessionPolicy::default()).await;
        old.append(ASK).await.unwrap();
        let mut follower = Follower::open(place.store.clone(), old.id().clone()).await.unwrap();
        let mut new = place.reopen(&old).await;
        let error = old.append(ASK).await.unwrap_err();
        assert!(matches!(error, SessionError::Store(Error::Fenced { .. })), "{error}");
        new.append(SUMMARY).await.unwrap();
        assert!(follower.refresh().await.unwrap() && !follower.refresh().await.unwrap());
        assert_eq!(follower.state().view.len(), 2);
        assert_eq!(old.messages().count(), 1, "a rejected message is not stored");
        new.close().await.unwrap();
    });
}

#[test]
fn a_follower_reports_a_wrong_end_and_accepts_one_that_moves() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let head = place.store.read_head(session.id()).await.unwrap();
        session.append(SUMMARY).await.unwrap();
        for (times, is_whole) in [(1, true), (9, false)] {
            let lagging = Faulty::new(place.store.clone(), Fault::Lags { head, times });
            let mut follower = Follower::open(lagging, session.id().clone()).await.unwrap();
            assert_eq!((follower.state().view.len(), follower.health().is_whole()), (2, is_whole));
            assert!(!follower.refresh().await.unwrap(), "nothing came since");
        }
    });
}

#[test]
fn a_follower_reads_all_again_after_a_restore_that_went_another_way() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let message = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    futures_executor::block_on(async {
        let open = async |name: &str| seamline::open_store(&format!("sqlite:{}", at(name))).await.unwrap();
        // The restored session is as long as the old one, or longer.
        for (number, others) in [(1, ["other"].as_slice()), (2, &["other", "one more"])] {
            let (here, there) = (format!("here-{number}.db"), format!("there-{number}.db"));
            let store = open(&here).await;
            let id: seamline::store::SessionId = "s-1".parse().unwrap();
            let session = Session::create(store.clone(), id.clone(), SessionOptions::default()).await.unwrap();
            session.close().await.unwrap();
            let file = rusqlite::Connection::open(at(&here)).unwrap();
            file.execute("VACUUM INTO ?1", [at(&there)]).unwrap();
            let mut session = Session::open(store.clone(), id.clone(), OpenOptions::default()).await.unwrap();
            session.append(&message("first")).await.unwrap();
            let mut follower = Follower::open(store, id.clone()).await.unwrap();
            let mut other = Session::open(open(&there).await, id, OpenOptions::default()).await.unwrap();
            let others: Vec<String> = others.iter().map(|text| message(text)).collect();
            for text in &others {
                other.append(text).await.unwrap();
            }
            other.close().await.unwrap();
            file.execute("ATTACH ?1 AS there", [at(&there)]).unwrap();
            file.execute_batch(
                "BEGIN IMMEDIATE;
                 DELETE FROM main.commits; DELETE FROM main.sessions;
                 INSERT INTO main.sessions SELECT * FROM there.sessions;
                 INSERT INTO main.commits SELECT * FROM there.commits;
                 COMMIT",
            )
            .unwrap();
            assert!(follower.refresh().await.unwrap());
            let shown = follower.state().view.entries().iter().map(|entry| entry.message.as_str().to_owned());
            let shown: Vec<String> = shown.collect();
            assert!(shown == others && follower.health().is_whole(), "{shown:?} {:?}", follower.health());
            assert!(!follower.refresh().await.unwrap());
        }
    });
}

#[test]
fn a_disabled_session_only_stores_messages() {
    on_every_store(async |place| {
        let config = SessionPolicy { enabled: false, ..SessionPolicy::default() };
        let mut session = place.create(config).await;
        session.append_all(&[ASK, &turn(&["toolu_9"]), ASK]).await.unwrap();
        assert!(session.validate().unwrap().valid);
        let request = session.request("{}").unwrap();
        assert!(request.actions.is_empty() && !request.sendable);
        let result = session.execute_tool_cycle(&[&turn(&["toolu_1"])], &Tool::saying("ok"), pending()).await.unwrap();
        assert!(result.success && session.checkpoints().is_empty());
        assert_eq!(session.messages().count(), 5);
    });
}

#[test]
fn the_number_of_committed_checkpoints_is_limited() {
    on_every_store(async |place| {
        let config = SessionPolicy { checkpoint_retention: 3, snapshot_messages: true, ..SessionPolicy::default() };
        let mut session = place.create(config).await;
        let open = session.create_checkpoint(Operation::Manual).await.unwrap();
        for _ in 0..6 {
            session.append(ASK).await.unwrap();
            let made = session.create_checkpoint(Operation::ApiCall).await.unwrap();
            assert_eq!(made.snapshot.as_ref().map(Vec::len), Some(session.messages().count()));
            session.commit_checkpoint(&made.id).await.unwrap();
            let committed = session.checkpoints().into_iter().filter(|found| found.state == CheckpointState::Committed);
            assert!(committed.count() <= 3);
        }
        assert_eq!(session.checkpoints().len(), 4, "open checkpoints are never pruned");
        assert_eq!(session.prune_checkpoints(1).await.unwrap(), 2);
        assert_eq!(session.latest_checkpoint().map(|found| found.id), Some(open.id));
        assert_eq!(session.clear_checkpoints().await.unwrap(), 2);
        assert!(session.checkpoints().is_empty());
    });
}

#[test]
fn a_reported_tool_failure_is_recorded_or_rolled_back_as_configured() {
    on_every_store(async |place| {
        for (on_tool_error, messages) in [(OnFailure::Record, 3), (OnFailure::Rollback, 1)] {
            let mut session = place.create(SessionPolicy { on_tool_error, ..SessionPolicy::default() }).await;
            session.append(ASK).await.unwrap();
            let tool = Tool::doing(|_| Ok(ToolOutput { output: "no such file".to_owned(), is_error: true }));
            let result = session.execute_tool_cycle(&[&turn(&["toolu_1"])], &tool, pending()).await.unwrap();
            assert_eq!(result.rolled_back, on_tool_error == OnFailure::Rollback);
            assert_eq!(session.messages().count(), messages);
            assert!(is_valid(&session));
        }
    });
}

#[test]
fn errors_are_handled_by_their_class() {
    on_every_store(async |place| {
        let refused = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1";
        let cases = [
            (
                Some(529),
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                RecoveryAction::RolledBack,
            ),
            (Some(400), refused, RecoveryAction::Repaired),
            (Some(401), "invalid x-api-key", RecoveryAction::RolledBack),
        ];
        for (status, text, action) in cases {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
            session.create_checkpoint(Operation::ApiCall).await.unwrap();
            let recovery = session.handle_error(&Failure { status, text, ..Failure::default() }).await.unwrap();
            assert_eq!(recovery.action, action, "{text}: {recovery:?}");
            assert!(is_valid(&session));
        }
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let fatal = Failure { status: Some(401), text: "invalid x-api-key", ..Failure::default() };
        assert_eq!(session.handle_error(&fatal).await.unwrap().action, RecoveryAction::Escalate);
    });
}

#[test]
fn a_failing_store_is_an_error_and_nothing_is_lost() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let failures: [fn() -> Error; 3] = [
            || Error::NoSpace("disk full".to_owned()),
            || Error::Failed(cause::Failed::Database("EIO".to_owned())),
            || Error::ReadOnly(cause::ReadOnly::Server("mounted read-only".to_owned())),
        ];
        for failure in failures {
            let faulty = Faulty::new(place.store.clone(), Fault::Fails(failure));
            let options = OpenOptions { take_over: true, ..open_options() };
            let mut broken = Session::open(faulty, session.id().clone(), options).await.unwrap();
            let error = broken.append(SUMMARY).await.unwrap_err();
            assert_eq!(error, SessionError::Store(failure()));
            assert_eq!(kept(&broken), [ASK], "a message that could not be stored is not in the view");
            // Checks, repairs of requests and requests work without the store.
            assert!(broken.validate().unwrap().valid && broken.request(ENVELOPE).unwrap().sendable);
            let tool = Tool::saying("ok");
            assert!(broken.execute_tool_cycle(&[&turn(&["toolu_1"])], &tool, pending()).await.is_err());
            assert_eq!(tool.runs(), 0, "a call without a stored intent does not run");
        }
        assert_eq!(kept(&place.reopen(&session).await), [ASK]);
    });
}

#[test]
fn parallel_cycles_do_not_roll_each_other_back() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let (one, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
        let (two, _) = session.begin_cycle(&[&turn(&["toolu_2"])], &|_| Effect::Unsafe).await.unwrap();
        let output = ToolOutput { output: "two".to_owned(), is_error: false };
        session.before_tool_call(&two, &"toolu_2".into()).await.unwrap();
        session.after_tool_call(&two, &"toolu_2".into(), &output).await.unwrap().unwrap();
        session.roll_back_cycle(&one, "test").await.unwrap();
        assert_eq!(session.messages().count(), 3);
        assert!(kept(&session).concat().contains("toolu_2") && is_valid(&session));
    });
}

#[test]
fn an_unknown_dialect_is_refused_before_anything_is_stored() {
    on_every_store(async |place| {
        let options = SessionOptions { dialect: Some("latin".to_owned()), ..SessionOptions::default() };
        let id = place.name().parse().unwrap();
        let error = Session::create(place.store.clone(), id, options).await.unwrap_err();
        assert_eq!(error.to_string(), "no dialect is called `latin`");
    });
}

#[test]
fn a_cycle_is_stored_in_every_dialect() {
    on_every_store(async |place| {
        let turns = [
            ("anthropic_messages", turn(&["toolu_1"])),
            ("openai_chat", r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"sh","arguments":"{}"}}]}"#.to_owned()),
            ("openai_responses", r#"{"type":"function_call","call_id":"call_1","name":"sh","arguments":"{}"}"#.to_owned()),
            ("bedrock_converse", r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"sh","input":{}}}]}"#.to_owned()),
            ("gemini_generate", r#"{"role":"model","parts":[{"functionCall":{"name":"sh","args":{}}}]}"#.to_owned()),
        ];
        for (dialect, turn) in turns {
            let options = SessionOptions { dialect: Some(dialect.to_owned()), ..SessionOptions::default() };
            let mut session =
                Session::create(place.store.clone(), place.name().parse().unwrap(), options).await.unwrap();
            let result = session.execute_tool_cycle(&[&turn], &Tool::saying("fine"), pending()).await.unwrap();
            assert!(result.success && session.messages().count() == 2, "{dialect}: {result:?}");
            let pairing = session.check().unwrap();
            let wrong: Vec<_> = pairing.findings.iter().filter(|finding| finding.code.starts_with("PAIR")).collect();
            assert!(wrong.is_empty(), "{dialect}: {wrong:?}");
            assert!(kept(&session)[1].contains("fine"), "{dialect}");
        }
    });
}

#[test]
fn all_events_are_logged_at_the_level_all() {
    on_every_store(async |place| {
        for (verbose, events) in [(false, 0), (true, 2)] {
            let mut session = place.create(SessionPolicy { verbose, ..SessionPolicy::default() }).await;
            let made = session.create_checkpoint(Operation::Manual).await.unwrap();
            session.commit_checkpoint(&made.id).await.unwrap();
            assert_eq!(session.incidents().count(), events);
        }
    });
}

#[test]
fn an_unawaited_write_is_stored_once_and_blocks_nothing() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        // The caller drops the future right after the call.
        let dropped = session.append(ASK).now_or_never();
        session.append(SUMMARY).await.unwrap();
        let expected = [ASK, SUMMARY];
        assert_eq!(kept(&session), expected, "{}: {dropped:?}", place.name);
        assert_eq!(kept(&place.reopen(&session).await), expected);
    });
}

#[test]
fn a_session_can_be_shared_between_threads() {
    fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<Session>();
    assert_send_sync::<Arc<Follower>>();
}
