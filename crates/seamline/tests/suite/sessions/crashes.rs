//! Crashes in the middle of a tool, and refused steps after them.

use std::future::pending;
use std::sync::Arc;

use futures_util::future::{Either, select};
use seamline::session::{ExecutorFailure, OnFailure, OpenOptions, Session, SessionPolicy, ToolOutput};
use seamline::store::{Effect, Origin, SessionId};

use super::faulty::{Fault, Faulty};
use super::stores::{ASK, Place, Tool, is_valid, kept, on_every_store, open_options, turn};

const ANSWER: &str = r#"{"role":"assistant","content":"all done"}"#;

#[test]
fn a_tool_that_never_returns_has_an_unknown_outcome() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        // The process dies while the second of two tools runs: its future is dropped.
        let (id, calls) = (session.id().clone(), turn(&["toolu_1", "toolu_2"]));
        // The checkpoint, the turn, both intents and one result follow the two existing records.
        dropped_at(&place, &id, 7, session.execute_tool_cycle(&[&calls], &Stuck, pending())).await;
        let mut again = place.reopen(&session).await;
        let messages = kept(&again);
        assert_eq!(messages[1], turn(&["toolu_1", "toolu_2"]), "{}", place.name);
        assert!(messages[2].contains(r#""content":"first""#), "what finished is kept: {}", messages[2]);
        assert!(messages[2].contains("[outcome unknown] The tool call \\\"sh\\\" was started at 2026-11-"));
        assert!(is_valid(&again) && again.validate().unwrap().valid);
        assert_eq!(again.repair_context().lost_calls[0].id, "toolu_2");
        let origins: Vec<Origin> = again.entries().iter().map(|entry| entry.origin).collect();
        assert_eq!(origins, [Origin::Said, Origin::Said, Origin::Synthetic], "synthetic messages are marked");
        // A late result replaces the synthetic one.
        let late = seamline::session::ToolCallRef { id: "toolu_2".into(), name: "sh" };
        let output = ToolOutput { output: "second, late".to_owned(), is_error: false };
        assert!(again.add_late_result(&late, &output).await.unwrap());
        let messages = kept(&again);
        assert!(messages[2].contains("second, late") && !messages[2].contains("unknown"), "{}", messages[2]);
        assert!(messages[2].contains(r#""content":"first""#) && messages.len() == 3);
        assert!(again.entries().iter().all(|entry| entry.origin == Origin::Said));
        assert!(!again.add_late_result(&late, &output).await.unwrap(), "a real result is never replaced");
        assert_eq!(kept(&place.reopen(&again).await), messages);
    });
}

/// The first call returns, the second one never does.
struct Stuck;

impl seamline::session::ToolExecutor for Stuck {
    fn execute<'a>(&'a self, call: &'a seamline::session::ToolCall) -> seamline::session::Running<'a> {
        let is_first = call.id == "toolu_1";
        Box::pin(async move {
            if is_first { Ok(ToolOutput { output: "first".to_owned(), is_error: false }) } else { pending().await }
        })
    }
}

/// Runs a future until a session has this many records, and drops it there, as when its process ends.
async fn dropped_at<T>(place: &Place, id: &SessionId, seq: u64, running: impl Future<Output = T>) {
    let watch = async { while place.store.read_head(id).await.unwrap().seq < seq {} };
    match select(std::pin::pin!(running), std::pin::pin!(watch)).await {
        Either::Left(_) => panic!("it came back"),
        Either::Right(_) => {}
    }
}

#[test]
fn calls_that_may_run_again_do_so_if_there_is_an_executor() {
    on_every_store(async |place| {
        for (effect, runs, text) in [
            (Effect::Idempotent, 2, "second"),
            (Effect::ReadOnly, 2, "second"),
            (Effect::Unsafe, 0, "[outcome unknown]"),
        ] {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append(ASK).await.unwrap();
            let calls = turn(&["toolu_1", "toolu_2"]);
            let (cycle, _) = session.begin_cycle(&[&calls], &|_| effect).await.unwrap();
            let key = session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap().key;
            session.before_tool_call(&cycle, &"toolu_2".into()).await.unwrap();
            let options = OpenOptions { take_over: true, recover: false, ..open_options() };
            let mut again = Session::open(place.store.clone(), session.id().clone(), options).await.unwrap();
            let keys = Arc::new(std::sync::Mutex::new(Vec::new()));
            let seen = keys.clone();
            let tool = Tool::doing(move |call| {
                seen.lock().unwrap().push(call.key.clone());
                Ok(ToolOutput { output: "second".to_owned(), is_error: false })
            });
            let recovered = again.recover_with(&tool).await.unwrap();
            assert_eq!((recovered.run_again, tool.runs()), (runs, runs), "{}", effect.as_str());
            assert!(runs == 0 || keys.lock().unwrap()[0].as_deref() == Some(key.as_str()), "under the same key");
            assert!(kept(&again)[2].contains(text), "{:?}", kept(&again));
            assert!(is_valid(&again));
        }
    });
}

#[test]
fn a_failure_in_a_recovery_is_recorded_as_in_a_run() {
    on_every_store(async |place| {
        for on_failure in [OnFailure::Record, OnFailure::Rollback] {
            for is_error in [true, false] {
                let config =
                    SessionPolicy { on_tool_error: on_failure, on_executor_failure: on_failure, ..Default::default() };
                let mut session = place.create(config).await;
                session.append(ASK).await.unwrap();
                session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::ReadOnly).await.unwrap();
                let options = OpenOptions { take_over: true, recover: false, ..open_options() };
                let mut again = Session::open(place.store.clone(), session.id().clone(), options).await.unwrap();
                let text = || "no such file".to_owned();
                let tool = Tool::doing(move |_| {
                    if is_error {
                        Ok(ToolOutput { output: text(), is_error: true })
                    } else {
                        Err(ExecutorFailure(text()))
                    }
                });
                let recovered = again.recover_with(&tool).await.unwrap();
                let is_rolled_back = on_failure == OnFailure::Rollback;
                assert_eq!((recovered.cycles, recovered.rolled_back), (1, usize::from(is_rolled_back)));
                let told = kept(&again).concat();
                assert_eq!(told.contains("no such file"), !is_rolled_back, "{told}");
                assert!(is_valid(&again) && again.state().cycles.is_empty());
            }
        }
    });
}

