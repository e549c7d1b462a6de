//! Calls that a stored repair gave another id, and ids that never leave the log.

use std::sync::Arc;

use seamline::session::{AgentStart, Session, SessionOptions, ToolCallRef};
use seamline::store::{Effect, MemoryStore};
use seamline_testkit::{Dialect, strict};

use super::calls::said;
use super::written;

const INTERNAL: &str = "hist_tool_0f3c2b1a7c1e4f0e";

/// Ids that at least one provider does not accept, or that are internal.
fn ids() -> [String; 5] {
    let long = format!("call_{}", "x".repeat(70));
    [INTERNAL.to_owned(), "hist_tool_a.b:1".to_owned(), long, "functions.pay:0".to_owned(), "abcdefg01".to_owned()]
}

const PROVIDERS: [(&str, &str); 7] = [
    ("openai", "openai_chat"),
    ("anthropic", "anthropic_messages"),
    ("gemini", "gemini_generate"),
    ("mistral", "openai_chat"),
    ("bedrock", "bedrock_converse"),
    ("groq", "openai_chat"),
    ("deepseek", "openai_chat"),
];

async fn session(provider: &str) -> Session {
    let options = SessionOptions { provider: Some(provider.to_owned()), ..SessionOptions::default() };
    Session::create(Arc::new(MemoryStore::new()), "s-1".parse().unwrap(), options).await.unwrap()
}

/// Whether the strict check of the test kit accepts the next request, and its body.
fn body(session: &Session, provider: &str, dialect: &str) -> String {
    let request = session.request(written::envelope(dialect)).unwrap();
    assert!(request.sendable, "{:?}", request.remaining);
    let body = String::from_utf8(request.body).unwrap();
    // The strict check speaks for the provider that defines the dialect.
    let dialect = Dialect::by_name(dialect).unwrap();
    let wrong = strict::check(dialect, &serde_json::from_str(&body).unwrap());
    assert!(wrong.is_empty() || dialect.provider() != provider, "{wrong:?}: {body}");
    body
}

#[test]
fn a_late_result_under_the_hosts_id_is_taken_after_a_repair_renamed_its_call() {
    for id in ids() {
        for (provider, dialect) in PROVIDERS {
            futures_executor::block_on(async {
                let mut session = session(provider).await;
                session.append(&written::user(dialect, "go")).await.unwrap();
                let turn = written::calls(dialect, "pay", &[&id]);
                let turn: Vec<&str> = turn.iter().map(String::as_str).collect();
                let (cycle, calls) = session.begin_cycle(&turn, &|_| Effect::Unsafe).await.unwrap();
                session.before_tool_call(&cycle, &calls[0].id).await.unwrap();
                session.abort().await.unwrap();
                session.append(&written::user(dialect, "next")).await.unwrap();
                let start = session.before_agent_start(written::envelope(dialect)).await.unwrap();
                assert!(matches!(start, AgentStart::Proceed { .. }), "{provider} {id}: {start:?}");
                let call = ToolCallRef { id: calls[0].id.clone(), name: "pay" };
                assert!(session.add_late_result(&call, &said("PAID")).await.unwrap(), "{provider} {id}");
                assert!(!session.add_late_result(&call, &said("AGAIN")).await.unwrap(), "{provider} {id}");
                let body = body(&session, provider, dialect);
                assert!(
                    body.contains("PAID") && !body.contains("No result") && !body.contains("[outcome"),
                    "{provider} {id}: {body}"
                );
            });
        }
    }
}

#[test]
fn no_internal_id_is_on_the_wire_after_a_crash() {
    for id in [INTERNAL, "hist_tool_a.b:1"] {
        for (provider, dialect) in PROVIDERS {
            for is_started in [false, true] {
                futures_executor::block_on(async {
                    let mut session = session(provider).await;
                    session.append(&written::user(dialect, "go")).await.unwrap();
                    let turn = written::calls(dialect, "pay", &[id, "abcdefg02"]);
                    let turn: Vec<&str> = turn.iter().map(String::as_str).collect();
                    let (cycle, calls) = session.begin_cycle(&turn, &|_| Effect::Unsafe).await.unwrap();
                    let run = usize::from(!is_started);
                    session.before_tool_call(&cycle, &calls[run].id).await.unwrap();
                    session.recover().await.unwrap();
                    let body = body(&session, provider, dialect);
                    assert!(!body.contains("hist_tool_"), "{provider}: {body}");
                    assert!(body.contains("[outcome unknown]") && body.contains("[not executed]"), "{body}");
                });
            }
        }
    }
}
