//! Calls with the same id or tool, and the legal steps of a call.

use std::future::pending;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use seamline::session::{
    OpenOptions, Running, Session, SessionPolicy, ToolCall, ToolCallRef, ToolExecutor, ToolOutput, Truth,
};
use seamline::store::{Effect, IncidentKind};

use super::asking::in_dialect;
use super::stores::{ASK, Place, Tool, is_valid, kept, on_every_store, open_options, turn};

/// The first call returns, the others never do.
pub(super) struct FirstOnly;

impl ToolExecutor for FirstOnly {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> Running<'a> {
        let is_first = call.id == "toolu_1";
        Box::pin(async move { if is_first { Ok(said("first")) } else { pending().await } })
    }
}

pub(super) fn said(text: &str) -> ToolOutput {
    ToolOutput { output: text.to_owned(), is_error: false }
}

async fn after_a_crash(place: &Place, session: &Session) -> Session {
    let options = OpenOptions { take_over: true, recover: false, ..open_options() };
    Session::open(place.store.clone(), session.id().clone(), options).await.unwrap()
}

/// Turns with two calls in every dialect: of two tools, of one tool, and of one tool and id.
pub(super) const TURNS: [(&str, &[&str]); 11] = [
    (
        "anthropic_messages",
        &[
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}},{"type":"tool_use","id":"b","name":"pay","input":{}}]}"#,
        ],
    ),
    (
        "anthropic_messages",
        &[
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"pay","input":{"n":1}},{"type":"tool_use","id":"b","name":"pay","input":{"n":2}}]}"#,
        ],
    ),
    (
        "openai_chat",
        &[
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"pay","arguments":"{}"}}]}"#,
        ],
    ),
    (
        "openai_chat",
        &[
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"pay","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"pay","arguments":"{}"}}]}"#,
        ],
    ),
    (
        "openai_responses",
        &[
            r#"{"type":"function_call","call_id":"a","name":"read","arguments":"{}"}"#,
            r#"{"type":"function_call","call_id":"b","name":"pay","arguments":"{}"}"#,
        ],
    ),
    (
        "openai_responses",
        &[
            r#"{"type":"function_call","call_id":"a","name":"pay","arguments":"{}"}"#,
            r#"{"type":"function_call","call_id":"b","name":"pay","arguments":"{}"}"#,
        ],
    ),
    (
        "bedrock_converse",
        &[
            r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"read","input":{}}},{"toolUse":{"toolUseId":"b","name":"pay","input":{}}}]}"#,
        ],
    ),
    (
        "bedrock_converse",
        &[
            r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"pay","input":{}}},{"toolUse":{"toolUseId":"b","name":"pay","input":{}}}]}"#,
        ],
    ),
    (
        "gemini_generate",
        &[
            r#"{"role":"model","parts":[{"functionCall":{"name":"read","args":{}}},{"functionCall":{"name":"pay","args":{}}}]}"#,
        ],
    ),
    (
        "gemini_generate",
        &[
            r#"{"role":"model","parts":[{"functionCall":{"name":"pay","args":{}}},{"functionCall":{"name":"pay","args":{}}}]}"#,
        ],
    ),
    (
        "gemini_generate",
        &[
            r#"{"role":"model","parts":[{"functionCall":{"id":"a","name":"pay","args":{}}},{"functionCall":{"name":"pay","args":{}}}]}"#,
        ],
    ),
];

