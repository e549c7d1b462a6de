//! Demands that only the rest of a request can meet do not make the stored messages invalid.

use std::future::pending;

use seamline::Policy;
use seamline::classify::Failure;
use seamline::session::{
    AgentStart, LastResort, PersistRepairs, RecoveryAction, Session, SessionOptions, SessionPolicy,
};
use seamline::store::IncidentKind;
use seamline_testkit::transcript::Role;

use super::stores::{Tool, asking, kept, memory, repairing};
use super::written;

const TOOLS: &str =
    r#"{"modelId":"m","toolConfig":{"tools":[{"toolSpec":{"name":"sh","inputSchema":{"json":{"type":"object"}}}}]}}"#;

const UNAUTHORIZED: Failure<'static> = Failure {
    provider: None,
    dialect: None,
    status: Some(401),
    headers: &[],
    text: r#"{"message":"The security token included in the request is invalid"}"#,
    received_at: None,
};

const REFUSED: Failure<'static> = Failure {
    status: Some(400),
    text: r#"{"message":"The toolConfig field must be defined when using toolUse and toolResult content blocks."}"#,
    ..UNAUTHORIZED
};

/// The messages of a user, of a model that calls a tool and of a model that responds, in a dialect.
fn spoken(dialect: &str) -> [String; 3] {
    let said = match dialect {
        "anthropic_messages" => [
            r#"{"role":"user","content":"list them"}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"sh","input":{"cmd":"ls"}}]}"#,
            r#"{"role":"assistant","content":"there is one"}"#,
        ],
        "openai_responses" => [
            r#"{"role":"user","content":"list them"}"#,
            r#"{"type":"function_call","call_id":"call_1","name":"sh","arguments":"{\"cmd\":\"ls\"}"}"#,
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"there is one"}]}"#,
        ],
        "gemini_generate" => [
            r#"{"role":"user","parts":[{"text":"list them"}]}"#,
            r#"{"role":"model","parts":[{"functionCall":{"name":"sh","args":{"cmd":"ls"}}}]}"#,
            r#"{"role":"model","parts":[{"text":"there is one"}]}"#,
        ],
        "bedrock_converse" => [
            r#"{"role":"user","content":[{"text":"list them"}]}"#,
            r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"abcdef123","name":"sh","input":{"cmd":"ls"}}}]}"#,
            r#"{"role":"assistant","content":[{"text":"there is one"}]}"#,
        ],
        "openai_chat" => [
            r#"{"role":"user","content":"list them"}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"abcdef123","type":"function","function":{"name":"sh","arguments":"{\"cmd\":\"ls\"}"}}]}"#,
            r#"{"role":"assistant","content":"there is one"}"#,
        ],
        other => {
            return [
                written::text(other, Role::User, "list them"),
                written::calls(other, "sh", &["abcdef123"]).remove(0),
                written::text(other, Role::Assistant, "there is one"),
            ];
        }
    };
    said.map(str::to_owned)
}

async fn session(provider: &seamline::providers::Provider, policy: Policy) -> Session {
    let place = memory();
    let (dialect, provider) = (Some(provider.dialect.to_owned()), Some(provider.name.to_owned()));
    let options = SessionOptions { dialect, provider, policy, ..SessionOptions::default() };
    Session::create(place.store.clone(), place.name().parse().unwrap(), options).await.unwrap()
}

#[test]
fn a_valid_conversation_is_valid_for_every_provider_and_stays_unchanged() {
    futures_executor::block_on(async {
        for provider in seamline::providers::ALL {
            let config = SessionPolicy { persist_repairs: PersistRepairs::All, ..SessionPolicy::default() };
            let mut session = session(provider, repairing(config)).await;
            let [ask, call, answer] = spoken(provider.dialect);
            session.append(&ask).await.unwrap();
            session.execute_tool_cycle(&[call.as_str()], &Tool::saying("main.rs"), pending()).await.unwrap();
            for _ in 0..2 {
                let (name, before) = (provider.name, kept(&session));
                let errors = |session: &Session| session.validate().unwrap().errors;
                assert_eq!(errors(&session), Vec::<String>::new(), "{name}");
                assert!(session.check().unwrap().findings.is_empty(), "{name}");
                let start = session.session_start().await.unwrap();
                assert!(!start.repair_offered && start.validation.is_some_and(|found| found.valid), "{name}");
                let repair = session.repair().await.unwrap();
                assert!(!repair.repaired && repair.id.is_none() && repair.repairs.is_empty(), "{name}");
                assert!(session.undo_repair().await.is_err(), "{name}");
                assert_eq!((kept(&session), session.incidents().count()), (before, 0), "{name}");
                session.append(&answer).await.unwrap();
            }
        }
    });
}

