//! Stopped tools, and tools that crash unexpectedly.

use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use futures_util::future::poll_fn;
use seamline::session::{Running, SessionPolicy, Stop, ToolCall, ToolExecutor, ToolOutput};
use seamline::store::Effect;

use super::stores::{ASK, Tool, is_valid, on_every_store, turn};

/// A stop that comes after two tools have started.
pub(super) fn once_begun() -> impl Future<Output = Stop> + Send {
    let mut asked = 0;
    poll_fn(move |context| {
        asked += 1;
        context.waker().wake_by_ref();
        if asked > 3 { Poll::Ready(Stop::Aborted) } else { Poll::Pending }
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
            let result = session.execute_tool_cycle(&[&calls], &tool, ready(Stop::Aborted)).await.unwrap();
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
                poll_fn(|_| if stopped.load(Ordering::Relaxed) { Poll::Ready(Stop::Aborted) } else { Poll::Pending });
            let calls = turn(&["toolu_1", "toolu_2"]);
            let result = session.execute_tool_cycle(&[&calls], &tool, stop).await.unwrap();
            assert_eq!(tool.runs(), 1);
            assert_eq!((result.outcomes[0].content.as_str(), result.outcomes[1].synthetic), ("PAID", true));
        }
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
    });
}

#[test]
fn a_rerun_call_with_too_large_a_result_does_not_keep_its_cycle_open() {
    let place = super::stores::memory();
    futures_executor::block_on(async {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Idempotent).await.unwrap();
        session.before_tool_call(&cycle, "toolu_1").await.unwrap();
        let tool = Tool { effect: Effect::Idempotent, ..Tool::saying(&"x".repeat(101 * 1024 * 1024)) };
        let recovered = session.recover(Some(&tool)).await.unwrap();
        assert_eq!((recovered.cycles, recovered.run_again, tool.runs()), (1, 1, 1));
        assert!(session.state().cycles.is_empty() && session.messages().last().unwrap().contains("[tool failed]"));
        assert_eq!(session.recover(Some(&tool)).await.unwrap().cycles, 0);
    });
}
