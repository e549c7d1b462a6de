//! Cancelled calls and switches of providers, of the source document on orphaned calls.

use seamline::convert::ConvertOptions;
use seamline::session::{AgentStart, PersistRepairs, Request, Session, SessionOptions, ToolCallRef, ToolOutput};
use seamline::store::{CallId, Effect};

use super::asking::in_dialect;
use super::late_kept::{dialects, paying, spoken};
use super::stores::{ASK, Place, kept, on_every_store};

async fn llxprt(place: &Place, persist: PersistRepairs) -> Session {
    let mut policy = seamline::Policy::preset("llxprt").unwrap();
    policy.session.persist_repairs = persist;
    let options = SessionOptions {
        dialect: Some("openai_chat".to_owned()),
        provider: Some("openai".to_owned()),
        policy,
        ..SessionOptions::default()
    };
    Session::create(place.store.clone(), place.name().parse().unwrap(), options).await.unwrap()
}

fn calls(ids: &[&str]) -> String {
    let calls: Vec<String> = ids
        .iter()
        .map(|id| format!(r#"{{"id":"{id}","type":"function","function":{{"name":"sh","arguments":"{{}}"}}}}"#))
        .collect();
    format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, calls.join(","))
}

fn result(id: &str) -> String {
    format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"ok"}}"#)
}

/// Whether a request differs from the stored messages in ids alone: the session has ids of its own (S2-02).
fn only_ids(request: &Request) -> bool {
    request.actions.iter().all(|action| action.code == "IDENT006")
}

