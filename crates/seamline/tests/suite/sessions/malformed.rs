//! Complete responses whose tool calls are malformed: the model reads what was wrong with each call.

use seamline::Policy;
use seamline::policy::PRESETS;
use seamline::session::{Session, SessionOptions, TurnEnd};
use seamline::store::Effect;
use seamline::stream::{Ending, Response, ResponseStream};
use seamline_testkit::Dialect;
use serde_json::Value;

use super::stores::{Place, memory, on_every_store};

async fn asked(place: &Place, dialect: Dialect, policy: Policy) -> Session {
    let options = SessionOptions { dialect: Some(dialect.name().to_owned()), policy, ..SessionOptions::default() };
    let mut session = Session::create(place.store.clone(), place.name().parse().unwrap(), options).await.unwrap();
    session.append(dialect.user_message()).await.unwrap();
    session
}

fn read(session: &Session, stream: &str) -> Response {
    let mut reading = ResponseStream::new(&session.stream_options()).unwrap();
    reading.feed(stream.as_bytes());
    let response = reading.finish().unwrap();
    assert_eq!(response.ending, Ending::Complete, "{stream}");
    response
}

/// The next body, which the strict check accepts.
fn next_body(session: &Session, dialect: Dialect, note: &str) -> String {
    let (body, sendable) = next_request(session, dialect, note);
    assert!(sendable, "{note}: {body}");
    body
}

/// The next body, and whether it may be sent. The strict check accepts it if and only if it may.
fn next_request(session: &Session, dialect: Dialect, note: &str) -> (String, bool) {
    let request = session.request(dialect.envelope()).unwrap();
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let violations = seamline_testkit::strict::check(dialect, &body);
    assert_eq!(violations.is_empty(), request.sendable, "{note}: {violations:?}\n{body}");
    (body.to_string(), request.sendable)
}

/// Calls that must not run, each with words of the result that the model reads.
const MALFORMED: [(&str, &str, &str); 4] = [
    ("read", "{\"path\": \"a", "arguments are not a JSON object"),
    ("read", "path=a", "arguments are not a JSON object"),
    ("", "{\"path\":\"a\"}", "it names no tool"),
    ("", "{\"pa", "it names no tool"),
];

#[test]
fn s3_07_the_model_reads_what_was_wrong_with_its_only_call() {
    on_every_store(async |place| {
        for dialect in Dialect::ALL {
            for (name, input, why) in MALFORMED {
                let note = format!("{} {name:?} {input}", dialect.name());
                let mut session = asked(&place, dialect, Policy::default()).await;
                let before = next_body(&session, dialect, &note);
                let response = read(&session, &dialect.call_stream(name, input));
                assert!(!response.calls.iter().any(|call| call.executable), "{note}");
                session.agent_end(TurnEnd::Response(&response)).await.unwrap();
                let after = next_body(&session, dialect, &note);
                assert!(after != before && after.matches("did not run:").count() == 1, "{note}: {after}");
                assert!(after.contains(why), "{note}: {after}");
                assert!(name.is_empty() || session.validate().unwrap().valid, "{note}: {:?}", session.validate());
            }
        }
    });
}

/// A host that passes on the messages of the response does not run the call with an empty input either.
#[test]
fn a_host_that_passes_on_messages_runs_no_malformed_call() {
    futures_executor::block_on(async {
        for dialect in Dialect::ALL {
            for (name, input, why) in MALFORMED {
                let note = format!("{} {name:?} {input}", dialect.name());
                let mut session = asked(&memory(), dialect, Policy::default()).await;
                let response = read(&session, &dialect.call_stream(name, input));
                let mut again = asked(&memory(), dialect, Policy::default()).await;
                session.agent_end(TurnEnd::Messages(&response.messages())).await.unwrap();
                let (cycle, calls) = again.begin_cycle(&response.messages(), &|_| Effect::Unsafe).await.unwrap();
                assert!(calls.is_empty(), "{note}: {calls:?}");
                again.commit_cycle(&cycle).await.unwrap();
                for session in [session, again] {
                    let body = next_body(&session, dialect, &note);
                    assert!(body.contains("did not run:") && body.contains(why), "{note}: {body}");
                }
            }
        }
    });
}

#[test]
fn s3_07_the_model_reads_of_a_malformed_call_under_every_preset() {
    futures_executor::block_on(async {
        for preset in PRESETS {
            for dialect in Dialect::ALL {
                let note = format!("{} {}", preset.name, dialect.name());
                let mut session = asked(&memory(), dialect, Policy::preset(preset.name).unwrap()).await;
                let response = read(&session, &dialect.call_stream("read", "{\"pa"));
                session.agent_end(TurnEnd::Response(&response)).await.unwrap();
                session.repair().await.unwrap();
                let (body, sendable) = next_request(&session, dialect, &note);
                assert!(body.contains("did not run:"), "{note}: {body}");
                // Converse demands the tools that the host did not declare, and `strict` adds nothing.
                let lacks_tools = preset.name == "strict" && dialect == Dialect::BedrockConverse;
                assert_eq!(sendable, !lacks_tools, "{note}: {body}");
            }
        }
    });
}

#[test]
fn the_knob_drops_malformed_calls_or_their_turn() {
    futures_executor::block_on(async {
        for knob in ["drop_call", "drop_turn"] {
            let policy = Policy::from_toml(&format!("malformed_call = '{knob}'")).unwrap();
            let mut session = asked(&memory(), Dialect::AnthropicMessages, policy).await;
            let response = read(&session, &Dialect::AnthropicMessages.call_stream("read", "{\"pa"));
            assert!(response.messages().is_empty() && response.refused().is_empty(), "{knob}");
            session.agent_end(TurnEnd::Response(&response)).await.unwrap();
            assert_eq!(session.messages().count(), 1, "{knob}");
        }
    });
}