#[test]
fn two_calls_of_a_turn_get_their_own_results_in_every_dialect() {
    on_every_store(async |place| {
        for (dialect, turn) in TURNS {
            for backwards in [false, true] {
                let mut session = in_dialect(&place, dialect).await;
                let (cycle, calls) = session.begin_cycle(turn, &|_| Effect::Unsafe).await.unwrap();
                let texts = ["ONE", "TWO"];
                let mut order: Vec<usize> = vec![0, 1];
                if backwards {
                    order.reverse();
                }
                for at in order {
                    session.before_tool_call(&cycle, &calls[at].id).await.unwrap();
                    session.finish_call(&cycle, &calls[at].id, &said(texts[at])).await.unwrap();
                }
                let outcomes = session.commit_cycle(&cycle).await.unwrap();
                assert_eq!(outcomes.iter().map(|outcome| outcome.content.as_str()).collect::<Vec<_>>(), texts);
                let all = kept(&session)[turn.len()..].concat();
                let (one, two) = (all.find("ONE").unwrap(), all.find("TWO").unwrap());
                assert!(one < two, "{dialect}: {all}");
                let found = session.check().unwrap().findings;
                let wrong: Vec<_> = found.iter().filter(|found| found.code.starts_with("PAIR")).collect();
                assert!(wrong.is_empty(), "{dialect}: {all}: {wrong:?}");
                let request = session.request("{}").unwrap();
                let body = String::from_utf8(request.body).unwrap();
                assert!(
                    body.contains("ONE") && body.contains("TWO") && !body.contains("[synthetic] No result"),
                    "{body}"
                );
            }
        }
    });
}

#[test]
fn calls_with_the_same_id_are_distinguished() {
    on_every_store(async |place| {
        let turn = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"pay","input":{"n":1}},{"type":"tool_use","id":"a","name":"pay","input":{"n":2}},{"type":"tool_use","id":"a#2","name":"pay","input":{"n":3}}]}"#;
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let (cycle, calls) = session.begin_cycle(&[turn], &|_| Effect::Unsafe).await.unwrap();
        let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["a", "a#3", "a#2"]);
        let one = session.before_tool_call(&cycle, &"a".into()).await.unwrap();
        let two = session.before_tool_call(&cycle, &"a#3".into()).await.unwrap();
        assert_ne!(one, two);
        session.finish_call(&cycle, &"a#3".into(), &said("TWO")).await.unwrap();
        let truths: Vec<Truth> = session.unresolved().iter().map(|call| call.truth).collect();
        assert_eq!(truths, [Truth::OutcomeUnknown, Truth::Finished, Truth::NeverStarted]);
        session.finish_call(&cycle, &"a".into(), &said("ONE")).await.unwrap();
        let outcomes = session.abort().await.unwrap();
        let told: Vec<_> = outcomes.iter().map(|outcome| outcome.tool_use_id.as_str()).collect();
        assert_eq!(told, ["a", "a", "a#2"]);
        let results = &kept(&session)[2];
        assert!(results.find("ONE") < results.find("TWO") && !results.contains("a#3"), "{results}");
        assert_eq!(results.matches(r#""tool_use_id":"a""#).count(), 2, "both have the id of their calls: {results}");
        assert!(is_valid(&session), "the request distinguishes them");
    });
}

#[test]
fn a_call_with_a_repeated_id_runs_again_with_its_own_arguments() {
    on_every_store(async |place| {
        let turn = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"get","input":{"n":1}},{"type":"tool_use","id":"a","name":"get","input":{"n":2}}]}"#;
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[turn], &|_| Effect::ReadOnly).await.unwrap();
        session.finish_call(&cycle, &"a".into(), &said("ONE")).await.unwrap();
        let mut again = after_a_crash(&place, &session).await;
        let tool = Tool::doing(|call| Ok(said(&call.input)));
        again.recover_with(&tool).await.unwrap();
        assert!(kept(&again)[2].contains(r#"{\"n\":2}"#), "{:?}", kept(&again));
    });
}

