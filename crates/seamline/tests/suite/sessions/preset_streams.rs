//! The streams of the source documents, each through a session with the preset of its document.

use std::future::pending;

use seamline::Policy;
use seamline::classify::Failure;
use seamline::session::{AgentStart, Session, SessionOptions, ToolOutput, TurnEnd};
use seamline::stream::{Ending, Response, ResponseStream};
use seamline_testkit::Dialect;
use serde_json::{Value, json};

use super::knobs::session_of;
use super::stores::{ASK, Place, Tool, kept, memory, on_every_store};

const DIALECT: Dialect = Dialect::OpenAiChat;

async fn session(place: &Place, preset: &str) -> Session {
    let options = SessionOptions {
        dialect: Some(DIALECT.name().to_owned()),
        provider: Some("openai".to_owned()),
        policy: Policy::preset(preset).unwrap(),
        ..SessionOptions::default()
    };
    let mut session = Session::create(place.store.clone(), place.name().parse().unwrap(), options).await.unwrap();
    session.append(ASK).await.unwrap();
    session
}

/// A stream with a text and these calls.
fn stream(calls: &[Value], reason: Option<&str>) -> String {
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let function = json!({"name": call["name"], "arguments": call["arguments"]});
            json!({"index": index, "id": call["id"], "type": "function", "function": function})
        })
        .collect();
    let first = json!({"id": "c1", "choices": [{"index": 0, "delta": {"content": "Look:", "tool_calls": calls}}]});
    let end = reason.map_or_else(String::new, |reason| {
        let last = json!({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]});
        format!("data: {last}\n\ndata: [DONE]\n\n")
    });
    format!("data: {first}\n\n{end}")
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "name": name, "arguments": arguments})
}

fn read(session: &Session, stream: &str) -> Response {
    let mut reading = ResponseStream::new(&session.stream_options()).unwrap();
    reading.feed(stream.as_bytes());
    reading.finish().unwrap()
}

/// Sends the next request, which the strict check accepts, and gives its body. A repair that is offered is made.
async fn next_body(session: &mut Session) -> String {
    let mut start = session.before_agent_start(DIALECT.envelope()).await.unwrap();
    if let AgentStart::Blocked { repair_offered: true, .. } = start {
        session.repair().await.unwrap();
        start = session.before_agent_start(DIALECT.envelope()).await.unwrap();
    }
    let AgentStart::Proceed { request, .. } = start else { panic!("{start:?}") };
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let violations = seamline_testkit::strict::check(DIALECT, &body);
    assert!(violations.is_empty(), "{violations:?}: {body}");
    body.to_string()
}

