//! Cancelled calls and switches of providers, of the source document on orphaned calls.

use seamline::ConvertOptions;
use seamline::session::{IntegrityConfig, PersistRepairs, Session, SessionOptions};

use super::stores::{ASK, Place, kept, on_every_store};

async fn llxprt(place: &Place, persist: PersistRepairs) -> Session {
    let options = SessionOptions {
        dialect: "openai_chat".to_owned(),
        provider: Some("openai".to_owned()),
        policy: seamline::Policy::preset("llxprt").unwrap(),
        config: IntegrityConfig { persist_repairs: persist, ..IntegrityConfig::default() },
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

#[test]
fn a_cancelled_call_does_not_break_the_next_request() {
    on_every_store(async |place| {
        let mut session = llxprt(&place, PersistRepairs::Never).await;
        session.append_all(&[ASK, &calls(&["call_1"]), ASK]).await.unwrap();
        let before = kept(&session);
        let request = session.request(r#"{"model":"gpt-5"}"#).unwrap();
        let body = String::from_utf8(request.body).unwrap();
        assert!(request.sendable && body.contains("Tool execution cancelled by user"));
        assert_eq!(kept(&session), before, "only what is sent is patched");
    });
}

#[test]
fn calls_of_several_turns_are_each_answered_beside_their_own() {
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
            // Of what is kept, and of a list that nobody keeps.
            let body = format!(r#"{{"model":"gpt-5","messages":[{}]}}"#, messages.join(","));
            let listed = seamline::check(body.as_bytes(), &seamline::Options::default()).unwrap();
            for checked in [session.check().unwrap(), listed] {
                let found = checked.findings.iter().filter(|found| found.code == "PAIR001");
                let told: String = found.map(|found| found.message.as_str()).collect();
                let ids: Vec<&str> = told.split('`').skip(1).step_by(2).collect();
                assert_eq!(ids, orphans, "{told}");
            }
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
