//! Stopped tools, and tools that crash unexpectedly.

use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;

use futures_util::future::poll_fn;
use seamline::session::{OnFailure, Running, SessionPolicy, StopCause, ToolCall, ToolExecutor, ToolOutput};
use seamline::store::{Effect, OpenedCommit, Origin, Record};

use super::stores::{ASK, Tool, is_valid, on_every_store, turn};

/// A stop that comes after two tools have started.
pub(super) fn once_begun() -> impl Future<Output = StopCause> + Send {
    let mut asked = 0;
    poll_fn(move |context| {
        asked += 1;
        context.waker().wake_by_ref();
        if asked > 3 { Poll::Ready(StopCause::Aborted) } else { Poll::Pending }
    })
}

#[test]
fn an_earlier_stop_lets_no_tool_start() {
    on_every_store(async |place| {
        for enabled in [true, false] {
            let mut session = place.create(SessionPolicy { enabled, ..SessionPolicy::default() }).await;
            session.append(ASK).await.unwrap();
            let tool = Tool::saying("PAID");
            let calls = turn(&["toolu_1", "toolu_2"]);
            let result = session.execute_tool_cycle(&[&calls], &tool, ready(StopCause::Aborted)).await.unwrap();
            assert_eq!(tool.runs(), 0);
            assert!(!result.success && result.outcomes.iter().all(|outcome| outcome.synthetic));
            assert!(is_valid(&session));
        }
    });
}

#[test]
fn a_stop_by_a_tool_lets_no_other_start_and_keeps_finished_results() {
    on_every_store(async |place| {
        for enabled in [true, false] {
            let mut session = place.create(SessionPolicy { enabled, ..SessionPolicy::default() }).await;
            session.append(ASK).await.unwrap();
            let stopped = Arc::new(AtomicBool::new(false));
            let stops = stopped.clone();
            let tool = Tool::doing(move |_| {
                stops.store(true, Ordering::Relaxed);
                Ok(ToolOutput { output: "PAID".to_owned(), is_error: false })
            });
            let stop =
                poll_fn(
                    |_| if stopped.load(Ordering::Relaxed) { Poll::Ready(StopCause::Aborted) } else { Poll::Pending },
                );
            let calls = turn(&["toolu_1", "toolu_2"]);
            let result = session.execute_tool_cycle(&[&calls], &tool, stop).await.unwrap();
            assert_eq!(tool.runs(), 1);
            assert_eq!((result.outcomes[0].content.as_str(), result.outcomes[1].synthetic), ("PAID", true));
        }
    });
}

/// The first call is done when it is polled a second time, and brings about the stop. The others note whether they begin
/// after it.
#[derive(Default)]
struct StopsLate {
    stopped: AtomicBool,
    begun_late: AtomicBool,
}

impl ToolExecutor for StopsLate {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> Running<'a> {
        let output = ToolOutput { output: "PAID".to_owned(), is_error: false };
        if call.id != *"toolu_1" {
            self.begun_late.fetch_or(self.stopped.load(Ordering::Relaxed), Ordering::Relaxed);
            return Box::pin(pending());
        }
        let mut asked = 0;
        Box::pin(poll_fn(move |context| {
            asked += 1;
            context.waker().wake_by_ref();
            if asked == 1 {
                return Poll::Pending;
            }
            self.stopped.store(true, Ordering::Relaxed);
            Poll::Ready(Ok(output.clone()))
        }))
    }
}

#[test]
fn a_call_that_waits_behind_a_finished_one_does_not_begin_after_the_stop() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let tool = StopsLate::default();
        let stop =
            poll_fn(
                |_| if tool.stopped.load(Ordering::Relaxed) { Poll::Ready(StopCause::Aborted) } else { Poll::Pending },
            );
        let calls = turn(&["toolu_1", "toolu_2", "toolu_3"]);
        let result = session.execute_tool_cycle(&[&calls], &tool, stop).await.unwrap();
        assert!(!tool.begun_late.load(Ordering::Relaxed), "a tool began after the stop");
        assert_eq!((result.outcomes[0].content.as_str(), result.outcomes[1].synthetic), ("PAID", true));
    });
}

struct CrashesWhenAsked;

impl ToolExecutor for CrashesWhenAsked {
    fn effect(&self, _call: &ToolCall) -> Effect {
        panic!("the cycle must catch this panic")
    }

    fn execute<'a>(&'a self, _call: &'a ToolCall) -> Running<'a> {
        Box::pin(async { Ok(ToolOutput { output: "ok".to_owned(), is_error: false }) })
    }
}

