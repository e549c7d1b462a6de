//! Where a conversation may be cut, and what may happen during a compaction.

use std::future::pending;

use seamline::session::{OpenOptions, Session, SessionPolicy};
use seamline::store::{Effect, InboxItem, Raw};

use super::asking::in_dialect;
use super::faulty::{Fault, Faulty};
use super::stores::{ASK, ENVELOPE, Place, Tool, kept, on_every_store, open_options, results, turn};

const SUMMARY: &str = r#"{"role":"user","content":"so far: nothing"}"#;

#[test]
fn messages_during_a_compaction_survive_a_crash() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append_all(&[ASK, ASK]).await.unwrap();
        session.before_compaction(0..1).await.unwrap();
        session.append(SUMMARY).await.unwrap();
        let mut again = place.reopen(&session).await;
        assert_eq!(kept(&again), [ASK, ASK, SUMMARY]);
        again.before_agent_start(ENVELOPE).await.unwrap();
        assert_eq!(again.latest_checkpoint().unwrap().messages, 3, "the compaction is over");
    });
}

#[test]
fn an_error_during_a_compaction_removes_no_message_that_arrived_meanwhile() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append_all(&[ASK, ASK]).await.unwrap();
        let range = session.before_compaction(0..1).await.unwrap();
        session.append(ASK).await.unwrap();
        let failure = seamline::classify::Failure { status: Some(529), text: "Overloaded", ..Default::default() };
        session.handle_error(&failure).await.unwrap();
        assert_eq!(kept(&session), [ASK, ASK, ASK]);
        session.finish_compaction(range, &[SUMMARY]).await.unwrap();
        assert_eq!(kept(&session), [SUMMARY, ASK, ASK]);
    });
}

/// Whether everything is possible that a running compaction prevents.
async fn is_usable(place: &Place, session: &mut Session) {
    let item = InboxItem { id: "i-1".into(), message: Raw::parse(ASK).unwrap(), dialect: None };
    place.store.push(session.id(), &item).await.unwrap();
    assert_eq!(session.take_inbox().await.unwrap(), 1);
    let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
    session.roll_back_cycle(&cycle, "test").await.unwrap();
    let range = session.before_compaction(0..1).await.unwrap();
    session.finish_compaction(range, &[SUMMARY]).await.unwrap();
    assert_eq!(kept(session)[0], SUMMARY);
}

#[test]
fn a_session_can_be_used_after_every_error_of_a_compaction() {
    on_every_store(async |place| {
        for waiting in [0, 2] {
            for how in ["begin", "finish", "finish badly", "cancel", "asking", "a filter"] {
                let made = place.create(SessionPolicy::default()).await;
                // The messages and the checkpoint are stored first, and then the waiting messages, if there are any.
                let at = if how == "begin" { 1 } else { 2 + waiting };
                let faulty = Faulty::new(place.store.clone(), Fault::FailsOnce { at });
                let options = OpenOptions { take_over: true, ..open_options() };
                let mut session = Session::open(faulty, made.id().clone(), options).await.unwrap();
                session.append_all(&[ASK, ASK]).await.unwrap();
                let range = session.before_compaction(0..1).await;
                assert_eq!(range.is_err(), how == "begin");
                let meanwhile: Vec<String> =
                    (0..waiting).map(|number| format!(r#"{{"role":"user","content":"{number}"}}"#)).collect();
                for message in &meanwhile {
                    session.append(message).await.unwrap();
                }
                let failure =
                    |status, text| seamline::classify::Failure { status: Some(status), text, ..Default::default() };
                match how {
                    "begin" => {}
                    "finish" => assert!(session.finish_compaction(0..1, &[SUMMARY]).await.is_err()),
                    "finish badly" => assert!(session.finish_compaction(0..1, &["no json"]).await.is_err()),
                    "cancel" => assert!(session.cancel_compaction().await.is_err()),
                    // The error itself could not be stored, either.
                    "asking" => assert!(session.handle_error(&failure(529, "Overloaded")).await.is_err()),
                    _ => {
                        let refused = failure(200, r#"{"content":[],"stop_reason":"refusal"}"#);
                        assert!(session.handle_error(&refused).await.is_err());
                        session.handle_error(&refused).await.unwrap();
                    }
                }
                assert_eq!(kept(&session)[2..], meanwhile, "{how}: nothing is lost");
                is_usable(&place, &mut session).await;
                assert_eq!(session.messages().count(), 3 + waiting, "{how}");
            }
        }
    });
}

#[test]
fn a_provider_error_cancels_a_compaction_with_and_without_waiting_messages() {
    on_every_store(async |place| {
        for waiting in [false, true] {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append_all(&[ASK, ASK]).await.unwrap();
            session.before_compaction(0..1).await.unwrap();
            if waiting {
                session.append(ASK).await.unwrap();
            }
            let failure = seamline::classify::Failure { status: Some(529), text: "Overloaded", ..Default::default() };
            session.handle_error(&failure).await.unwrap();
            assert_eq!(session.messages().count(), 2 + usize::from(waiting));
            is_usable(&place, &mut session).await;
        }
    });
}

#[test]
fn no_calls_run_during_a_compaction() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append_all(&[ASK, ASK]).await.unwrap();
        let range = session.before_compaction(0..1).await.unwrap();
        let tool = Tool::saying("ran");
        assert!(session.execute_tool_cycle(&[&turn(&["toolu_1"])], &tool, pending()).await.is_err());
        assert!(session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.is_err() && tool.runs() == 0);
        session.finish_compaction(range, &[SUMMARY]).await.unwrap();
        session.execute_tool_cycle(&[&turn(&["toolu_1"])], &tool, pending()).await.unwrap();
    });
}