#[test]
fn a_conversation_with_calls_continues_if_the_request_declares_their_tools() {
    futures_executor::block_on(async {
        for policy in [asking, repairing] {
            let config = SessionPolicy { last_resort: LastResort::Reset, ..SessionPolicy::default() };
            let mut session = session(seamline::providers::by_name("bedrock").unwrap(), policy(config)).await;
            let [ask, call, _] = spoken("bedrock_converse");
            session.append(&ask).await.unwrap();
            session.execute_tool_cycle(&[call.as_str()], &Tool::saying("main.rs"), pending()).await.unwrap();
            let AgentStart::Proceed { request, .. } = session.before_agent_start(TOOLS).await.unwrap() else {
                panic!("it was blocked");
            };
            assert!(request.actions.is_empty() && request.found.is_empty());
            session.agent_end(seamline::session::TurnEnd::Messages(&[])).await.unwrap();
            // If the request declares none, a repair declares them, if a name is enough for that.
            let start = session.before_agent_start(r#"{"modelId":"m"}"#).await.unwrap();
            let AgentStart::Proceed { request, .. } = start else { panic!("it was blocked") };
            assert_eq!(request.actions.len(), 1);
            session.agent_end(seamline::session::TurnEnd::Messages(&[])).await.unwrap();
            for _ in 0..2 {
                let recovery = session.handle_error(&UNAUTHORIZED).await.unwrap();
                assert_eq!(recovery.action, RecoveryAction::Escalate);
            }
            assert!(session.incidents().all(|incident| incident.kind != IncidentKind::Repair));
            let recovery = session.handle_error(&REFUSED).await.unwrap();
            assert_eq!(recovery.action, RecoveryAction::Reset, "the last resort is reached");
        }
    });
}

#[test]
fn an_undeclared_tool_that_no_repair_can_declare_is_reported() {
    futures_executor::block_on(async {
        let provider = seamline::providers::by_name("bedrock-anthropic").unwrap();
        let mut session = session(provider, asking(SessionPolicy::default())).await;
        let [ask, call, _] = spoken(provider.dialect);
        session.append(&ask).await.unwrap();
        session.execute_tool_cycle(&[call.as_str()], &Tool::saying("main.rs"), pending()).await.unwrap();
        let start = session.before_agent_start(r#"{"max_tokens":64}"#).await.unwrap();
        let AgentStart::Blocked { validation, repair_offered: false } = start else { panic!("it was let through") };
        assert!(!validation.valid && validation.error.unwrap().contains("declares none"));
        let tools = r#"{"max_tokens":64,"tools":[{"name":"sh","input_schema":{"type":"object"}}]}"#;
        assert!(matches!(session.before_agent_start(tools).await.unwrap(), AgentStart::Proceed { .. }));
    });
}

#[test]
fn a_result_passes_if_the_envelope_says_that_the_provider_stores_its_call() {
    futures_executor::block_on(async {
        let mut session =
            session(seamline::providers::by_name("openai-responses").unwrap(), asking(SessionPolicy::default())).await;
        let result = r#"{"type":"function_call_output","call_id":"call_1","output":"main.rs"}"#;
        session.append(result).await.unwrap();
        assert!(matches!(
            session.before_agent_start(r#"{"model":"gpt-5"}"#).await.unwrap(),
            AgentStart::Blocked { .. }
        ));
        let chained = r#"{"model":"gpt-5","previous_response_id":"resp_1"}"#;
        let AgentStart::Proceed { request, .. } = session.before_agent_start(chained).await.unwrap() else {
            panic!("it was blocked");
        };
        assert!(request.actions.is_empty());
    });
}

#[test]
fn a_finding_without_a_fix_is_recorded_once() {
    futures_executor::block_on(async {
        let policy = repairing(SessionPolicy::default());
        let mut session = session(seamline::providers::by_name("anthropic").unwrap(), policy).await;
        session.append(r#"{"content":"abracadabra"}"#).await.unwrap();
        for _ in 0..3 {
            assert!(!session.session_start().await.unwrap().validation.unwrap().valid);
        }
        assert_eq!(session.incidents().count(), 1);
    });
}
