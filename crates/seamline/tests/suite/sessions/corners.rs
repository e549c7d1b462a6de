//! Corner cases beyond the source documents, each under its number.

use std::future::pending;

use seamline::classify::Failure;
use seamline::session::{
    AgentStart, OpenOptions, PersistRepairs, Session, SessionError, SessionPolicy, ToolCallRef, ToolOutput, TurnEnd,
};
use seamline::store::{Effect, Operation, Rejected};

use super::calls::said;
use super::faulty::{Fault, Faulty};
use super::stores::{
    ASK, ENVELOPE, Tool, asking, is_valid, kept, on_every_store, open_options, repairing, results, turn,
};

const YES: &str = r#"{"role":"assistant","content":"yes"}"#;

fn overloaded() -> Failure<'static> {
    Failure { status: Some(529), text: "Overloaded", ..Failure::default() }
}

#[test]
fn k_02_the_effects_of_tools_are_kept_when_their_response_fails() {
    on_every_store(async |place| {
        // The calls were complete and had run when the stream failed.
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        session.before_agent_start(ENVELOPE).await.unwrap();
        session.execute_tool_cycle(&[&turn(&["toolu_1"])], &Tool::saying("PAID"), pending()).await.unwrap();
        let before = kept(&session);
        session.agent_end(TurnEnd::Failed(overloaded())).await.unwrap();
        assert_eq!(kept(&session), before);
        assert!(before[2].contains("PAID") && is_valid(&session));
        // One call had run, and the other was running: the turn is rolled back, and the effects are reported.
        let calls = turn(&["toolu_2", "toolu_3"]);
        let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_2".into()).await.unwrap();
        session.finish_call(&cycle, &"toolu_2".into(), &said("PAID AGAIN")).await.unwrap();
        session.agent_end(TurnEnd::Failed(overloaded())).await.unwrap();
        assert_eq!(kept(&session), before);
        let lost = session.repair_context().lost_calls;
        assert_eq!(lost[0].returned.as_deref(), Some("PAID AGAIN"), "{lost:?}");
    });
}

#[test]
fn k_13_no_repair_is_stored_while_tools_run() {
    on_every_store(async |place| {
        let config = SessionPolicy { persist_repairs: PersistRepairs::All, ..SessionPolicy::default() };
        let mut session = place.create_with(repairing(config)).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        session.begin_cycle(&[&turn(&["toolu_2"])], &|_| Effect::Unsafe).await.unwrap();
        let (before, end) = (kept(&session), place.store.read_head(session.id()).await.unwrap());
        // A reader gets a request that can be sent, and changes nothing.
        assert!(session.request(ENVELOPE).unwrap().sendable);
        assert!(session.session_start().await.unwrap().repair_offered);
        assert_eq!(session.repair().await.unwrap_err(), SessionError::Rejected(Rejected::InFlight));
        assert_eq!((kept(&session), place.store.read_head(session.id()).await.unwrap()), (before, end));
    });
}

#[test]
fn k_28_nothing_after_an_abort_changes_stored_messages() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1", "toolu_2"])], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        assert_eq!(session.abort().await.unwrap().len(), 2);
        let (before, end) = (kept(&session), place.store.read_head(session.id()).await.unwrap());
        // A second abort, tasks that report late, and a timer that starts a call again.
        assert!(session.abort().await.unwrap().is_empty());
        assert!(session.finish_call(&cycle, &"toolu_1".into(), &said("late")).await.is_err());
        assert!(session.after_tool_call(&cycle, &"toolu_1".into(), &said("late")).await.is_err());
        assert!(session.before_tool_call(&cycle, &"toolu_2".into()).await.is_err());
        assert!(session.commit_cycle(&cycle).await.is_err());
        assert_eq!((kept(&session), place.store.read_head(session.id()).await.unwrap()), (before.clone(), end));
        // A prompt that waited is added, and a real result is added, too.
        session.append(ASK).await.unwrap();
        let call = ToolCallRef { id: "toolu_1".into(), name: "sh" };
        assert!(session.add_late_result(&call, &said("late")).await.unwrap());
        assert!(is_valid(&session) && kept(&session).len() == before.len() + 1);
    });
}