#[test]
fn a_tool_that_panics_when_asked_for_its_effect_counts_as_unsafe() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let result = session.execute_tool_cycle(&[&turn(&["toolu_1"])], &CrashesWhenAsked, pending()).await.unwrap();
        assert!(result.success && is_valid(&session));
        let commits = place.store.read(session.id(), 0, usize::MAX).await.unwrap();
        let commits = commits.iter().map(|commit| OpenedCommit::open(&commit.bytes).unwrap());
        let records: Vec<Record> = commits.flat_map(|commit| commit.records).collect();
        let effects = records.iter().filter_map(|record| match record {
            Record::Turn(turn) => Some(turn.calls[0].effect),
            _ => None,
        });
        assert_eq!(effects.collect::<Vec<_>>(), [Effect::Unsafe]);
        assert!(records.iter().any(|record| matches!(record, Record::Intent(_))), "no intent is durable");
    });
}

#[test]
fn a_rerun_call_with_too_large_a_result_does_not_keep_its_cycle_open() {
    let place = super::stores::memory();
    futures_executor::block_on(async {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Idempotent).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        let tool = Tool { effect: Effect::Idempotent, ..Tool::saying(&"x".repeat(101 * 1024 * 1024)) };
        let recovered = session.recover_with(&tool).await.unwrap();
        assert_eq!((recovered.cycles, recovered.run_again, tool.runs()), (1, 1, 1));
        assert!(session.state().cycles.is_empty());
        let result = session.messages().last().unwrap();
        assert!(result.contains("[synthetic] [result truncated]") && !result.contains("[tool failed]"));
        assert_eq!(session.recover_with(&tool).await.unwrap().cycles, 0);
    });
}

#[test]
fn a_result_that_is_too_large_is_not_the_failure_of_its_tool() {
    let place = super::stores::memory();
    futures_executor::block_on(async {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let tool = Tool::saying(&format!("PAID {}", "x".repeat(101 * 1024 * 1024)));
        let calls = turn(&["toolu_1", "toolu_2"]);
        let result = session.execute_tool_cycle(&[&calls], &tool, pending()).await.unwrap();
        assert!(!result.rolled_back && tool.runs() == 2, "{:?}", result.error);
        for outcome in &result.outcomes {
            let text = &outcome.content;
            assert!(outcome.synthetic && !outcome.is_error, "{}", &text[..200]);
            assert!(
                text.starts_with("[synthetic] [result truncated] ") && text.contains("PAID xxx"),
                "{}",
                &text[..200]
            );
            assert!(text.len() < 100 * 1024 && text.contains("105906181 bytes"), "{}", &text[..400]);
        }
        assert_eq!(session.entries().last().unwrap().origin, Origin::Synthetic);
    });
}

/// One call fails, and the other is done in the same poll as the stop.
struct BothDone {
    polls: AtomicUsize,
}

impl ToolExecutor for BothDone {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> Running<'a> {
        let is_error = call.id == "toolu_1";
        let output = ToolOutput { output: format!("did {}", call.id), is_error };
        Box::pin(poll_fn(move |context| {
            context.waker().wake_by_ref();
            let is_done = self.polls.fetch_add(1, Ordering::Relaxed) >= 2;
            if is_done { Poll::Ready(Ok(output.clone())) } else { Poll::Pending }
        }))
    }
}

#[test]
fn a_failure_keeps_the_results_that_were_done_together_with_it() {
    on_every_store(async |place| {
        let config = SessionPolicy { on_tool_error: OnFailure::Rollback, ..SessionPolicy::default() };
        let mut session = place.create(config).await;
        session.append(ASK).await.unwrap();
        let tool = BothDone { polls: AtomicUsize::new(0) };
        let stop = poll_fn(|_| {
            let is_begun = tool.polls.load(Ordering::Relaxed) >= 2;
            if is_begun { Poll::Ready(StopCause::Aborted) } else { Poll::Pending }
        });
        let calls = turn(&["toolu_1", "toolu_2"]);
        let result = session.execute_tool_cycle(&[&calls], &tool, stop).await.unwrap();
        assert!(result.rolled_back, "{result:?}");
        let lost = session.repair_context().lost_calls;
        let returned: Vec<_> = lost.iter().map(|call| (call.id.as_str(), call.returned.as_deref())).collect();
        assert_eq!(returned[1], ("toolu_2", Some("did toolu_2")), "{returned:?}");
    });
}
