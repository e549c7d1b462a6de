//! The calls and messages that an aborted turn left, for the next turn.

use std::future::pending;

use seamline::session::{
    LostCall, OpenOptions, RepairContext, Session, SessionPolicy, StopCause, ToolOutput, UnknownOutcome,
};
use seamline::store::Effect;

use super::calls::{FirstOnly, said};
use super::faulty::{Fault, Faulty};
use super::stopping::once_begun;
use super::stores::{ASK, Place, Tool, asking, memory, on_every_store, open_options, turn};

fn lost(context: &RepairContext) -> Vec<&str> {
    context.lost_calls.iter().map(|call| call.id.as_str()).collect()
}

#[test]
fn an_abort_or_a_timeout_names_the_calls_and_messages_that_it_left() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let calls = turn(&["toolu_1", "toolu_2"]);
        let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        session.finish_call(&cycle, &"toolu_1".into(), &said("first")).await.unwrap();
        session.abort().await.unwrap();
        let context = session.repair_context();
        assert_eq!((lost(&context), context.unanswered.as_slice()), (vec!["toolu_2"], &[ASK.to_owned()][..]));
        session.abort().await.unwrap();
        assert_eq!(session.repair_context(), context, "no call is reported twice");

        let calls = turn(&["toolu_1", "toolu_3"]);
        session.execute_tool_cycle(&[&calls], &FirstOnly, once_begun()).await.unwrap();
        assert_eq!(lost(&session.repair_context()), ["toolu_2", "toolu_3"]);
        let calls = turn(&["toolu_4"]);
        session
            .execute_tool_cycle(&[&calls], &Tool::saying("ok"), std::future::ready(StopCause::TimedOut))
            .await
            .unwrap();
        assert_eq!(lost(&session.repair_context()), ["toolu_2", "toolu_3", "toolu_4"]);
        session.execute_tool_cycle(&[&turn(&["toolu_5"])], &Tool::saying("ok"), pending()).await.unwrap();
        assert_eq!(session.repair_context().lost_calls.len(), 3, "an answered call is not lost");
        session.append(r#"{"role":"assistant","content":"done"}"#).await.unwrap();
        assert!(session.repair_context().unanswered.is_empty());
    });
}

/// A session that a crash left with a finished call and one with an unknown outcome.
async fn crashed(place: &Place) -> Session {
    let mut session = place.create(SessionPolicy::default()).await;
    session.append(ASK).await.unwrap();
    let calls = turn(&["toolu_1", "toolu_2"]);
    let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::Unsafe).await.unwrap();
    session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
    session.finish_call(&cycle, &"toolu_1".into(), &said("first")).await.unwrap();
    session.before_tool_call(&cycle, &"toolu_2".into()).await.unwrap();
    session
}

#[test]
fn lost_calls_that_could_not_be_recorded_are_reported_later() {
    futures_executor::block_on(async {
        for unknown_outcome in [UnknownOutcome::Annotate, UnknownOutcome::Forget] {
            let place = memory();
            let id = crashed(&place).await.id().clone();
            let full = Faulty::new(place.store.clone(), Fault::FailsOnce { at: 0 });
            let config = SessionPolicy { unknown_outcome, ..SessionPolicy::default() };
            let options =
                OpenOptions { take_over: true, recover: false, policy: Some(asking(config)), ..open_options() };
            let mut session = Session::open(full, id, options).await.unwrap();
            session.recover().await.unwrap_err();
            assert!(session.repair_context().is_empty(), "nothing has happened yet");
            session.recover().await.unwrap();
            let context = session.repair_context();
            let wanted: &[&str] =
                if unknown_outcome == UnknownOutcome::Forget { &["toolu_1", "toolu_2"] } else { &["toolu_2"] };
            assert_eq!(lost(&context), wanted);
        }
    });
}

#[test]
fn the_list_of_lost_calls_is_bounded() {
    futures_executor::block_on(async {
        let place = memory();
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        for number in 0..150 {
            let id = format!("toolu_{number}");
            let (cycle, _) = session.begin_cycle(&[&turn(&[&id])], &|_| Effect::ReadOnly).await.unwrap();
            if number == 149 {
                let long = ToolOutput { output: "ä".repeat(100_000), is_error: false };
                session.finish_call(&cycle, &id.as_str().into(), &long).await.unwrap();
            }
            session.roll_back_cycle(&cycle, "test").await.unwrap();
        }
        let context = session.repair_context();
        assert_eq!((context.lost_calls.len(), context.lost_before), (100, 50));
        let LostCall { id, returned, .. } = &context.lost_calls[99];
        let returned = returned.as_deref().unwrap();
        assert!(id == "toolu_149" && returned.len() < 70_000 && returned.starts_with('ä'), "{}", returned.len());
        assert!(returned.ends_with("[… 134464 more bytes]"), "{}", &returned[returned.len() - 40..]);
        assert_eq!(session.take_repair_context(), context);
        assert!(session.repair_context().is_empty(), "a context that was taken is empty");
    });
}