#[test]
fn two_open_cycles_do_not_roll_each_other_back() {
    on_every_store(async |place| {
        for by_hand in [false, true] {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append(ASK).await.unwrap();
            let (one, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
            let (two, _) = session.begin_cycle(&[&turn(&["toolu_2"])], &|_| Effect::Unsafe).await.unwrap();
            session.before_tool_call(&two, &"toolu_2".into()).await.unwrap();
            session.finish_call(&two, &"toolu_2".into(), &said("paid")).await.unwrap();
            if by_hand {
                session.roll_back_cycle(&one, "test").await.unwrap();
            }
            let again = place.reopen(&session).await;
            assert!(kept(&again).concat().contains("paid") && again.unresolved().is_empty(), "{:?}", kept(&again));
            assert!(!kept(&again).concat().contains("toolu_1") && is_valid(&again));
            assert_eq!(again.latest_checkpoint(), None, "nothing of them is left to go back to");
        }
    });
}

#[test]
fn a_call_is_started_once_and_finished_after_that() {
    on_every_store(async |place| {
        for (effect, again) in [(Effect::Unsafe, false), (Effect::Probe, false), (Effect::Idempotent, true)] {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append(ASK).await.unwrap();
            let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| effect).await.unwrap();
            assert!(session.finish_call(&cycle, &"toolu_1".into(), &said("x")).await.is_err(), "it was never begun");
            session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
            assert_eq!(session.before_tool_call(&cycle, &"toolu_1".into()).await.is_ok(), again, "{}", effect.as_str());
            session.finish_call(&cycle, &"toolu_1".into(), &said("x")).await.unwrap();
        }
    });
}

#[test]
fn recovery_records_an_intent_before_it_runs_a_call() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let effect = |call: &ToolCall| if call.id == "toolu_1" { Effect::Unsafe } else { Effect::Idempotent };
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1", "toolu_2"])], &effect).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        session.finish_call(&cycle, &"toolu_1".into(), &said("one")).await.unwrap();
        let mut again = after_a_crash(&place, &session).await;
        let intents = Arc::new(Mutex::new(0));
        let (store, id, seen) = (place.store.clone(), session.id().clone(), intents.clone());
        let tool = Tool::doing(move |_| {
            let commits = futures_executor::block_on(store.read(&id, 0, usize::MAX)).unwrap();
            let text: String = commits.into_iter().map(|commit| String::from_utf8(commit.bytes).unwrap()).collect();
            *seen.lock().unwrap() = text.matches(r#"{"intent":"#).count();
            panic!("the tool crashes");
        });
        let recovered = run_in_a_thread(&mut again, &tool);
        assert_eq!((recovered.run_again, recovered.unknown), (0, 1));
        assert_eq!(*intents.lock().unwrap(), 2);
        assert!(kept(&again)[2].contains("[outcome unknown]") && is_valid(&again));
    });
}

/// A tool that waits for a store must not deadlock with the session that waits for the tool.
fn run_in_a_thread(session: &mut Session, tool: &Tool) -> seamline::session::Recovered {
    std::thread::scope(|scope| {
        scope
            .spawn(|| {
                let mut recovering = Box::pin(session.recover_with(tool));
                let waker = futures_util::task::noop_waker();
                let mut context = std::task::Context::from_waker(&waker);
                loop {
                    if let std::task::Poll::Ready(done) = recovering.as_mut().poll(&mut context) {
                        break done.unwrap();
                    }
                }
            })
            .join()
            .unwrap()
    })
}

#[test]
fn a_read_only_call_is_not_reported_as_not_run() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::ReadOnly).await.unwrap();
        let mut again = after_a_crash(&place, &session).await;
        assert_eq!(again.unresolved()[0].truth, Truth::Harmless);
        again.recover().await.unwrap();
        assert!(kept(&again)[2].contains("[no result]"), "{:?}", kept(&again));
        assert!(again.incidents().all(|incident| incident.kind != IncidentKind::NotExecuted));
    });
}

