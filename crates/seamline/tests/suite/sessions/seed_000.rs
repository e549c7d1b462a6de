//! The end-to-end abort of the source document on conversation integrity, step by step, and its layers.

use std::future::{Future, pending, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use seamline::classify::Failure;
use seamline::files::Order;
use seamline::session::{
    AgentEnd, AgentStart, PersistRepairs, RecoveryAction, Running, SessionOptions, SessionPolicy, StopCause, ToolCall,
    ToolExecutor, ToolOutput, TurnEnd,
};
use seamline::store::{Effect, IncidentKind};
use seamline::{Options, Policy};

use super::stores::{ASK, ENVELOPE, Place, Tool, is_valid, kept, on_every_store, repairing, results, turn};

async fn opal(place: &Place) -> seamline::session::Session {
    let options = SessionOptions { policy: Policy::preset("opal").unwrap(), ..SessionOptions::default() };
    seamline::session::Session::create(place.store.clone(), place.name().parse().unwrap(), options).await.unwrap()
}

/// A tool that never returns by itself. It counts how often it was started, and how often it was stopped.
#[derive(Default)]
struct Endless {
    begun: AtomicUsize,
    stopped: AtomicUsize,
}

impl Endless {
    fn counts(&self) -> (usize, usize) {
        (self.begun.load(Ordering::Relaxed), self.stopped.load(Ordering::Relaxed))
    }
}

/// Counts when it is dropped.
struct Stopped<'a>(&'a AtomicUsize);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl ToolExecutor for Endless {
    fn execute<'a>(&'a self, _call: &'a ToolCall) -> Running<'a> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        let stopped = Stopped(&self.stopped);
        Box::pin(async move {
            let _stopped = stopped;
            pending().await
        })
    }
}

/// A stop that comes a while after the first poll.
fn after(time: Duration) -> impl Future<Output = StopCause> + Send {
    let mut start = None;
    poll_fn(move |context| {
        context.waker().wake_by_ref();
        if start.get_or_insert_with(Instant::now).elapsed() < time {
            Poll::Pending
        } else {
            Poll::Ready(StopCause::TimedOut)
        }
    })
}

#[test]
fn an_abort_closes_both_calls_and_the_next_prompt_is_accepted() {
    on_every_store(async |place| {
        let mut session = opal(&place).await;
        session.append(ASK).await.unwrap();
        // The response makes calls A and B; the user aborts while both run, and the tools are cancelled.
        let calls = turn(&["toolu_A", "toolu_B"]);
        let tools = Endless::default();
        let stop = super::stopping::once_begun();
        let result = session.execute_tool_cycle(&[&calls], &tools, stop).await.unwrap();
        assert_eq!(tools.counts(), (2, 2), "both ran, and both were stopped");
        // Two synthetic results are stored, marked as errors.
        assert!(!result.success && !result.rolled_back);
        assert_eq!(result.outcomes.len(), 2);
        assert!(result.outcomes.iter().all(|outcome| outcome.synthetic && outcome.is_error));
        assert!(result.outcomes.iter().all(|outcome| outcome.content == "[Aborted by user]"));
        let incident = session.incidents().find(|incident| incident.kind == IncidentKind::Aborted).unwrap();
        assert_eq!(incident.count, 2);
        // They are there after a restart.
        let mut session = place.reopen(&session).await;
        assert_eq!(session.messages().count(), 3);
        let written: serde_json::Value = serde_json::from_str(&kept(&session)[2]).unwrap();
        for (result, id) in written["content"].as_array().unwrap().iter().zip(["toolu_A", "toolu_B"]) {
            assert_eq!((&result["tool_use_id"], &result["is_error"]), (&id.into(), &true.into()));
            assert_eq!(result["content"], "[Aborted by user]");
        }
        // The session is idle, and aborting again does nothing.
        assert!(session.unresolved().is_empty() && session.latest_checkpoint().is_none());
        assert!(session.abort().await.unwrap().is_empty());
        // The new prompt: neither the stored messages nor the request need a repair.
        session.append(r#"{"role":"user","content":"go on"}"#).await.unwrap();
        let before = kept(&session);
        assert!(!session.repair().await.unwrap().repaired);
        assert_eq!(kept(&session), before);
        let AgentStart::Proceed { request, .. } = session.before_agent_start(ENVELOPE).await.unwrap() else { panic!() };
        assert!(request.sendable && request.actions.iter().all(|action| !action.synthetic), "{:?}", request.actions);
        assert!(is_valid(&session));
    });
}

#[test]
fn an_abort_keeps_finished_results() {
    on_every_store(async |place| {
        let mut session = opal(&place).await;
        session.append(ASK).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_A", "toolu_B"])], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_A".into()).await.unwrap();
        let output = ToolOutput { output: "A is done".to_owned(), is_error: false };
        session.finish_call(&cycle, &"toolu_A".into(), &output).await.unwrap();
        let outcomes = session.abort().await.unwrap();
        let texts: Vec<&str> = outcomes.iter().map(|outcome| outcome.content.as_str()).collect();
        assert_eq!(texts, ["A is done", "[Aborted by user]"]);
        assert!(is_valid(&session));
    });
}

