//! Calls that must not run, calls that ran already, and calls without ids.

use std::future::pending;

use seamline::session::{Session, SessionPolicy, Truth};
use seamline::store::{Effect, IncidentKind};
use seamline::stream::ResponseStream;

use super::asking::in_dialect;
use super::knobs::session_of;
use super::stores::{ASK, Tool, asking, is_valid, kept, on_every_store, results, turn};

/// Turns with one call that must not run, in every dialect.
const NOT_RUN: [(&str, &str); 17] = [
    ("anthropic_messages", r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"","input":{}}]}"#),
    (
        "anthropic_messages",
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"pay","input":"{\"amount\": 10"}]}"#,
    ),
    (
        "anthropic_messages",
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"pay","input":{"to":"\ud83d"}}]}"#,
    ),
    (
        "openai_chat",
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"pay","arguments":"{\"amount\": 10"}}]}"#,
    ),
    (
        "openai_chat",
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"pay","arguments":"[1]"}}]}"#,
    ),
    (
        "openai_chat",
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"pay","arguments":"{\"amount\":1e999}"}}]}"#,
    ),
    (
        "openai_chat",
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":" ","arguments":"{}"}}]}"#,
    ),
    (
        "openai_chat",
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"arguments":"{}"}}]}"#,
    ),
    ("openai_chat", r#"{"role":"assistant","content":null,"function_call":{"name":"pay","arguments":"{\"am"}}"#),
    (
        "openai_responses",
        r#"{"type":"function_call","call_id":"a","name":"pay","arguments":"{\"am","status":"incomplete"}"#,
    ),
    (
        "openai_responses",
        r#"{"type":"function_call","call_id":"a","name":"pay","arguments":"{}","status":"incomplete"}"#,
    ),
    (
        "openai_responses",
        r#"{"type":"custom_tool_call","call_id":"a","name":"pay","input":"half a te","status":"incomplete"}"#,
    ),
    (
        "openai_responses",
        r#"{"type":"function_call","call_id":"a","name":"pay","arguments":"","status":"in_progress"}"#,
    ),
    ("gemini_generate", r#"{"role":"model","parts":[{"functionCall":{"name":"pay","args":{},"willContinue":true}}]}"#),
    (
        "gemini_generate",
        r#"{"role":"model","parts":[{"functionCall":{"name":"pay","partialArgs":[{"jsonPath":"$.a","numberValue":1}]}}]}"#,
    ),
    ("gemini_generate", r#"{"role":"model","parts":[{"functionCall":{"name":"","args":{}}}]}"#),
    ("bedrock_converse", r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"","input":{}}}]}"#),
];

fn ask(dialect: &str) -> &'static str {
    match dialect {
        "gemini_generate" => r#"{"role":"user","parts":[{"text":"please"}]}"#,
        "bedrock_converse" => r#"{"role":"user","content":[{"text":"please"}]}"#,
        _ => ASK,
    }
}

/// Whether the next request can be sent, and each of these is in it once.
fn says_once(session: &Session, texts: &[&str]) -> bool {
    let request = session.request("{}").unwrap();
    let body = String::from_utf8(request.body).unwrap();
    let is_there = |text: &&str| body.matches(text).count() == 1;
    request.sendable && texts.iter().all(is_there) && !body.contains("not in this conversation")
}

