//! Late results, calls that share an id, and results with their own types.

use std::future::pending;

use seamline::Policy;
use seamline::session::{OpenOptions, PersistRepairs, Session, SessionPolicy, ToolCallRef};
use seamline::store::{Effect, Origin};

use super::asking::in_dialect;
use super::calls::said;
use super::stores::{ASK, Place, Tool, is_valid, kept, memory, on_every_store, open_options, repairing};

const SHARED: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"pay","input":{"n":1}},{"type":"tool_use","id":"a","name":"pay","input":{"n":2}}]}"#;

#[test]
fn calls_that_share_an_id_each_get_their_own_late_result() {
    on_every_store(async |place| {
        for second_first in [false, true] {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append(ASK).await.unwrap();
            let (_, calls) = session.begin_cycle(&[SHARED], &|_| Effect::Unsafe).await.unwrap();
            session.abort().await.unwrap();
            let mut late = vec![(&calls[0].id, "ONE"), (&calls[1].id, "TWO")];
            if second_first {
                late.reverse();
            }
            for (id, text) in late {
                let call = ToolCallRef { id: id.clone(), name: "pay" };
                assert!(session.add_late_result(&call, &said(text)).await.unwrap(), "{id}: {:?}", kept(&session));
                assert!(!session.add_late_result(&call, &said("again")).await.unwrap(), "a real one stays");
            }
            let results = &kept(&session)[2];
            assert!(results.find("ONE").unwrap() < results.find("TWO").unwrap(), "{results}");
            assert_eq!(results.matches(r#""tool_use_id":"a""#).count(), 2, "{results}");
            assert!(is_valid(&session) && session.messages().count() == 3);
        }
    });
}

/// The record of a repair says which results it made: the policy that wrote them may be gone.
#[test]
fn a_late_result_replaces_what_a_repair_made_up_under_another_policy() {
    on_every_store(async |place| {
        let mut policy = repairing(SessionPolicy { persist_repairs: PersistRepairs::All, ..SessionPolicy::default() });
        policy.repair.synthetic_text.missing = "it never came".into();
        let mut session = place.create_with(policy).await;
        let turn =
            SHARED.replace(r#""id":"a","name":"pay","input":{"n":2}"#, r#""id":"b","name":"pay","input":{"n":2}"#);
        for message in [ASK, &turn, r#"{"role":"user","content":"well?"}"#] {
            session.append(message).await.unwrap();
        }
        session.repair().await.unwrap();
        assert!(kept(&session)[2].contains("it never came"), "{:?}", kept(&session));
        let options = OpenOptions { take_over: true, policy: Some(Policy::default()), ..open_options() };
        let mut again = Session::open(place.store.clone(), session.id().clone(), options).await.unwrap();
        let call = ToolCallRef { id: "a".into(), name: "pay" };
        assert!(again.add_late_result(&call, &said("ONE")).await.unwrap(), "{:?}", kept(&again));
        assert!(!again.add_late_result(&call, &said("again")).await.unwrap(), "a real one stays");
        assert!(kept(&again)[2].contains("ONE"), "{:?}", kept(&again));
    });
}

#[test]
fn results_of_calls_that_share_an_id_have_it_in_every_dialect() {
    on_every_store(async |place| {
        let chat = r#"{"id":"a","type":"function","function":{"name":"pay","arguments":"{}"}}"#;
        let chat = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{chat},{chat}]}}"#);
        let item = r#"{"type":"function_call","call_id":"a","name":"pay","arguments":"{}"}"#;
        let bedrock = r#"{"toolUse":{"toolUseId":"a","name":"pay","input":{}}}"#;
        let bedrock = format!(r#"{{"role":"assistant","content":[{bedrock},{bedrock}]}}"#);
        let gemini = r#"{"functionCall":{"id":"a","name":"pay","args":{}}}"#;
        let gemini = format!(r#"{{"role":"model","parts":[{gemini},{gemini}]}}"#);
        let turns: [(&str, &[&str], &str); 5] = [
            ("anthropic_messages", &[SHARED], r#""tool_use_id":"a""#),
            ("openai_chat", &[&chat], r#""tool_call_id":"a""#),
            ("openai_responses", &[item, item], r#""call_id":"a""#),
            ("bedrock_converse", &[&bedrock], r#""toolUseId":"a""#),
            ("gemini_generate", &[&gemini], r#""id":"a""#),
        ];
        for (dialect, turn, id) in turns {
            let mut session = in_dialect(&place, dialect).await;
            let (cycle, calls) = session.begin_cycle(turn, &|_| Effect::ReadOnly).await.unwrap();
            // The output of a tool may look like an id.
            session.finish_call(&cycle, &calls[1].id, &said("a#2")).await.unwrap();
            session.finish_call(&cycle, &calls[0].id, &said("ONE")).await.unwrap();
            session.commit_cycle(&cycle).await.unwrap();
            let results = kept(&session)[turn.len()..].concat();
            assert_eq!(results.matches(id).count(), 2, "{dialect}: {results}");
            assert!(results.find("ONE").unwrap() < results.find("a#2").unwrap(), "{dialect}: {results}");
            let body = String::from_utf8(session.request("{}").unwrap().body).unwrap();
            assert!(body.contains("ONE") && body.contains("a#2") && !body.contains("No result"), "{body}");
        }
    });
}

#[test]
fn the_abandoned_call_without_an_id_gets_the_late_result() {
    on_every_store(async |place| {
        let mut session = in_dialect(&place, "gemini_generate").await;
        let turn = r#"{"role":"model","parts":[{"functionCall":{"name":"pay","args":{}}}]}"#;
        let (_, calls) = session.begin_cycle(&[turn], &|_| Effect::Unsafe).await.unwrap();
        session.abort().await.unwrap();
        session.append(r#"{"role":"user","parts":[{"text":"again"}]}"#).await.unwrap();
        session.execute_tool_cycle(&[turn], &Tool::saying("paid"), pending()).await.unwrap();
        let before = kept(&session);
        let call = ToolCallRef { id: calls[0].id.clone(), name: "pay" };
        assert!(session.add_late_result(&call, &said("late")).await.unwrap(), "{before:?}");
        let after = kept(&session);
        assert!(after[1].contains("late") && !after[1].contains(r#""id""#), "{}", after[1]);
        assert_eq!((&after[0], &after[2..]), (&before[0], &before[2..]));
        assert!(!session.add_late_result(&ToolCallRef { name: "other", ..call }, &said("x")).await.unwrap());
    });
}

#[test]
fn a_late_result_leaves_the_rest_of_its_message_unchanged() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        let turn = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"pay","input":{}}]}"#;
        let given_up = r#"{"role":"user", "content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":"[synthetic] [not executed] The call \"pay\" did not run: the run was stopped before it was started."} ,{"type":"text","text":"and  now?"}]}"#;
        session.append_all(&[ASK, turn, given_up]).await.unwrap();
        let call = ToolCallRef { id: "a".into(), name: "pay" };
        assert!(session.add_late_result(&call, &said("paid")).await.unwrap());
        let result = &kept(&session)[2];
        assert!(result.starts_with(r#"{"role":"user", "content":[{"#), "{result}");
        assert!(result.ends_with(r#"} ,{"type":"text","text":"and  now?"}]}"#), "{result}");
        assert!(result.contains("paid") && !result.contains("is_error\":true"), "{result}");
        assert_eq!(session.entries()[2].origin, Origin::Said);
        session.undo_repair().await.unwrap();
        assert_eq!(kept(&session)[2], given_up);
    });
}

async fn responses(place: &Place) -> Session {
    let mut session = in_dialect(place, "openai_responses").await;
    session.append(r#"{"role":"user","content":"go"}"#).await.unwrap();
    session
}

/// Calls of the types of the Responses API, the output of a tool, and the item that stores it.
const TYPED: [(&str, &str, bool, &str); 7] = [
    (
        r#"{"type":"shell_call","call_id":"c","action":{"commands":["ls"]}}"#,
        "a.txt",
        false,
        r#"{"type":"shell_call_output","call_id":"c","output":[{"stdout":"a.txt","stderr":"","outcome":{"type":"exit","exit_code":0}}]}"#,
    ),
    (
        r#"{"type":"shell_call","call_id":"c","action":{"commands":["ls"]},"environment":{"type":"local"}}"#,
        "no such file",
        true,
        r#"{"type":"shell_call_output","call_id":"c","output":[{"stdout":"","stderr":"no such file","outcome":{"type":"exit","exit_code":-1}}]}"#,
    ),
    (
        r#"{"type":"shell_call","call_id":"c","action":{"commands":["ls"]}}"#,
        r#"[{"stdout":"x","stderr":"y","outcome":{"type":"timeout"}}]"#,
        false,
        r#"{"type":"shell_call_output","call_id":"c","output":[{"stdout":"x","stderr":"y","outcome":{"type":"timeout"}}]}"#,
    ),
    (
        r#"{"type":"apply_patch_call","call_id":"c","status":"completed","operation":{"type":"delete_file","path":"a"}}"#,
        "done",
        false,
        r#"{"type":"apply_patch_call_output","call_id":"c","status":"completed","output":"done"}"#,
    ),
    (
        r#"{"type":"apply_patch_call","call_id":"c","status":"completed","operation":{"type":"delete_file","path":"a"}}"#,
        "no such file",
        true,
        r#"{"type":"apply_patch_call_output","call_id":"c","status":"failed","output":"no such file"}"#,
    ),
    (
        r#"{"type":"local_shell_call","call_id":"c","id":"lsh_1","status":"completed","action":{"type":"exec","command":["ls"],"env":{}}}"#,
        "a.txt",
        false,
        r#"{"type":"local_shell_call_output","id":"c","output":"a.txt"}"#,
    ),
    (
        r#"{"type":"custom_tool_call","call_id":"c","name":"grep","input":"x"}"#,
        "found",
        false,
        r#"{"type":"custom_tool_call_output","call_id":"c","output":"found"}"#,
    ),
];

#[test]
fn calls_with_types_get_results_of_these_types() {
    on_every_store(async |place| {
        for (call, text, is_error, result) in TYPED {
            let mut session = responses(&place).await;
            let tool = Tool::doing(move |_| Ok(seamline::session::ToolOutput { output: text.to_owned(), is_error }));
            let done = session.execute_tool_cycle(&[call], &tool, pending()).await.unwrap();
            assert_eq!(done.outcomes[0].content, text);
            assert_eq!(kept(&session)[1..], [call, result]);
            let found = session.check().unwrap().findings;
            assert!(found.iter().all(|found| !found.code.starts_with("PAIR")), "{call}: {found:?}");
        }
    });
}

#[test]
fn a_late_result_replaces_the_synthetic_one_of_a_call_with_a_type() {
    let place = memory();
    futures_executor::block_on(async {
        for (call, text, is_error, result) in TYPED {
            let mut session = responses(&place).await;
            let (_, calls) = session.begin_cycle(&[call], &|_| Effect::Unsafe).await.unwrap();
            session.abort().await.unwrap();
            let late = ToolCallRef { id: calls[0].id.clone(), name: &calls[0].name };
            let output = seamline::session::ToolOutput { output: text.to_owned(), is_error };
            assert!(session.add_late_result(&late, &output).await.unwrap(), "{:?}", kept(&session));
            assert_eq!(kept(&session)[1..], [call, result]);
        }
    });
}

#[test]
fn a_shell_in_a_container_of_the_provider_does_not_run_here() {
    on_every_store(async |place| {
        let server = r#"{"type":"shell_call","call_id":"s","action":{"commands":["ls"]},"environment":{"type":"container_reference","container_id":"cntr_1"}}"#;
        let ran = r#"{"type":"shell_call_output","call_id":"s","output":[{"stdout":"there","stderr":"","outcome":{"type":"exit","exit_code":0}}]}"#;
        let call = r#"{"type":"function_call","call_id":"c","name":"read","arguments":"{}"}"#;
        let mut session = responses(&place).await;
        assert!(session.begin_cycle(&[server, ran], &|_| Effect::Unsafe).await.is_err(), "it makes no calls");
        let tool = Tool::saying("here");
        let done = session.execute_tool_cycle(&[server, ran, call], &tool, pending()).await.unwrap();
        assert_eq!((tool.runs(), done.outcomes.len(), done.outcomes[0].tool_use_id.as_str()), (1, 1, "c"));
        let result = r#"{"type":"function_call_output","call_id":"c","output":"here"}"#;
        assert_eq!(kept(&session)[1..], [server, ran, call, result]);
    });
}
