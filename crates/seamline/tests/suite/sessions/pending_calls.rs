//! Calls at the end of a conversation that may still be answered, and those that may not.

use std::sync::Arc;

use seamline::classify::Failure;
use seamline::policy::PRESETS;
use seamline::session::{AgentStart, RecoveryAction, Session, SessionOptions};
use seamline::store::MemoryStore;
use seamline::{Options, Policy, Severity};

use super::written;

const CHAT: &str = "openai_chat";

async fn session(policy: &str) -> Session {
    let policy = Policy::from_toml(policy).unwrap();
    let options = SessionOptions { dialect: Some(CHAT.to_owned()), policy, ..SessionOptions::default() };
    let mut session = Session::create(Arc::new(MemoryStore::new()), "s-1".parse().unwrap(), options).await.unwrap();
    session.append(&written::user(CHAT, "go")).await.unwrap();
    session
}

async fn partly_answered(policy: &str) -> Session {
    let mut session = session(policy).await;
    session.append(&written::calls(CHAT, "pay", &["call_a", "call_b"])[0]).await.unwrap();
    session.append(&written::result(CHAT, "pay", "call_a", "paid")).await.unwrap();
    session
}

/// The codes of the errors that the default check finds in a body.
fn errors(body: &[u8]) -> Vec<&'static str> {
    let findings = seamline::check(body, &Options::default()).unwrap().findings;
    findings.iter().filter(|found| found.severity == Severity::Error).map(|found| found.code).collect()
}

#[test]
fn a_partly_answered_last_turn_is_an_error_under_every_preset() {
    for preset in PRESETS {
        futures_executor::block_on(async {
            let mut session = partly_answered(&format!("preset = '{}'", preset.name)).await;
            let validation = session.validate().unwrap();
            // This preset records ids of its own.
            let id = if preset.name == "llxprt" { "hist_tool_b" } else { "call_b" };
            assert_eq!((validation.valid, validation.incomplete_ids), (false, vec![id.into()]));
            let request = session.request("{}").unwrap();
            assert_eq!(request.sendable, errors(&request.body).is_empty(), "{}", preset.name);
            if let AgentStart::Proceed { request, .. } = session.before_agent_start("{}").await.unwrap() {
                assert_eq!(errors(&request.body), [""; 0], "{}", preset.name);
            }
        });
    }
}

#[test]
fn a_refused_conversation_with_a_partly_answered_last_turn_is_repaired() {
    futures_executor::block_on(async {
        let mut session = partly_answered("preset = 'clawos'").await;
        let body = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
        let failure = Failure { status: Some(400), text: body, ..Failure::default() };
        let recovery = session.handle_error(&failure).await.unwrap();
        assert_eq!(recovery.action, RecoveryAction::Repaired, "{}", recovery.message);
        assert!(session.validate().unwrap().valid);
    });
}

#[test]
fn a_refused_conversation_with_a_pending_last_turn_is_repaired_under_every_preset() {
    let text =
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
    let failure = Failure { status: Some(400), text, ..Failure::default() };
    // These presets leave every refused conversation to a person.
    for preset in PRESETS.iter().filter(|preset| !["opal", "strict"].contains(&preset.name)) {
        futures_executor::block_on(async {
            let mut session = session(&format!("preset = '{}'", preset.name)).await;
            session.append(&written::calls(CHAT, "pay", &["call_a", "call_b"])[0]).await.unwrap();
            let recovery = session.handle_error(&failure).await.unwrap();
            assert_eq!(recovery.action, RecoveryAction::Repaired, "{}: {}", preset.name, recovery.message);
            session.append(&written::user(CHAT, "go on")).await.unwrap();
            let mut start = session.before_agent_start("{}").await.unwrap();
            if let AgentStart::Blocked { repair_offered: true, .. } = start {
                session.repair().await.unwrap();
                start = session.before_agent_start("{}").await.unwrap();
            }
            let AgentStart::Proceed { request, .. } = start else { panic!("{}: {start:?}", preset.name) };
            assert_eq!(errors(&request.body), [""; 0], "{}", preset.name);
            // The conversation is whole now, so a second refusal is about something else.
            assert_eq!(session.handle_error(&failure).await.unwrap().action, RecoveryAction::Escalate);
        });
    }
}

#[test]
fn an_offered_repair_of_an_unanswered_call_helps_under_every_preset() {
    for preset in PRESETS {
        for is_last in [false, true] {
            futures_executor::block_on(async {
                let policy = format!("preset = '{}'\non_invalid = 'offer'", preset.name);
                let mut session = session(&policy).await;
                session.append(&written::calls(CHAT, "pay", &["call_a"])[0]).await.unwrap();
                if !is_last {
                    session.append(&written::user(CHAT, "never mind")).await.unwrap();
                }
                let about = format!("{} {is_last}", preset.name);
                let mut start = session.before_agent_start("{}").await.unwrap();
                if let AgentStart::Blocked { repair_offered, .. } = start {
                    assert!(repair_offered, "{about}");
                    session.repair().await.unwrap();
                    start = session.before_agent_start("{}").await.unwrap();
                } else {
                    // A request closes the call of the last message, unless the policy lets it stay open.
                    assert!(is_last && preset.name != "clawos", "{about}");
                }
                let AgentStart::Proceed { request, .. } = start else { panic!("{about}: {start:?}") };
                assert_eq!(errors(&request.body), [""; 0], "{about}");
            });
        }
    }
}

#[test]
fn a_session_that_is_switched_off_says_that_the_provider_rejects_its_body() {
    futures_executor::block_on(async {
        let session = partly_answered("enabled = false").await;
        let request = session.request("{}").unwrap();
        assert!(!request.sendable && request.actions.is_empty());
        assert_eq!(request.remaining.iter().filter(|found| found.code == "PAIR001").count(), 1);
    });
}