#[test]
fn s0_30_opal_drops_calls_without_an_id_or_a_name() {
    on_every_store(async |place| {
        for (id, name, runs) in [("call_1", "sh", true), ("", "sh", false), ("call_1", "", false), ("", "", false)] {
            let mut session = session(&place, "opal").await;
            let response = read(&session, &stream(&[call(id, name, "{}")], Some("tool_calls")));
            assert_eq!(response.calls.iter().any(|call| call.executable), runs, "{id:?} {name:?}");
            if runs {
                session.execute_response(&response, &Tool::saying("done"), pending()).await.unwrap();
            } else {
                session.agent_end(TurnEnd::Response(&response)).await.unwrap();
                assert_eq!(kept(&session)[1..], [r#"{"role":"assistant","content":"Look:"}"#], "{id:?} {name:?}");
            }
            session.append(ASK).await.unwrap();
            next_body(&mut session).await;
        }
    });
}

#[test]
fn s0_43_opal_runs_no_call_of_an_interrupted_stream() {
    on_every_store(async |place| {
        for (arguments, reason, ending) in [
            ("{}", None, Ending::Truncated),
            ("{\"pa", None, Ending::Truncated),
            ("{\"pa", Some("length"), Ending::CutCall),
        ] {
            let mut session = session(&place, "opal").await;
            let response = read(&session, &stream(&[call("call_1", "sh", arguments)], reason));
            assert_eq!(response.ending, ending, "{arguments}");
            assert!(response.calls.iter().all(|call| !call.executable), "{arguments}");
            session.agent_end(TurnEnd::Response(&response)).await.unwrap();
            session.append(ASK).await.unwrap();
            assert!(!next_body(&mut session).await.contains("call_1"), "{arguments}");
        }
    });
}

#[test]
fn s0_25_opal_keeps_nothing_of_a_stream_with_an_error_and_an_end_in_one_piece() {
    on_every_store(async |place| {
        let mut session = session(&place, "opal").await;
        next_body(&mut session).await;
        let error = "data: {\"error\":{\"code\":\"invalid_request_body\",\"message\":\"invalid request body\"}}\n\n";
        let begun = stream(&[call("call_1", "sh", "{}")], None);
        let end = stream(&[], Some("tool_calls"));
        let response = read(&session, &format!("{begun}{error}{end}"));
        assert_eq!(response.ending, Ending::Failed);
        assert!(response.calls.iter().all(|call| !call.executable));
        let said = response.error.unwrap().text;
        let failure = Failure { provider: Some("openai"), text: &said, ..Failure::default() };
        session.agent_end(TurnEnd::Failed(failure)).await.unwrap();
        assert_eq!(kept(&session), [ASK], "no part of the response became a message");
        session.append(ASK).await.unwrap();
        next_body(&mut session).await;
    });
}

#[test]
fn s1_x16_clawos_keeps_nothing_of_a_response_that_was_cut_in_a_call() {
    on_every_store(async |place| {
        let mut session = session(&place, "clawos").await;
        let before = next_body(&mut session).await;
        let response = read(&session, &stream(&[call("call_1", "sh", "{\"pa")], Some("length")));
        session.agent_end(TurnEnd::Response(&response)).await.unwrap();
        assert_eq!((kept(&session), next_body(&mut session).await), (vec![ASK.to_owned()], before));
    });
}

#[test]
fn s2_01_llxprt_answers_a_streamed_call_that_the_user_cancelled() {
    on_every_store(async |place| {
        let mut session = session(&place, "llxprt").await;
        let response = read(&session, &stream(&[call("call_1", "sh", "{}")], Some("tool_calls")));
        let (cycle, calls) = session.begin_response(&response, &|_| seamline::store::Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &calls[0].id).await.unwrap();
        session.abort().await.unwrap();
        session.append(ASK).await.unwrap();
        let body = next_body(&mut session).await;
        assert!(body.contains("Tool execution cancelled by user") && !body.contains("hist_tool_"), "{body}");
    });
}

#[test]
fn s3_07_kilroy_pairs_every_malformed_call_of_a_loop() {
    on_every_store(async |place| {
        let mut session = session(&place, "kilroy").await;
        for round in 1..=3 {
            let id = format!("call_{round}");
            let response = read(&session, &stream(&[call(&id, "shell", "{\"comma")], Some("tool_calls")));
            session.agent_end(TurnEnd::Response(&response)).await.unwrap();
            let body = next_body(&mut session).await;
            assert_eq!(body.matches("did not run:").count(), round, "{body}");
            assert!(session.validate().unwrap().valid, "{:?}", session.validate());
        }
    });
}

#[test]
fn s4_01_libr_agent_sends_no_tool_message_without_its_call_after_a_stream() {
    futures_executor::block_on(async {
        for answered in 0..=2 {
            let mut session = session(&memory(), "libr-agent").await;
            let calls = [call("call_1", "sh", "{}"), call("call_2", "sh", "{}")];
            let response = read(&session, &stream(&calls, Some("tool_calls")));
            // A host without cycles appends the messages and the results that it has.
            session.append_all(&response.messages()).await.unwrap();
            for id in ["call_1", "call_2"].into_iter().take(answered) {
                let result = json!({"role": "tool", "tool_call_id": id, "content": format!("OUT {id}")});
                session.append(&result.to_string()).await.unwrap();
            }
            session.append(r#"{"role":"tool","tool_call_id":"call_999","content":"orphan"}"#).await.unwrap();
            session.append(ASK).await.unwrap();
            let body = next_body(&mut session).await;
            assert!(!body.contains("orphan"), "{body}");
            for (number, id) in (0..).zip(["call_1", "call_2"]) {
                assert_eq!(body.contains(id), number < answered, "{answered}: {body}");
            }
        }
        let mut session = session(&memory(), "libr-agent").await;
        let response = read(&session, &stream(&[call("call_1", "sh", "{}")], Some("tool_calls")));
        let tool = Tool::doing(|_| Ok(ToolOutput { output: "done".to_owned(), is_error: false }));
        session.execute_response(&response, &tool, pending()).await.unwrap();
        assert!(next_body(&mut session).await.contains("done"));
    });
}

#[test]
fn s0_30_a_call_without_an_id_gets_one_or_is_dropped() {
    on_every_store(async |place| {
        let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"Look:\",\"tool_calls\":[{\"index\":0,\"function\":\
                      {\"name\":\"sh\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
        for (policy, runs) in [("", true), ("blank_call = 'drop_call'", false), ("preset = 'opal'", false)] {
            let mut session = session_of(&place, "openai", policy).await;
            session.append(ASK).await.unwrap();
            let mut reading = ResponseStream::new(&session.stream_options()).unwrap();
            reading.feed(stream.as_bytes());
            let response = reading.finish().unwrap();
            assert_eq!(response.calls[0].executable, runs, "{policy}");
            assert_eq!(response.calls[0].why_not, (!runs).then_some("the stream gave it no id"), "{policy}");
            assert!(response.findings.iter().any(|found| found.name == "call-without-id"), "{policy}");
            if runs {
                session.execute_response(&response, &Tool::saying("done"), pending()).await.unwrap();
            } else {
                session.agent_end(TurnEnd::Response(&response)).await.unwrap();
                assert_eq!(kept(&session)[1..], [r#"{"role":"assistant","content":"Look:"}"#], "{policy}");
            }
            assert!(session.request(r#"{"model":"gpt-4.1"}"#).unwrap().actions.is_empty(), "{policy}");
        }
    });
}
