//! Providers that serve several dialects, within one session.

use std::sync::Arc;

use futures_executor::block_on;
use seamline::session::{Session, SessionOptions};
use seamline::store::MemoryStore;
use seamline_testkit::strict;
use serde_json::Value;

#[test]
fn a_provider_is_switched_to_another_of_its_dialects() {
    block_on(async {
        let options = SessionOptions { provider: Some("deepseek".to_owned()), ..SessionOptions::default() };
        let mut session = Session::create(Arc::new(MemoryStore::new()), "s-1".parse().unwrap(), options).await.unwrap();
        assert_eq!(session.dialect(), "openai_chat");
        session.append(r#"{"role":"user","content":"go"}"#).await.unwrap();
        session.switch_provider("deepseek/openai_responses").await.unwrap();
        assert_eq!(session.dialect(), "openai_responses");
        session.append(r#"{"type":"function_call","call_id":"call_1","name":"x","arguments":"{}"}"#).await.unwrap();
        session.append(r#"{"role":"developer","content":"a hook ran"}"#).await.unwrap();
        session.append(r#"{"type":"function_call_output","call_id":"call_1","output":"ok"}"#).await.unwrap();
        let request = session.request(r#"{"model":"deepseek-flash"}"#).unwrap();
        assert_eq!((request.sendable, request.note.as_deref()), (true, None));
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(strict::check_deepseek_responses(&body), [], "{body}");
        let other = session.request_for("groq/openai_responses", r#"{"model":"m"}"#).unwrap();
        assert!(other.actions.is_empty() && other.note.is_some(), "{other:?}");
    });
}

#[test]
fn a_session_takes_any_pair_of_provider_and_dialect() {
    block_on(async {
        for (provider, dialect) in
            [("openai", "openai_responses"), ("gemini", "openai_chat"), ("deepseek", "anthropic_messages")]
        {
            let (provider, dialect) = (Some(provider.to_owned()), Some(dialect.to_owned()));
            let options = SessionOptions { provider, dialect: dialect.clone(), ..SessionOptions::default() };
            let mut session =
                Session::create(Arc::new(MemoryStore::new()), "s-1".parse().unwrap(), options).await.unwrap();
            session.append(r#"{"role":"user","content":"hi"}"#).await.unwrap();
            assert_eq!(Some(session.dialect()), dialect.as_deref());
            assert!(session.request(r#"{"model":"m","max_tokens":64}"#).unwrap().sendable);
        }
    });
}