#[test]
fn a_call_that_must_not_run_does_not_and_the_model_reads_why() {
    on_every_store(async |place| {
        for enabled in [true, false] {
            for (dialect, turn) in NOT_RUN {
                let mut session = in_dialect(&place, dialect).await;
                session.append(ask(dialect)).await.unwrap();
                if !enabled {
                    let options = seamline::session::OpenOptions {
                        take_over: true,
                        policy: Some(asking(SessionPolicy { enabled, ..SessionPolicy::default() })),
                        ..Default::default()
                    };
                    session = Session::open(place.store.clone(), session.id().clone(), options).await.unwrap();
                }
                let tool = Tool::saying("PAID");
                let result = session.execute_tool_cycle(&[turn], &tool, pending()).await.unwrap();
                assert_eq!(tool.runs(), 0, "{turn}");
                assert!(!result.success && !result.rolled_back && result.error.is_some(), "{turn}");
                let [outcome] = result.outcomes.as_slice() else { panic!("{turn}: {:?}", result.outcomes) };
                assert!(outcome.synthetic && outcome.is_error && outcome.content.contains("did not run:"), "{turn}");
                assert_eq!(session.messages().nth(1), Some(turn), "it is kept unchanged");
                // A session that is switched off repairs nothing, so the provider would refuse its request.
                assert!(!enabled || says_once(&session, &["did not run:"]), "{turn}");
                let noted = session.incidents().filter(|found| found.kind == IncidentKind::NotExecuted).count();
                assert_eq!(noted, usize::from(enabled), "{turn}");
            }
        }
    });
}

#[test]
fn the_other_calls_of_the_turn_run() {
    on_every_store(async |place| {
        let turn = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"pay","arguments":"{\"amount\": 10"}},{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]}"#;
        let mut session = in_dialect(&place, "openai_chat").await;
        session.append(ASK).await.unwrap();
        let tool = Tool::saying("READ");
        let result = session.execute_tool_cycle(&[turn], &tool, pending()).await.unwrap();
        assert_eq!(tool.runs(), 1);
        assert!(!result.success && result.outcomes[0].synthetic && !result.outcomes[1].synthetic);
        assert!(says_once(&session, &["did not run:", "READ"]));
        // A host that runs tools itself gets only the other one.
        let (cycle, calls) = session.begin_cycle(&[turn], &|_| Effect::Unsafe).await.unwrap();
        assert_eq!(calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["b"]);
        assert!(session.before_tool_call(&cycle, &"a".into()).await.is_err());
        assert_eq!(session.unresolved()[0].truth, Truth::NeverStarted);
        // No call had started when the process died, so the turn is not stored.
        let mut again = place.reopen(&session).await;
        assert!(again.unresolved().is_empty() && again.messages().count() == 4);
        // Recovery does not run it either.
        let (_, _) = again.begin_cycle(&[turn], &|_| Effect::Idempotent).await.unwrap();
        let tool = Tool { effect: Effect::Idempotent, ..Tool::saying("READ") };
        again.recover_with(&tool).await.unwrap();
        assert_eq!(tool.runs(), 0);
    });
}

#[test]
fn a_call_that_the_turn_answers_does_not_run_again() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let tool = Tool::saying("AGAIN");
        let (both, first) = (turn(&["toolu_1", "toolu_2"]), results(&["toolu_1"]));
        let refused = session.execute_tool_cycle(&[&turn(&["toolu_1"]), &first], &tool, pending()).await;
        assert!(refused.is_err() && tool.runs() == 0);
        let result = session.execute_tool_cycle(&[&both, &first], &tool, pending()).await.unwrap();
        assert!(result.success && tool.runs() == 1);
        assert_eq!(result.outcomes.iter().map(|outcome| outcome.tool_use_id.as_str()).collect::<Vec<_>>(), ["toolu_2"]);
        assert_eq!(kept(&session)[1..3], [both, first]);
        assert!(says_once(&session, &["did toolu_1", "AGAIN"]) && is_valid(&session));
    });
}