#[test]
fn an_error_in_a_stream_leaves_no_message_and_runs_no_tool() {
    on_every_store(async |place| {
        let mut session = opal(&place).await;
        session.append(ASK).await.unwrap();
        session.before_agent_start(ENVELOPE).await.unwrap();
        // The pieces before the error are an unfinished response; its call must not run.
        let stream = concat!(
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[]}}\n\n",
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"sh\",\"input\":{}}}\n\n",
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
        );
        let mut answer = seamline::stream::ResponseStream::new(&seamline::stream::StreamOptions::default()).unwrap();
        answer.feed(stream.as_bytes());
        let answer = answer.finish().unwrap();
        let tool = Tool::saying("ran");
        assert!(answer.calls.len() == 1 && answer.calls.iter().all(|call| !call.executable));
        // A host runs the calls that may run.
        if answer.calls.iter().any(|call| call.executable) {
            session.execute_tool_cycle(&answer.messages(), &tool, pending()).await.unwrap();
        }
        let text = answer.error.as_ref().map(|error| error.text.clone()).unwrap();
        let end = session.agent_end(TurnEnd::Failed(Failure { text: &text, ..Failure::default() })).await.unwrap();
        assert!(matches!(&end, AgentEnd::Recovered(done) if done.action == RecoveryAction::RolledBack), "{end:?}");
        assert_eq!(tool.runs.load(Ordering::Relaxed), 0);
        assert_eq!(kept(&session), [ASK]);
        assert!(session.unresolved().is_empty() && session.latest_checkpoint().is_none(), "nothing goes on");
        // It recovers by itself: the next prompt is accepted.
        session.append(r#"{"role":"user","content":"again"}"#).await.unwrap();
        assert!(matches!(session.before_agent_start(ENVELOPE).await.unwrap(), AgentStart::Proceed { .. }));
    });
}

#[test]
fn a_session_that_was_broken_before_it_was_loaded_is_repaired_once() {
    on_every_store(async |place| {
        let mut session = opal(&place).await;
        session
            .append_all(&[ASK, &turn(&["toolu_1"]), ASK, &turn(&["toolu_2", "toolu_3"]), &results(&["toolu_2"]), ASK])
            .await
            .unwrap();
        let mut session = place.reopen(&session).await;
        let start = session.session_start().await.unwrap();
        assert!(start.repair_offered && start.validation.as_ref().is_some_and(|found| found.valid), "{start:?}");
        assert!(is_valid(&session));
        let before = kept(&session);
        let mut session = place.reopen(&session).await;
        assert!(!session.session_start().await.unwrap().repair_offered);
        assert_eq!(kept(&session), before);
    });
}

/// A history as Opal keeps it, with the entries in the order of time.
fn opal_history(entries: &[&str], order: Order) -> String {
    let mut entries = entries.to_vec();
    if order == Order::NewestFirst {
        entries.reverse();
    }
    format!("[{}]", entries.join(",\n "))
}