#[test]
fn a_cancelled_call_does_not_break_the_next_request() {
    on_every_store(async |place| {
        let mut session = llxprt(&place, PersistRepairs::Never).await;
        session.append_all(&[ASK, &calls(&["call_1"]), ASK]).await.unwrap();
        let before = kept(&session);
        let request = session.request(r#"{"model":"gpt-5"}"#).unwrap();
        let body = String::from_utf8(request.body).unwrap();
        assert!(request.sendable && body.contains("Tool execution cancelled by user"));
        assert_eq!(kept(&session), before, "only the request is repaired");
    });
}

#[test]
fn calls_of_several_turns_are_each_answered_beside_their_call() {
    on_every_store(async |place| {
        let mut session = llxprt(&place, PersistRepairs::All).await;
        let messages = [
            ASK.to_owned(),
            calls(&["call_1", "call_2"]),
            result("call_1"),
            ASK.to_owned(),
            calls(&["call_3"]),
            ASK.to_owned(),
        ];
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        session.append_all(&messages).await.unwrap();
        let repaired = session.repair().await.unwrap();
        assert!(repaired.repaired && repaired.remaining.is_empty());
        let kept = kept(&session);
        assert!(kept[2].contains("call_1") && kept[3].contains("call_2") && kept[6].contains("call_3"), "{kept:#?}");
        assert_eq!(kept.len(), 8);
        assert!(!session.repair().await.unwrap().repaired, "no orphans, no change");
    });
}

#[test]
fn s2_18_a_call_is_made_and_cancelled_and_the_next_message_is_accepted() {
    on_every_store(async |place| {
        let mut session = llxprt(&place, PersistRepairs::Never).await;
        session.append(ASK).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[&calls(&["call_1", "call_2"])], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"call_1".into()).await.unwrap();
        session.before_tool_call(&cycle, &"call_2".into()).await.unwrap();
        assert_eq!(session.abort().await.unwrap().len(), 2);
        for (message, id) in kept(&session)[2..].iter().zip(["hist_tool_1", "hist_tool_2"]) {
            let message: serde_json::Value = serde_json::from_str(message).unwrap();
            assert_eq!((&message["role"], &message["tool_call_id"]), (&"tool".into(), &id.into()));
            assert!(message["content"].as_str().unwrap().contains("cancelled by user"), "{message}");
        }
        session.append(ASK).await.unwrap();
        let start = session.before_agent_start(r#"{"model":"gpt-5"}"#).await.unwrap();
        let AgentStart::Proceed { request, .. } = start else { panic!("{start:?}") };
        assert!(request.sendable && only_ids(&request), "{:?}", request.actions);
        let options = seamline::Options { provider: Some("openai".to_owned()), ..Default::default() };
        assert!(seamline::check(&request.body, &options).unwrap().findings.is_empty());
    });
}

#[test]
fn s2_09_an_orphan_is_answered_in_the_same_place_for_every_provider() {
    on_every_store(async |place| {
        for dialect in dialects() {
            let mut session = in_dialect(&place, dialect).await;
            let turn = paying(dialect, &["a", "b"]);
            let (ask, next) = (spoken(dialect, "go"), spoken(dialect, "never mind"));
            let messages: Vec<&str> = std::iter::once(&ask).chain(&turn).chain([&next]).map(String::as_str).collect();
            session.append_all(&messages).await.unwrap();
            let request = session.request("{}").unwrap();
            assert_eq!(
                request.actions.iter().filter(|action| action.code == "PAIR001").count(),
                2,
                "{dialect}: {:?}",
                request.actions
            );
            let options = seamline::Options { dialect: Some(dialect.to_owned()), ..Default::default() };
            let checked = seamline::check(&request.body, &options).unwrap();
            let wrong = checked.findings.iter().filter(|found| found.code.starts_with("PAIR"));
            assert_eq!(wrong.count(), 0, "{dialect}: {:?}", checked.findings);
        }
    });
}

#[test]
fn s2_10_without_orphans_the_request_equals_the_stored_messages() {
    on_every_store(async |place| {
        let mut session = llxprt(&place, PersistRepairs::All).await;
        let (one, two) = (calls(&["call_1", "call_2"]), [result("call_1"), result("call_2")]);
        let messages = [ASK, &one, &two[0], &two[1], ASK];
        session.append_all(&messages).await.unwrap();
        let request = session.request(r#"{"model":"gpt-5"}"#).unwrap();
        let body = format!(r#"{{"model":"gpt-5","messages":[{}]}}"#, messages.join(","));
        assert!(only_ids(&request), "{:?}", request.actions);
        assert_eq!(String::from_utf8(request.body).unwrap(), body);
    });
}

#[test]
fn s2_03_every_call_without_a_result_is_found() {
    on_every_store(async |place| {
        let (one, two, three) = (calls(&["call_1", "call_2"]), result("call_1"), calls(&["call_3"]));
        let cases: [(&[&str], &[&str]); 3] = [
            (&[ASK], &[]),
            (&[ASK, &one, &two, ASK], &["call_2"]),
            (&[ASK, &one, ASK, &three, ASK], &["call_1", "call_2", "call_3"]),
        ];
        for (messages, orphans) in cases {
            let mut session = llxprt(&place, PersistRepairs::Never).await;
            session.append_all(messages).await.unwrap();
            // From a stored conversation, and from a plain list of messages.
            let body = format!(r#"{{"model":"gpt-5","messages":[{}]}}"#, messages.join(","));
            let listed = seamline::check(body.as_bytes(), &seamline::Options::default()).unwrap();
            let recorded: Vec<String> = orphans.iter().map(|id| id.replace("call_", "hist_tool_")).collect();
            let given: Vec<String> = orphans.iter().map(|id| (*id).to_owned()).collect();
            for (checked, orphans) in [(session.check().unwrap(), &recorded), (listed, &given)] {
                let found = checked.findings.iter().filter(|found| found.code == "PAIR001");
                let calls = found.flat_map(|found| &found.related).filter_map(|call| call.call_id.clone());
                assert_eq!(calls.collect::<Vec<_>>(), *orphans);
            }
            let recorded: Vec<CallId> = recorded.iter().map(CallId::from).collect();
            assert_eq!(session.validate().unwrap().incomplete_ids, recorded);
        }
    });
}

#[test]
fn a_provider_can_be_switched_with_calls_open() {
    on_every_store(async |place| {
        let mut session = llxprt(&place, PersistRepairs::Never).await;
        session.append_all(&[ASK, &calls(&["hist_tool_7"]), ASK]).await.unwrap();
        let mut body = session.request(r#"{"model":"gpt-5"}"#).unwrap().body;
        assert!(!String::from_utf8_lossy(&body).contains("hist_tool_"), "a client's own ids stay with the client");
        for to in ["anthropic", "gemini", "openai"] {
            let options = ConvertOptions { to: to.to_owned(), ..ConvertOptions::default() };
            let converted = seamline::convert(&body, &options).unwrap();
            assert!(converted.remaining.is_empty(), "{to}: {:?}", converted.remaining);
            body = converted.body;
        }
        assert!(String::from_utf8_lossy(&body).contains("Tool execution cancelled by user"));
    });
}

fn body(session: &Session, provider: &str) -> String {
    let envelope = if provider == "anthropic" { r#"{"model":"claude-sonnet-4-5","max_tokens":64}"# } else { "{}" };
    let request = session.request_for(provider, envelope).unwrap();
    assert!(request.sendable, "{provider}: {:?}", request.remaining);
    String::from_utf8(request.body).unwrap()
}

#[test]
fn s2_02_calls_get_ids_of_the_session_when_they_are_recorded() {
    on_every_store(async |place| {
        let mut session = llxprt(&place, PersistRepairs::Never).await;
        session.append_all(&[ASK, &calls(&["call_1", "toolu_1", "plain-7"])]).await.unwrap();
        for id in ["call_1", "toolu_1", "plain-7"] {
            session.append(&result(id)).await.unwrap();
        }
        let stored = kept(&session);
        let ids: Vec<String> = session.state().renamed.iter().map(|renamed| renamed.to.to_string()).collect();
        assert_eq!(ids[0], "hist_tool_1");
        for (id, message) in ids.iter().zip(&stored[2..]) {
            assert!(
                stored[1].contains(&format!("\"{id}\"")) && message.contains(&format!("\"{id}\"")),
                "{id}: {stored:?}"
            );
            assert!(id.starts_with("hist_tool_") && ids.iter().filter(|other| *other == id).count() == 1, "{ids:?}");
        }
        // S2-04 to S2-07: each provider gets its own ids.
        for (provider, prefix) in [("openai", "\"call_1\""), ("anthropic", "\"toolu_1\""), ("gemini", "contents")] {
            let body = body(&session, provider);
            assert!(body.contains(prefix) && !body.contains("hist_tool_") && !body.contains("[synthetic]"), "{body}");
        }
        let again = place.reopen(&session).await;
        assert_eq!((kept(&again), body(&again, "openai")), (stored, body(&session, "openai")));
    });
}

#[test]
fn s2_02_a_host_may_use_either_id_of_a_call() {
    on_every_store(async |place| {
        let mut session = llxprt(&place, PersistRepairs::Never).await;
        session.append(ASK).await.unwrap();
        let (cycle, made) = session.begin_cycle(&[&calls(&["call_1", "call_2"])], &|_| Effect::Unsafe).await.unwrap();
        assert_eq!(made.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["hist_tool_1", "hist_tool_2"]);
        let output = |text: &str| ToolOutput { output: text.to_owned(), is_error: false };
        session.before_tool_call(&cycle, &"call_1".into()).await.unwrap();
        session.after_tool_call(&cycle, &"call_1".into(), &output("ONE")).await.unwrap();
        session.before_tool_call(&cycle, &"hist_tool_2".into()).await.unwrap();
        session.abort().await.unwrap();
        // The result comes late, also in a fork that never saw the call under this id.
        let mut fork = session.fork(place.name().parse().unwrap()).await.unwrap();
        for session in [&mut session, &mut fork] {
            let call = ToolCallRef { id: "call_2".into(), name: "sh" };
            assert!(session.add_late_result(&call, &output("TWO")).await.unwrap());
            let body = body(session, "openai");
            assert!(body.contains("ONE") && body.contains("TWO") && !body.contains("hist_tool_"), "{body}");
        }
    });
}

#[test]
fn x15_other_policies_record_the_ids_that_the_model_gave() {
    on_every_store(async |place| {
        let mut session = in_dialect(&place, "openai_chat").await;
        session.append_all(&[ASK, &calls(&["call_1"]), &result("call_1")]).await.unwrap();
        assert_eq!(kept(&session), [ASK.to_owned(), calls(&["call_1"]), result("call_1")]);
    });
}