/// Turns with two calls without ids.
const WITHOUT_IDS: [(&str, &[&str]); 6] = [
    (
        "anthropic_messages",
        &[
            r#"{"role":"assistant","content":[{"type":"tool_use","name":"pay","input":{}},{"type":"tool_use","name":"get","input":{}}]}"#,
        ],
    ),
    (
        "anthropic_messages",
        &[
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"","name":"pay","input":{}},{"type":"tool_use","id":"","name":"pay","input":{}}]}"#,
        ],
    ),
    (
        "openai_chat",
        &[
            r#"{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"pay","arguments":"{}"}},{"type":"function","function":{"name":"pay","arguments":"{}"}}]}"#,
        ],
    ),
    (
        "openai_responses",
        &[
            r#"{"type":"function_call","name":"pay","arguments":"{}"}"#,
            r#"{"type":"function_call","name":"get","arguments":"{}"}"#,
        ],
    ),
    (
        "bedrock_converse",
        &[
            r#"{"role":"assistant","content":[{"toolUse":{"name":"pay","input":{}}},{"toolUse":{"name":"get","input":{}}}]}"#,
        ],
    ),
    (
        "gemini_generate",
        &[
            r#"{"role":"model","parts":[{"functionCall":{"name":"pay","args":{}}},{"functionCall":{"name":"get","args":{}}}]}"#,
        ],
    ),
];

#[test]
fn calls_without_ids_have_their_own_results() {
    on_every_store(async |place| {
        for (dialect, turn) in WITHOUT_IDS {
            let mut session = in_dialect(&place, dialect).await;
            session.append(ask(dialect)).await.unwrap();
            // The same turn twice: the second one has other ids.
            for round in ["1st", "2nd"] {
                let (cycle, calls) = session.begin_cycle(turn, &|_| Effect::Unsafe).await.unwrap();
                for (call, text) in calls.iter().zip(["ONE", "TWO"]) {
                    session.before_tool_call(&cycle, &call.id).await.unwrap();
                    let output = format!("{text} {round}");
                    let output = seamline::session::ToolOutput { output, is_error: false };
                    session.finish_call(&cycle, &call.id, &output).await.unwrap();
                }
                session.commit_cycle(&cycle).await.unwrap();
            }
            assert!(says_once(&session, &["ONE 1st", "TWO 1st", "ONE 2nd", "TWO 2nd"]), "{dialect}");
            let request = session.request("{}").unwrap();
            let pairing: Vec<_> = request.actions.iter().filter(|action| !action.code.starts_with("LIMIT")).collect();
            assert!(pairing.is_empty(), "{dialect}: {pairing:?}");
        }
    });
}

#[test]
fn the_result_of_a_call_without_an_id_names_the_function() {
    on_every_store(async |place| {
        let mut session = in_dialect(&place, "openai_chat").await;
        session.append(ASK).await.unwrap();
        let turn = r#"{"role":"assistant","content":null,"function_call":{"name":"pay","arguments":"{}"}}"#;
        let tool = Tool::saying("PAID");
        let result = session.execute_tool_cycle(&[turn], &tool, pending()).await.unwrap();
        assert!(result.success && tool.runs() == 1);
        let told = r#"{"role":"function","name":"pay","content":"PAID"}"#;
        assert_eq!(kept(&session)[1..], [turn, told]);
        assert!(session.validate().unwrap().valid && session.request("{}").unwrap().actions.is_empty());
    });
}

/// A whole call whose arguments name the id of another call, which was cut.
const NAMES_THE_OTHER: &[u8] = b"data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"tool_calls\":[\
{\"index\":0,\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"sh\",\"arguments\":\"{}\"}},\
{\"index\":1,\"id\":\"call_2\",\"type\":\"function\",\"function\":{\"name\":\"call_2\",\"arguments\":\"{\\\"pa\"}}]}}]}\n\n\
data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";

#[test]
fn a_refused_call_does_not_run_though_a_text_of_its_turn_equals_its_id() {
    on_every_store(async |place| {
        let mut session = session_of(&place, "openai", "id_mode = 'canonical'").await;
        session.append(ASK).await.unwrap();
        let mut stream = ResponseStream::new(&session.stream_options()).unwrap();
        stream.feed(NAMES_THE_OTHER);
        let response = stream.finish().unwrap();
        let tool = Tool::saying("ran");
        session.execute_response(&response, &tool, pending()).await.unwrap();
        assert_eq!(tool.runs(), 1, "{:?}", kept(&session));
    });
}