#[test]
fn s0_13_a_result_counts_anywhere_after_its_call_in_both_storage_orders() {
    const CALL: &str =
        r#"{"role":"assistant","content":"","tool_calls":[{"call_id":"c1","name":"read","arguments":{}}],"id":"m2"}"#;
    const RESULT: &str = r#"{"role":"tool_result","call_id":"c1","content":"fn main() {}","is_error":false,"id":"m6"}"#;
    let said = |role: &str, id: &str| format!(r#"{{"role":"{role}","content":"{id}","id":"{id}"}}"#);
    let (one, two, yes, four) = (said("user", "m1"), said("user", "m3"), said("assistant", "m4"), said("user", "m7"));
    let options = Options { policy: Policy::preset("opal").unwrap(), ..Options::default() };
    for order in [Order::OldestFirst, Order::NewestFirst] {
        // Right after its call the result is where it belongs.
        let clean = opal_history(&[&one, CALL, RESULT, &yes, &four], order);
        let repaired = seamline::repair(clean.as_bytes(), &options).unwrap();
        assert!(repaired.found.is_empty() && !repaired.is_changed(), "{order:?} {:?}", repaired.found);
        // Later it still counts: it moves, and nothing is made up.
        let late = opal_history(&[&one, CALL, &two, &yes, RESULT, &four], order);
        let repaired = seamline::repair(late.as_bytes(), &options).unwrap();
        assert!(repaired.actions.iter().all(|action| !action.synthetic), "{order:?} {:?}", repaired.actions);
        let moved = opal_history(&[&one, CALL, RESULT, &two, &yes, &four], order);
        assert_eq!(String::from_utf8_lossy(&repaired.body), moved, "{order:?}");
        // Without it the call gets an error, in the place of the result.
        let lost = opal_history(&[&one, CALL, &yes], order);
        let repaired = seamline::repair(lost.as_bytes(), &options).unwrap();
        let text = String::from_utf8_lossy(&repaired.body).into_owned();
        let entries: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        let at = if order == Order::OldestFirst { 2 } else { 1 };
        assert_eq!((&entries[at]["role"], &entries[at]["is_error"]), (&"tool_result".into(), &true.into()), "{text}");
    }
    // The same bytes mean two things: what comes after a call in one order comes before it in the other.
    let stored = opal_history(&[&one, CALL, RESULT, &yes], Order::OldestFirst);
    let findings = |order| {
        let options = Options { order: Some(order), dialect: Some("opal".to_owned()), ..options.clone() };
        seamline::check(stored.as_bytes(), &options).unwrap().findings.len()
    };
    assert_eq!((findings(Order::OldestFirst), findings(Order::NewestFirst) > 0), (0, true));
}

#[test]
fn s0_23_the_system_prompt_comes_before_repaired_messages_if_there_is_one() {
    on_every_store(async |place| {
        let mut session = opal(&place).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        for system in ["", r#","system":"be brief""#] {
            let envelope = format!(r#"{{"model":"claude-sonnet-4-5","max_tokens":64{system}}}"#);
            let request = session.request(&envelope).unwrap();
            assert!(request.sendable && !request.actions.is_empty(), "{:?}", request.actions);
            let body = String::from_utf8(request.body).unwrap();
            let (before, messages) = body.split_once(r#","messages":["#).unwrap();
            assert_eq!(format!("{before}}}"), envelope);
            assert!(!messages.contains("system") && messages.starts_with(ASK), "{messages}");
        }
    });
}

#[test]
fn each_layer_alone_keeps_the_request_valid() {
    on_every_store(async |place| {
        let messages = [ASK.to_owned(), turn(&["toolu_1"]), ASK.to_owned()];
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        // Without the first layer, which repairs the stored messages, the second repairs the request.
        for (is_stored, persist) in [(false, PersistRepairs::Never), (true, PersistRepairs::All)] {
            let config =
                SessionPolicy { persist_repairs: persist, validate_before_call: is_stored, ..SessionPolicy::default() };
            let mut session = place.create_with(repairing(config)).await;
            session.append_all(&messages).await.unwrap();
            let AgentStart::Proceed { request, .. } = session.before_agent_start(ENVELOPE).await.unwrap() else {
                panic!()
            };
            assert!(request.sendable && is_valid(&session));
            assert_eq!(
                request.actions.is_empty(),
                is_stored,
                "either the stored messages or the request were repaired"
            );
        }
    });
}

#[test]
fn a_long_call_is_aborted_at_once() {
    on_every_store(async |place| {
        let mut session = opal(&place).await;
        session.append(ASK).await.unwrap();
        let calls = turn(&["toolu_1"]);
        let turn = [calls.as_str()];
        let (tools, begun) = (Endless::default(), Instant::now());
        let running = session.execute_tool_cycle(&turn, &tools, after(Duration::from_millis(20)));
        let result = assert_send(running).await.unwrap();
        // It would run for ever. A second is enough on an idle machine.
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        assert_eq!(tools.counts(), (1, 1));
        assert!(session.unresolved().is_empty() && session.messages().count() == 3);
        assert_eq!(result.error.as_deref(), Some("timed out"));
        assert!(is_valid(&session));
        assert!(session.incidents().any(|incident| incident.kind == IncidentKind::Timeout));
    });
}

/// A cycle can be moved to another thread.
fn assert_send<F: Future + Send>(future: F) -> F {
    future
}
