//! Late results in every dialect: the output of the tool is stored unchanged, once.

use seamline::session::{Session, SessionPolicy, ToolCallRef};
use seamline::store::{CycleId, Effect, Origin};
use seamline_testkit::Dialect;
use seamline_testkit::transcript::Role;

use super::asking::in_dialect;
use super::calls::said;
use super::stores::{ASK, Place, is_valid, kept, on_every_store, turn};
use super::written;

/// The dialects whose messages these tests write by hand.
const BY_HAND: [&str; 5] =
    ["anthropic_messages", "openai_chat", "openai_responses", "gemini_generate", "bedrock_converse"];

/// The names of all dialects.
pub(super) fn dialects() -> [&'static str; Dialect::ALL.len()] {
    Dialect::ALL.map(Dialect::name)
}

/// The recovery's text about calls, quoted by a user.
const QUOTED: &str = "[synthetic] [outcome unknown] quoted from a log";

pub(super) fn spoken(dialect: &str, text: &str) -> String {
    match dialect {
        "gemini_generate" => format!(r#"{{"role":"user","parts":[{{"text":"{text}"}}]}}"#),
        "bedrock_converse" => format!(r#"{{"role":"user","content":[{{"text":"{text}"}}]}}"#),
        "anthropic_messages" | "openai_chat" | "openai_responses" => {
            format!(r#"{{"role":"user","content":"{text}"}}"#)
        }
        other => written::text(other, Role::User, text),
    }
}

/// A turn that calls `pay` under these ids.
pub(super) fn paying(dialect: &str, ids: &[&str]) -> Vec<String> {
    if !BY_HAND.contains(&dialect) {
        return written::calls(dialect, "pay", ids);
    }
    let calls = ids.iter().map(|id| match dialect {
        "gemini_generate" => format!(r#"{{"functionCall":{{"id":"{id}","name":"pay","args":{{}}}}}}"#),
        "bedrock_converse" => format!(r#"{{"toolUse":{{"toolUseId":"{id}","name":"pay","input":{{}}}}}}"#),
        "openai_chat" => format!(r#"{{"id":"{id}","type":"function","function":{{"name":"pay","arguments":"{{}}"}}}}"#),
        "openai_responses" => format!(r#"{{"type":"function_call","call_id":"{id}","name":"pay","arguments":"{{}}"}}"#),
        _ => format!(r#"{{"type":"tool_use","id":"{id}","name":"pay","input":{{}}}}"#),
    });
    let calls: Vec<String> = calls.collect();
    let list = calls.join(",");
    match dialect {
        "openai_responses" => calls,
        "gemini_generate" => vec![format!(r#"{{"role":"model","parts":[{list}]}}"#)],
        "openai_chat" => vec![format!(r#"{{"role":"assistant","content":null,"tool_calls":[{list}]}}"#)],
        _ => vec![format!(r#"{{"role":"assistant","content":[{list}]}}"#)],
    }
}

pub(super) fn refs(messages: &[String]) -> Vec<&str> {
    messages.iter().map(String::as_str).collect()
}

async fn started(place: &Place, dialect: &str, ids: &[&str]) -> (Session, CycleId) {
    let mut session = in_dialect(place, dialect).await;
    session.append(&spoken(dialect, "go")).await.unwrap();
    let (cycle, _) = session.begin_cycle(&refs(&paying(dialect, ids)), &|_| Effect::Unsafe).await.unwrap();
    for id in ids {
        session.before_tool_call(&cycle, &(*id).into()).await.unwrap();
    }
    (session, cycle)
}

fn pay(id: &str) -> ToolCallRef<'_> {
    ToolCallRef { id: id.into(), name: "pay" }
}

fn sent(session: &Session) -> String {
    let request = session.request("{}").unwrap();
    String::from_utf8(request.body).unwrap()
}

#[test]
fn a_late_result_with_any_character_is_accepted() {
    on_every_store(async |place| {
        for dialect in dialects() {
            let (mut session, _) = started(&place, dialect, &["a"]).await;
            session.abort().await.unwrap();
            let text: String = (0..0xa0).chain([0x2028, 0xfeff, 0xffff, 0x1f600]).filter_map(char::from_u32).collect();
            assert!(session.add_late_result(&pay("a"), &said(&text)).await.unwrap(), "{dialect}");
            let message: serde_json::Value = serde_json::from_str(kept(&session).last().unwrap()).unwrap();
            let is_there = strings(&message).iter().any(|kept| *kept == text);
            assert!(is_there, "{dialect}: {message}");
        }
    });
}

fn strings(value: &serde_json::Value) -> Vec<&str> {
    match value {
        serde_json::Value::String(text) => vec![text],
        serde_json::Value::Array(values) => values.iter().flat_map(strings).collect(),
        serde_json::Value::Object(members) => members.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_result_that_reads_like_a_synthetic_one_is_not_replaced() {
    on_every_store(async |place| {
        for dialect in dialects() {
            let (mut session, cycle) = started(&place, dialect, &["a"]).await;
            session.finish_call(&cycle, &"a".into(), &said(QUOTED)).await.unwrap();
            assert!(!session.commit_cycle(&cycle).await.unwrap()[0].synthetic);
            let before = kept(&session);
            for mut session in [place.reopen(&session).await, session] {
                assert!(!session.add_late_result(&pay("a"), &said("OTHER")).await.unwrap(), "{dialect}");
                assert_eq!(kept(&session), before, "{dialect}");
            }
        }
    });
}

#[test]
fn of_two_equal_results_only_the_synthetic_one_is_replaced() {
    on_every_store(async |place| {
        for dialect in dialects() {
            let (mut session, cycle) = started(&place, dialect, &["a", "b"]).await;
            session.finish_call(&cycle, &"a".into(), &said(QUOTED)).await.unwrap();
            let mut session = place.reopen(&session).await;
            assert!(!session.add_late_result(&pay("a"), &said("OTHER")).await.unwrap(), "{dialect}");
            assert!(session.add_late_result(&pay("b"), &said("PAID")).await.unwrap(), "{dialect}");
            let after = kept(&session).concat();
            assert!(after.contains(QUOTED) && after.contains("PAID"), "{dialect}: {after}");
            for id in ["a", "b"] {
                assert!(!session.add_late_result(&pay(id), &said("OTHER")).await.unwrap(), "{dialect}: {id}");
            }
            assert!(session.entries().iter().all(|entry| entry.origin == Origin::Said), "{dialect}");
        }
    });
}

#[test]
fn a_late_result_of_a_call_without_a_result_is_put_after_it() {
    on_every_store(async |place| {
        for dialect in dialects() {
            let mut session = in_dialect(&place, dialect).await;
            session.append(&spoken(dialect, "go")).await.unwrap();
            let turn = paying(dialect, &["a"]);
            session.append_all(&refs(&turn)).await.unwrap();
            session.append(&spoken(dialect, "never mind")).await.unwrap();
            let before = kept(&session);
            assert!(session.add_late_result(&pay("a"), &said("PAID")).await.unwrap(), "{dialect}");
            assert!(!session.add_late_result(&pay("a"), &said("again")).await.unwrap(), "a real one stays: {dialect}");
            let after = kept(&session);
            assert_eq!((&after[..2], &after[3..]), (&before[..2], &before[2..]), "{dialect}");
            assert!(after[2].contains("PAID") && session.entries()[2].origin == Origin::Said, "{dialect}: {after:?}");
            let body = sent(&session);
            assert!(body.find("PAID").unwrap() < body.find("never mind").unwrap(), "{dialect}: {body}");
            let mut again = place.reopen(&session).await;
            assert_eq!(kept(&again), after, "{dialect}");
            again.undo_repair().await.unwrap();
            assert_eq!(kept(&again), before, "{dialect}");
        }
    });
}

#[test]
fn late_results_of_one_turn_are_adjacent() {
    on_every_store(async |place| {
        for dialect in dialects() {
            for order in [["a", "b", "c"], ["c", "a", "b"]] {
                let mut session = in_dialect(&place, dialect).await;
                session.append(&spoken(dialect, "go")).await.unwrap();
                session.append_all(&refs(&paying(dialect, &["a", "b", "c"]))).await.unwrap();
                session.append(&spoken(dialect, "never mind")).await.unwrap();
                for id in order {
                    let text = format!("PAID {id}");
                    assert!(session.add_late_result(&pay(id), &said(&text)).await.unwrap(), "{dialect}");
                    assert!(!session.add_late_result(&pay(id), &said("again")).await.unwrap(), "{dialect}");
                    assert!(sent(&session).contains(&text), "{dialect}");
                }
                let request = session.request("{}").unwrap();
                let body = String::from_utf8(request.body).unwrap();
                assert!(["a", "b", "c"].iter().all(|id| body.contains(&format!("PAID {id}"))), "{dialect}: {body}");
                let is_made_up =
                    |action: &seamline::repair::RepairAction| action.synthetic && action.code.starts_with("PAIR");
                assert!(!request.actions.iter().any(is_made_up), "{dialect}: {:?}", request.actions);
                let found = session.check().unwrap().findings;
                assert!(found.iter().all(|found| !found.code.starts_with("PAIR")), "{dialect}: {found:?}");
                assert!(session.entries().iter().all(|entry| entry.origin == Origin::Said), "{dialect}");
            }
        }
    });
}

#[test]
fn the_second_of_two_calls_with_one_id_gets_its_own_result() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append_all(&[ASK, &paying("anthropic_messages", &["a", "a"])[0], ASK]).await.unwrap();
        assert!(session.add_late_result(&pay("a#2"), &said("TWO")).await.unwrap());
        assert!(session.add_late_result(&pay("a"), &said("ONE")).await.unwrap(), "{:?}", kept(&session));
        let results = &kept(&session)[2];
        assert!(results.find("ONE").unwrap() < results.find("TWO").unwrap(), "{results}");
        assert!(is_valid(&session) && session.entries()[2].origin == Origin::Said);
    });
}

#[test]
fn a_late_result_of_an_answered_call_is_not_needed() {
    on_every_store(async |place| {
        let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"real"}]}"#;
        for messages in [[ASK, result, &turn(&["a"])], [&turn(&["a"]), ASK, result]] {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append_all(&messages).await.unwrap();
            let call = ToolCallRef { id: "a".into(), name: "sh" };
            assert!(!session.add_late_result(&call, &said("other")).await.unwrap());
            assert_eq!(kept(&session), messages);
        }
    });
}
