//! No error removes the messages that the user sends while a request is in flight.

use std::future::pending;

use seamline::classify::Failure;
use seamline::session::{RecoveryAction, Session, SessionOptions, SessionPolicy, TurnEnd};
use seamline::store::{Effect, InboxItem, IncidentKind, Operation, Raw};

use super::stores::{ASK, ENVELOPE, Tool, kept, memory, on_every_store, turn};

const STOP: &str = r#"{"role":"user","content":"STOP, do not pay"}"#;
const HELLO: &str = r#"{"role":"assistant","content":"hello"}"#;

fn failures() -> [Failure<'static>; 3] {
    let failure = |status, text| Failure { status: Some(status), text, ..Failure::default() };
    [
        failure(429, r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#),
        failure(401, r#"{"error":{"message":"invalid api key"}}"#),
        failure(200, r#"{"content":[],"stop_reason":"refusal"}"#),
    ]
}

#[test]
fn messages_during_a_request_survive_every_error() {
    on_every_store(async |place| {
        for failure in failures() {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append(ASK).await.unwrap();
            session.before_agent_start(ENVELOPE).await.unwrap();
            // A partial response is rolled back; the messages before and after it are not.
            session.append(STOP).await.unwrap();
            session.append(HELLO).await.unwrap();
            let item = InboxItem { id: "i-1".into(), message: Raw::parse(STOP).unwrap(), dialect: None };
            place.store.push(session.id(), &item).await.unwrap();
            assert_eq!(session.take_inbox().await.unwrap(), 1);
            let end = session.agent_end(TurnEnd::Failed(failure)).await.unwrap();
            let seamline::session::AgentEnd::Recovered(recovery) = end else { panic!("{end:?}") };
            assert_eq!(recovery.action, RecoveryAction::RolledBack);
            assert!(recovery.message.ends_with("Rolled back 1 messages."), "{}", recovery.message);
            assert_eq!(kept(&session), [ASK, STOP, STOP]);
            let rollback = session.incidents().find(|incident| incident.kind == IncidentKind::Rollback).unwrap();
            assert_eq!(rollback.count, 1);
            for _ in 0..3 {
                session.handle_error(&failure).await.unwrap();
                assert_eq!(kept(&session), [ASK, STOP, STOP]);
            }
            assert_eq!(kept(&place.reopen(&session).await), [ASK, STOP, STOP]);
        }
    });
}

#[test]
fn results_of_a_rolled_back_turn_are_removed_with_it() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        session.before_agent_start(ENVELOPE).await.unwrap();
        let results = super::stores::results(&["toolu_1"]);
        session.append_all(&[&turn(&["toolu_1"]), &results, STOP]).await.unwrap();
        session.handle_error(&failures()[0]).await.unwrap();
        assert_eq!(kept(&session), [ASK, STOP]);
    });
}

#[test]
fn an_error_does_not_roll_back_past_the_user_to_a_manual_checkpoint() {
    on_every_store(async |place| {
        for failure in failures() {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append_all(&[ASK, HELLO]).await.unwrap();
            let manual = session.create_checkpoint(Operation::Manual).await.unwrap();
            session.append(STOP).await.unwrap();
            session.before_agent_start(ENVELOPE).await.unwrap();
            for _ in 0..3 {
                session.handle_error(&failure).await.unwrap();
                assert_eq!(kept(&session), [ASK, HELLO, STOP]);
            }
            session.rollback(&manual.id, "by name").await.unwrap();
            assert_eq!(kept(&session), [ASK, HELLO]);
        }
    });
}

#[test]
fn results_do_not_count_as_unanswered_messages_of_the_user() {
    futures_executor::block_on(async {
        let turns = [
            (
                "anthropic_messages",
                r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"sh","input":{}}]}"#,
            ),
            ("gemini_generate", r#"{"role":"model","parts":[{"functionCall":{"name":"sh","args":{}}}]}"#),
            (
                "bedrock_converse",
                r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"sh","input":{}}}]}"#,
            ),
            (
                "openai_chat",
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"sh","arguments":"{}"}}]}"#,
            ),
            ("openai_responses", r#"{"type":"function_call","call_id":"a","name":"sh","arguments":"{}"}"#),
        ];
        for (dialect, turn) in turns {
            let place = memory();
            let options = SessionOptions { dialect: Some(dialect.to_owned()), ..SessionOptions::default() };
            let id = place.name().parse().unwrap();
            let mut session = Session::create(place.store.clone(), id, options).await.unwrap();
            let user = match dialect {
                "gemini_generate" => r#"{"role":"user","parts":[{"text":"wait"}]}"#,
                "bedrock_converse" => r#"{"role":"user","content":[{"text":"wait"}]}"#,
                _ => r#"{"role":"user","content":"wait"}"#,
            };
            session.append(user).await.unwrap();
            session.execute_tool_cycle(&[turn], &Tool::saying("done"), pending()).await.unwrap();
            session.append(user).await.unwrap();
            let (cycle, _) = session.begin_cycle(&[turn], &|_| Effect::Unsafe).await.unwrap();
            session.roll_back_cycle(&cycle, "test").await.unwrap();
            assert_eq!(session.repair_context().unanswered, [user], "{dialect}");
        }
    });
}