#[test]
fn late_results_replace_synthetic_ones_one_by_one_in_every_dialect() {
    on_every_store(async |place| {
        for (dialect, turn) in TURNS {
            for aborted in [false, true] {
                let mut session = in_dialect(&place, dialect).await;
                let (cycle, calls) = session.begin_cycle(turn, &|_| Effect::Unsafe).await.unwrap();
                for call in &calls {
                    session.before_tool_call(&cycle, &call.id).await.unwrap();
                }
                if aborted {
                    session.abort().await.unwrap();
                } else {
                    session.recover().await.unwrap();
                }
                for (call, text) in calls.iter().zip(["late ONE", "late TWO"]) {
                    let call = ToolCallRef { id: call.id.clone(), name: &call.name };
                    let taken = session.add_late_result(&call, &said(text)).await.unwrap();
                    assert!(taken, "{dialect} {text} {aborted}: {:?}", kept(&session));
                    assert!(!session.add_late_result(&call, &said("again")).await.unwrap(), "a real one stays");
                }
                let all = kept(&session).concat();
                assert!(all.contains("late ONE") && all.contains("late TWO") && !all.contains("[synthetic]"), "{all}");
                let found = session.check().unwrap().findings;
                assert!(found.iter().all(|found| !found.code.starts_with("PAIR")), "{found:?}");
            }
        }
    });
}

#[test]
fn a_result_that_is_too_large_for_its_cycle_is_refused_at_once() {
    let place = super::stores::memory();
    futures_executor::block_on(async {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::ReadOnly).await.unwrap();
        let large = said(&"x".repeat(101 * 1024 * 1024));
        let error = session.finish_call(&cycle, &"toolu_1".into(), &large).await.unwrap_err();
        assert!(error.to_string().contains("exceed"), "{error}");
        session.finish_call(&cycle, &"toolu_1".into(), &said("short")).await.unwrap();
        session.commit_cycle(&cycle).await.unwrap();
        // If a session runs the tool, the model reads about it.
        let tool = Tool::doing(move |_| Ok(large.clone()));
        let result = session.execute_tool_cycle(&[&turn(&["toolu_2"])], &tool, pending()).await.unwrap();
        let outcome = &result.outcomes[0];
        assert!(outcome.synthetic && !outcome.is_error && outcome.content.contains("too large to keep"));
    });
}

#[test]
fn rolling_a_cycle_back_leaves_repairs_that_can_be_undone() {
    on_every_store(async |place| {
        let persist_repairs = seamline::session::PersistRepairs::All;
        let mut session = place.create(SessionPolicy { persist_repairs, ..SessionPolicy::default() }).await;
        session.append_all(&[ASK, &turn(&["toolu_lost"]), ASK]).await.unwrap();
        let before = kept(&session);
        session.repair().await.unwrap();
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
        session.roll_back_cycle(&cycle, "test").await.unwrap();
        session.undo_repair().await.unwrap();
        assert_eq!(kept(&session), before);
    });
}

/// A tool that never returns, and notes how many records there were when it was stopped.
struct Watched(Arc<dyn seamline::store::Store>, seamline::store::SessionId, Arc<Mutex<Vec<u64>>>);

struct Watch<'a>(&'a Watched);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let Watched(store, id, seen) = self.0;
        let head = store.read_head(id).now_or_never().unwrap().unwrap();
        seen.lock().unwrap().push(head.seq);
    }
}

impl ToolExecutor for Watched {
    fn execute<'a>(&'a self, _call: &'a ToolCall) -> Running<'a> {
        let watch = Watch(self);
        Box::pin(async move {
            let _watch = watch;
            pending().await
        })
    }
}

#[test]
fn s0_11_tools_are_stopped_before_their_abort_is_recorded() {
    let place = super::stores::memory();
    futures_executor::block_on(async {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let tool = Watched(place.store.clone(), session.id().clone(), seen.clone());
        let stop = super::stopping::once_begun();
        session.execute_tool_cycle(&[&turn(&["toolu_1", "toolu_2"])], &tool, stop).await.unwrap();
        let end = place.store.read_head(session.id()).await.unwrap().seq;
        assert_eq!(seen.lock().unwrap().len(), 2);
        assert!(seen.lock().unwrap().iter().all(|seq| *seq < end), "{seen:?}, {end}");
    });
}