#[test]
fn k_29_a_breaker_that_ends_the_turn_leaves_no_call_without_a_result() {
    use seamline::guards::{Breaker, BreakerLimits, CallInRound, CheckedCall, Outcome, ToolSchemas};
    on_every_store(async |place| {
        let mut tools = ToolSchemas::new();
        tools.add("sh", Some(r#"{"type":"object","required":["command"]}"#)).unwrap();
        let mut breaker = Breaker::new(BreakerLimits::default());
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        for round in 1.. {
            let id = format!("toolu_{round}");
            let (cycle, calls) = session.begin_cycle(&[&turn(&[&id])], &|_| Effect::Unsafe).await.unwrap();
            let call = CallInRound { name: &calls[0].name, arguments: "{}", free: false, truncated: false };
            let (checked, stop) = breaker.handle_round(&[call], &tools);
            let CheckedCall::Refuse { text, .. } = &checked[0] else { panic!("{checked:?}") };
            let outcome = Outcome { name: call.name, arguments: call.arguments, ok: false, text };
            if stop.or(breaker.handle_outcomes(&[outcome])).is_some() {
                assert!(round > 1);
                break;
            }
            session.before_tool_call(&cycle, &calls[0].id).await.unwrap();
            session
                .after_tool_call(&cycle, &calls[0].id, &ToolOutput { output: text.clone(), is_error: true })
                .await
                .unwrap();
        }
        // The turn is over while a call is open.
        assert_eq!(session.unresolved().len(), 1);
        assert_eq!(session.abort().await.unwrap().len(), 1);
        assert!(session.validate().unwrap().valid && is_valid(&session));
        session.append(ASK).await.unwrap();
        assert!(matches!(session.before_agent_start(ENVELOPE).await.unwrap(), AgentStart::Proceed { .. }));
    });
}

#[test]
fn k_33_a_compaction_separates_no_pair_at_any_cut() {
    on_every_store(async |place| {
        let messages = [
            ASK.to_owned(),
            turn(&["toolu_1"]),
            results(&["toolu_1"]),
            turn(&["toolu_2", "toolu_3"]),
            results(&["toolu_2", "toolu_3"]),
            YES.to_owned(),
            ASK.to_owned(),
        ];
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        let summary = r#"{"role":"user","content":"so far"}"#;
        for (start, end) in (0..=7).flat_map(|start| (start..=7).map(move |end| (start, end))) {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append_all(&messages).await.unwrap();
            let range = session.before_compaction(start..end).await.unwrap();
            assert!(range.is_empty() || (range.start >= start && range.end <= end), "{start}..{end}: {range:?}");
            let done = session.finish_compaction(range.clone(), &[summary]).await.unwrap();
            assert_eq!(done.replaced, range);
            let validation = session.validate().unwrap();
            let is_paired = validation.orphaned_ids.is_empty() && validation.incomplete_ids.is_empty();
            assert!(is_paired && is_valid(&session), "{start}..{end}: {validation:?}");
            assert_eq!(session.messages().count(), 7 - range.len() + 1);
        }
    });
}

#[test]
fn k_39_a_crash_during_a_repair_leaves_it_complete_or_absent() {
    on_every_store(async |place| {
        let (mut whole, mut not_there) = (0, 0);
        for (at, after) in (0..).flat_map(|at| [(at, false), (at, true)]) {
            let config = SessionPolicy { persist_repairs: PersistRepairs::All, ..SessionPolicy::default() };
            let mut session = place.create(config.clone()).await;
            session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
            let before = kept(&session);
            let dying = Faulty::new(place.store.clone(), Fault::Dies { at, after });
            let options = OpenOptions { take_over: true, policy: Some(asking(config)), ..open_options() };
            let mended = Box::pin(async {
                let mut mends = Session::open(dying.clone(), session.id().clone(), options).await.unwrap();
                mends.repair().await.unwrap();
                mends.undo_repair().await.unwrap();
            });
            if dying.until_death(mended).await.is_some() {
                assert!(whole > 1 && not_there > 1, "{whole} {not_there}");
                break;
            }
            let mut again = place.reopen(&session).await;
            let was_there = kept(&again) != before;
            *(if was_there { &mut whole } else { &mut not_there }) += 1;
            let result = again.repair().await.unwrap();
            assert_eq!((result.repaired, again.validate().unwrap().valid), (!was_there, true), "{at} {after}");
            again.undo_repair().await.unwrap();
            assert_eq!(kept(&again), before, "the messages that it would remove are still there");
        }
    });
}

#[test]
fn k_44_the_next_turn_gets_the_lost_calls_and_the_unanswered_messages() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append_all(&[ASK, YES, ASK]).await.unwrap();
        assert!(session.repair_context().is_empty(), "nothing was lost");
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        let mut again = place.reopen(&session).await;
        let told = r#"{"role":"user","content":"are you there?"}"#;
        again.append(told).await.unwrap();
        let context = again.repair_context();
        assert_eq!(
            (context.lost_calls[0].id.as_str(), context.unanswered.as_slice()),
            ("toolu_1", [ASK.to_owned(), told.to_owned()].as_slice())
        );
        let written = serde_json::to_value(&context).unwrap();
        assert_eq!(written["lost_calls"][0]["tool"], "sh");
        again.append(YES).await.unwrap();
        assert!(again.repair_context().unanswered.is_empty(), "they have their answer");
    });
}

#[test]
fn k_47_a_failed_rollback_is_an_error_and_changes_nothing() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let made = session.create_checkpoint(Operation::ApiCall).await.unwrap();
        session.append(YES).await.unwrap();
        let fault = Fault::Fails(|| seamline::store::Error::NoSpace("disk full".to_owned()));
        let options = OpenOptions { take_over: true, ..open_options() };
        let faulty = Faulty::new(place.store.clone(), fault);
        let mut broken = Session::open(faulty, session.id().clone(), options).await.unwrap();
        assert!(broken.rollback(&made.id, "test").await.is_err());
        let filtered = seamline::classify::Failure {
            status: Some(200),
            text: r#"{"content":[],"stop_reason":"refusal"}"#,
            ..Default::default()
        };
        assert!(broken.handle_error(&filtered).await.is_err(), "it is not said to have been rolled back");
        assert_eq!(
            (kept(&broken), broken.latest_checkpoint().map(|found| found.id)),
            (vec![ASK.to_owned(), YES.to_owned()], Some(made.id.clone()))
        );
        let mut session = place.reopen(&session).await;
        session.rollback(&made.id, "test").await.unwrap();
        assert_eq!(kept(&session), [ASK]);
    });
}