#[test]
fn a_cycle_refuses_steps_that_it_has_passed() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
        let output = ToolOutput { output: "done".to_owned(), is_error: false };
        let error = session.commit_cycle(&cycle).await.unwrap_err();
        assert_eq!(error.to_string(), format!("call toolu_1 of cycle {cycle} cannot be committed without a result"));
        assert!(session.before_tool_call(&cycle, &"toolu_9".into()).await.is_err());
        assert!(session.repair().await.is_err(), "not while tools are running");
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        session.finish_call(&cycle, &"toolu_1".into(), &output).await.unwrap();
        assert!(session.finish_call(&cycle, &"toolu_1".into(), &output).await.is_err(), "a result is kept once");
        assert!(session.before_tool_call(&cycle, &"toolu_1".into()).await.is_err(), "a finished call cannot start");
        session.commit_cycle(&cycle).await.unwrap();
        assert!(session.commit_cycle(&cycle).await.is_err() && session.roll_back_cycle(&cycle, "late").await.is_err());
        assert_eq!(session.messages().count(), 3);
    });
}

#[test]
fn altered_bytes_never_count_as_messages() {
    let place = super::stores::memory();
    futures_executor::block_on(async {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let made = session.create_checkpoint(seamline::store::Operation::Manual).await.unwrap();
        session.append(ANSWER).await.unwrap();
        let commits = place.store.read(session.id(), 0, usize::MAX).await.unwrap();
        // A store that returns another message than it stored.
        let altered = Faulty::new(place.store.clone(), Fault::Alters { seq: commits[1].seq });
        let options = OpenOptions { take_over: true, ..open_options() };
        let mut again = Session::open(altered, session.id().clone(), options).await.unwrap();
        assert!(!again.health().is_whole());
        assert_eq!(kept(&again), [ANSWER], "damaged commits are skipped");
        let error = again.rollback(&made.id, "test").await.unwrap_err();
        assert_eq!(error.to_string(), "Checkpoint integrity mismatch — messages were modified");
        assert_eq!(place.store.read_quarantine(session.id()).await.unwrap().len(), 1);
        let damaged = again.incidents().filter(|found| found.kind == seamline::store::IncidentKind::Damaged).count();
        assert_eq!(damaged, 1);
        // It is recorded once, not at every opening.
        let altered = Faulty::new(place.store.clone(), Fault::Alters { seq: commits[1].seq });
        let options = OpenOptions { take_over: true, ..open_options() };
        let again = Session::open(altered, session.id().clone(), options).await.unwrap();
        assert!(!again.health().is_whole());
        let damaged = again.incidents().filter(|found| found.kind == seamline::store::IncidentKind::Damaged).count();
        assert_eq!(damaged, 1);
    });
}
