//! The messages that an error does not remove, and the texts about calls that the user did not abort.

use std::future::ready;

use seamline::classify::Failure;
use seamline::session::{
    AgentStart, PersistRepairs, RecoveryAction, Session, SessionPolicy, StopCause, ToolCallRef, ToolOutput,
};
use seamline::store::{Effect, IncidentKind, Operation};

use super::faulty::{Fault, Faulty};
use super::stores::{ASK, ENVELOPE, Place, Tool, is_valid, kept, on_every_store, turn};

const HALF: &str = r#"{"role":"assistant","content":"half an"}"#;
const ORPHAN: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_9","content":"lost"},{"type":"text","text":"and now?"}]}"#;

fn overloaded() -> Failure<'static> {
    Failure { status: Some(529), text: r#"{"type":"error","error":{"type":"overloaded_error"}}"#, ..Failure::default() }
}

fn refused() -> Failure<'static> {
    let text = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."}}"#;
    Failure { status: Some(400), text, ..Failure::default() }
}

/// A session with a call whose outcome is unknown, and a request in flight.
async fn unknown_and_asked(place: &Place) -> Session {
    let mut session = place.create(SessionPolicy::default()).await;
    session.append(ASK).await.unwrap();
    let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
    session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
    let mut session = place.reopen(&session).await;
    session.append(ASK).await.unwrap();
    let AgentStart::Proceed { .. } = session.before_agent_start(ENVELOPE).await.unwrap() else { panic!("it is whole") };
    session
}

#[test]
fn a_late_result_stays_when_the_provider_fails() {
    on_every_store(async |place| {
        for half in [false, true] {
            let mut session = unknown_and_asked(&place).await;
            let output = ToolOutput { output: "paid".to_owned(), is_error: false };
            assert!(session.add_late_result(&ToolCallRef { id: "toolu_1".into(), name: "sh" }, &output).await.unwrap());
            let before = kept(&session);
            if half {
                session.append(HALF).await.unwrap();
            }
            let recovery = session.handle_error(&overloaded()).await.unwrap();
            assert_eq!(recovery.action, RecoveryAction::RolledBack);
            assert!(recovery.message.ends_with(&format!("Rolled back {} messages.", u8::from(half))), "{recovery:?}");
            assert_eq!(kept(&session), before, "{}", place.name);
            assert!(before[2].contains("paid") && is_valid(&session));
            assert_eq!(kept(&place.reopen(&session).await), before);
        }
    });
}

#[test]
fn a_repair_stays_when_the_provider_fails_and_duplicates_nothing() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        for message in [ASK, HALF, ORPHAN] {
            session.append(message).await.unwrap();
        }
        session.create_checkpoint(Operation::ApiCall).await.unwrap();
        let recovery = session.handle_error(&refused()).await.unwrap();
        assert_eq!(recovery.action, RecoveryAction::Repaired);
        let repaired = kept(&session);
        session.append(HALF).await.unwrap();
        session.append(ASK).await.unwrap();
        let recovery = session.handle_error(&overloaded()).await.unwrap();
        assert_eq!(recovery.action, RecoveryAction::RolledBack);
        let mut expected = repaired;
        expected.push(ASK.to_owned());
        assert_eq!(kept(&session), expected, "{}", place.name);
        assert_eq!(session.handle_error(&overloaded()).await.unwrap().action, RecoveryAction::Escalate);
        assert_eq!(kept(&place.reopen(&session).await), expected);
    });
}

#[test]
fn no_error_rolls_back_to_a_manual_checkpoint_before_a_late_result() {
    on_every_store(async |place| {
        let mut session = unknown_and_asked(&place).await;
        session.create_checkpoint(Operation::Manual).await.unwrap();
        let output = ToolOutput { output: "paid".to_owned(), is_error: false };
        assert!(session.add_late_result(&ToolCallRef { id: "toolu_1".into(), name: "sh" }, &output).await.unwrap());
        let before = kept(&session);
        session.handle_error(&overloaded()).await.unwrap();
        assert_eq!(kept(&session), before, "{}", place.name);
    });
}

#[test]
fn a_refusal_without_a_known_repair_is_escalated() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        for _ in 0..2 {
            session.before_agent_start(ENVELOPE).await.unwrap();
            let recovery = session.handle_error(&refused()).await.unwrap();
            assert_eq!(recovery.action, RecoveryAction::Escalate, "{}", recovery.message);
            assert!(recovery.message.ends_with("and no repair is known that would help."), "{}", recovery.message);
            assert_eq!(kept(&session), [ASK]);
        }
    });
}