#[test]
fn only_a_started_compaction_can_be_finished() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append_all(&[ASK, ASK, ASK]).await.unwrap();
        assert!(session.finish_compaction(0..1, &[SUMMARY]).await.is_err(), "none was begun");
        session.before_compaction(0..1).await.unwrap();
        assert!(session.finish_compaction(0..2, &[SUMMARY]).await.is_err());
        // The messages have changed.
        let made = session.create_checkpoint(seamline::store::Operation::Manual).await.unwrap();
        let range = session.before_compaction(0..3).await.unwrap();
        session.rollback(&made.id, "test").await.unwrap();
        session.reset(seamline::session::ResetOptions::default()).await.unwrap();
        assert!(session.finish_compaction(range, &[SUMMARY]).await.is_err());
    });
}

#[test]
fn calls_without_ids_stay_with_their_results() {
    on_every_store(async |place| {
        let mut session = in_dialect(&place, "gemini_generate").await;
        let messages = [
            r#"{"role":"user","parts":[{"text":"go"}]}"#,
            r#"{"role":"model","parts":[{"functionCall":{"name":"a","args":{}}},{"functionCall":{"name":"a","args":{}}}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"name":"a","response":{}}},{"functionResponse":{"name":"a","response":{}}}]}"#,
            r#"{"role":"model","parts":[{"text":"done"}]}"#,
        ];
        session.append_all(&messages).await.unwrap();
        for (asked, given) in [(0..2, 0..1), (2..4, 3..4), (0..3, 0..3)] {
            assert_eq!(session.before_compaction(asked.clone()).await.unwrap(), given, "{asked:?}");
            session.cancel_compaction().await.unwrap();
        }
    });
}

#[test]
fn an_unanswered_call_does_not_block_a_compaction_and_one_at_the_end_stays() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        let (lost, twice) = (turn(&["toolu_lost"]), turn(&["toolu_1", "toolu_1"]));
        let half = results(&["toolu_1"]);
        session.append_all(&[ASK, &lost, ASK, &twice, &half, &half, ASK, &turn(&["toolu_2"])]).await.unwrap();
        for (asked, given) in [(0..3, 0..3), (0..5, 0..3), (0..6, 0..6), (0..8, 0..7)] {
            assert_eq!(session.before_compaction(asked.clone()).await.unwrap(), given, "{asked:?}");
            session.cancel_compaction().await.unwrap();
        }
    });
}

#[test]
fn a_range_inside_a_cycle_becomes_empty_and_moves_before_it() {
    on_every_store(async |place| {
        let mut session = in_dialect(&place, "openai_chat").await;
        let call =
            |id: &str| format!(r#"{{"id":"{id}","type":"function","function":{{"name":"sh","arguments":"{{}}"}}}}"#);
        let calls = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{},{}]}}"#, call("a"), call("b"));
        let result = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"ok"}}"#);
        session.append_all(&[ASK, &calls, &result("a"), &result("b"), ASK]).await.unwrap();
        for (asked, given) in [(2..3, 1..1), (2..2, 1..1), (3..3, 1..1), (2..4, 4..4), (1..3, 1..1)] {
            assert_eq!(session.before_compaction(asked.clone()).await.unwrap(), given, "{asked:?}");
            session.cancel_compaction().await.unwrap();
        }
        let range = session.before_compaction(2..3).await.unwrap();
        session.finish_compaction(range, &[SUMMARY]).await.unwrap();
        assert!(session.validate().unwrap().valid, "{:?}", kept(&session));
    });
}

#[test]
fn a_compaction_without_new_messages_may_be_finished_after_an_error() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append_all(&[ASK, ASK]).await.unwrap();
        let range = session.before_compaction(0..1).await.unwrap();
        let failure = seamline::classify::Failure { status: Some(529), text: "Overloaded", ..Default::default() };
        session.handle_error(&failure).await.unwrap();
        session.finish_compaction(range, &[SUMMARY]).await.unwrap();
        assert_eq!(kept(&session), [SUMMARY, ASK], "{}", place.name);
    });
}

#[test]
fn a_compaction_must_leave_a_message() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append_all(&[ASK, ASK]).await.unwrap();
        let range = session.before_compaction(0..2).await.unwrap();
        session.finish_compaction(range, &[]).await.unwrap_err();
        assert_eq!(kept(&session), [ASK, ASK], "{}", place.name);
        let range = session.before_compaction(0..1).await.unwrap();
        session.finish_compaction(range, &[]).await.unwrap();
        assert_eq!(kept(&session), [ASK], "messages may be left out");
    });
}