#[test]
fn calls_that_were_never_started_are_reported_as_not_started() {
    on_every_store(async |place| {
        for enabled in [true, false] {
            let mut session = place.create(SessionPolicy { enabled, ..SessionPolicy::default() }).await;
            session.append(ASK).await.unwrap();
            let tool = Tool::saying("done");
            let calls = turn(&["toolu_1", "toolu_2"]);
            let result = session.execute_tool_cycle(&[&calls], &tool, ready(StopCause::Aborted)).await.unwrap();
            assert_eq!(tool.runs(), 0);
            for outcome in result.outcomes {
                assert!(outcome.content.contains("[not executed]"), "{}: {}", place.name, outcome.content);
            }
            assert!(is_valid(&session));
        }
    });
}

#[test]
fn a_store_failure_is_not_reported_as_an_abort() {
    let place = super::stores::memory();
    futures_executor::block_on(async {
        // The first record, a message and the turn with its intents are stored; the first result is not.
        let failing = Faulty::new(place.store.clone(), Fault::FailsOnce { at: 3 });
        let options = seamline::session::SessionOptions::default();
        let mut session = Session::create(failing, place.name().parse().unwrap(), options).await.unwrap();
        session.append(ASK).await.unwrap();
        let calls = turn(&["toolu_1", "toolu_2"]);
        session.execute_tool_cycle(&[&calls], &Tool::saying("done"), std::future::pending()).await.unwrap_err();
        session.before_agent_start(ENVELOPE).await.unwrap();
        let all = kept(&session).concat();
        assert!(!all.contains("aborted") && all.contains("[outcome unknown]"), "{all}");
        assert!(session.incidents().all(|incident| incident.kind != IncidentKind::Aborted));
        assert!(is_valid(&session));
    });
}

#[test]
fn findings_without_an_error_are_repaired_only_as_far_as_repairs_are_stored() {
    on_every_store(async |place| {
        let config = SessionPolicy { persist_repairs: PersistRepairs::Never, ..SessionPolicy::default() };
        let mut session = place.create(config).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        let before = kept(&session);
        let failure = Failure { status: Some(401), text: "invalid x-api-key", ..Failure::default() };
        let recovery = session.handle_error(&failure).await.unwrap();
        assert_eq!((recovery.action, kept(&session)), (RecoveryAction::Escalate, before), "{}", recovery.message);
    });
}

#[test]
fn a_late_result_at_the_end_stays_when_the_provider_fails() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append_all(&[ASK, &turn(&["toolu_1"])]).await.unwrap();
        session.create_checkpoint(Operation::ApiCall).await.unwrap();
        let output = ToolOutput { output: "paid".to_owned(), is_error: false };
        assert!(session.add_late_result(&ToolCallRef { id: "toolu_1".into(), name: "sh" }, &output).await.unwrap());
        let before = kept(&session);
        session.append(HALF).await.unwrap();
        session.handle_error(&overloaded()).await.unwrap();
        assert_eq!(kept(&session), before, "{}", place.name);
        assert!(before[2].contains("paid"));
    });
}

#[test]
fn no_error_rolls_back_behind_a_cycle_that_ended_since() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        session.create_checkpoint(Operation::ApiCall).await.unwrap();
        let output = ToolOutput { output: "paid".to_owned(), is_error: false };
        session.finish_call(&cycle, &"toolu_1".into(), &output).await.unwrap();
        session.commit_cycle(&cycle).await.unwrap();
        let before = kept(&session);
        session.handle_error(&overloaded()).await.unwrap();
        assert_eq!(kept(&session), before, "{}", place.name);
        assert!(before[2].contains("paid"));
    });
}

#[test]
fn a_late_result_of_a_failed_response_is_removed_with_its_call() {
    on_every_store(async |place| {
        let mut session = unknown_and_asked(&place).await;
        let output = |text: &str| ToolOutput { output: text.to_owned(), is_error: false };
        session.append(&turn(&["toolu_2"])).await.unwrap();
        for (id, text) in [("toolu_1", "paid"), ("toolu_2", "read")] {
            assert!(session.add_late_result(&ToolCallRef { id: id.into(), name: "sh" }, &output(text)).await.unwrap());
        }
        session.handle_error(&overloaded()).await.unwrap();
        let all = kept(&session).concat();
        assert!(all.contains("paid") && !all.contains("toolu_2"), "{}: {all}", place.name);
        assert!(session.validate().unwrap().valid && is_valid(&session));
    });
}
