//! Every kind of call, and every way it can end.

use std::future::pending;
use std::task::Poll;

use futures_util::future::poll_fn;
use seamline::Options;
use seamline::session::{
    ExecutorFailure, NoMessage, Running, Session, SessionError, StopCause, ToolCall, ToolCallRef, ToolExecutor,
    ToolOutput,
};
use seamline::store::Effect;
use seamline_testkit::{Dialect, strict};

use super::asking::in_dialect;
use super::stores::{Place, kept, memory};

const GEMINI: &str = "gemini_generate";
const BEDROCK: &str = "bedrock_converse";
const CHAT: &str = "openai_chat";
const RESPONSES: &str = "openai_responses";
const ANTHROPIC: &str = "anthropic_messages";

/// Turns with two calls of each kind, or with one where there cannot be two.
const KINDS: &[(&str, &[&str])] = &[
    (
        ANTHROPIC,
        &[
            r#"{"role":"assistant","content":[{"type":"text","text":"so"},{"type":"tool_use","id":"a","name":"read","input":{}},{"type":"tool_use","id":"b","name":"computer","input":{"action":"screenshot"}}]}"#,
        ],
    ),
    (
        BEDROCK,
        &[
            r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"read","input":{}}},{"toolUse":{"toolUseId":"b","name":"pay","input":{}}}]}"#,
        ],
    ),
    (
        GEMINI,
        &[
            r#"{"role":"model","parts":[{"functionCall":{"id":"a","name":"read","args":{}}},{"functionCall":{"id":"b","name":"pay","args":{}}}]}"#,
        ],
    ),
    (
        GEMINI,
        &[
            r#"{"role":"model","parts":[{"functionCall":{"name":"pay","args":{}}},{"functionCall":{"name":"pay","args":{}}}]}"#,
        ],
    ),
    (
        CHAT,
        &[
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"b","type":"custom","custom":{"name":"patch","input":"*** Begin"}}]}"#,
        ],
    ),
    (CHAT, &[r#"{"role":"assistant","content":null,"function_call":{"name":"pay","arguments":"{}"}}"#]),
    (
        RESPONSES,
        &[
            r#"{"type":"reasoning","id":"rs_1","summary":[]}"#,
            r#"{"type":"function_call","id":"fc_1","call_id":"a","name":"read","arguments":"{}"}"#,
            r#"{"type":"custom_tool_call","id":"ctc_1","call_id":"b","name":"patch","input":"*** Begin"}"#,
        ],
    ),
    (
        RESPONSES,
        &[
            r#"{"type":"shell_call","call_id":"a","action":{"commands":["ls"]},"environment":{"type":"local"}}"#,
            r#"{"type":"shell_call","call_id":"b","action":{"commands":["rm x"]}}"#,
        ],
    ),
    (
        RESPONSES,
        &[
            r#"{"type":"local_shell_call","id":"lsh_1","call_id":"a","action":{"type":"exec","command":["ls"],"env":{}},"status":"completed"}"#,
            r#"{"type":"apply_patch_call","call_id":"b","operation":{"type":"delete_file","path":"x"},"status":"completed"}"#,
        ],
    ),
    (
        RESPONSES,
        &[
            r#"{"type":"reasoning","id":"rs_1","summary":[]}"#,
            r#"{"type":"computer_call","id":"cu_1","call_id":"a","action":{"type":"click","button":"left","x":1,"y":2},"pending_safety_checks":[{"id":"cu_sc_1","code":"malicious_instructions","message":"look"}],"status":"completed"}"#,
            r#"{"type":"computer_call","id":"cu_2","call_id":"b","actions":[{"type":"screenshot"}],"status":"completed"}"#,
        ],
    ),
];

/// The progress of a call when its cycle is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Nowhere,
    Begun,
    Failed,
    Done,
}

const CAME: [Came; 4] = [Came::Nowhere, Came::Begun, Came::Failed, Came::Done];

fn ask(dialect: &str) -> &'static str {
    match dialect {
        GEMINI => r#"{"role":"user","parts":[{"text":"please"}]}"#,
        BEDROCK => r#"{"role":"user","content":[{"text":"please"}]}"#,
        _ => r#"{"role":"user","content":"please"}"#,
    }
}

/// Whether a call has the form from before call ids, whose stored results are not checked.
fn is_legacy<T: AsRef<str>>(messages: &[T]) -> bool {
    messages.iter().any(|message| message.as_ref().contains("\"function_call\":{"))
}

fn output(is_error: bool, text: &str) -> ToolOutput {
    ToolOutput { output: text.to_owned(), is_error }
}

/// Asserts that the stored messages may be sent unchanged, according to the rules and to an independent judge.
fn assert_valid(session: &Session, dialect: &str, what: &str) {
    let all = kept(session);
    let validation = session.validate().unwrap();
    assert!(validation.valid, "{what}: {:?} in {all:#?}", validation.errors);
    let request = session.request(r#"{"model":"m"}"#).unwrap();
    let actions: Vec<_> = request.actions.iter().filter(|action| !action.code.starts_with("LIMIT")).collect();
    assert!(request.sendable && actions.is_empty(), "{what}: {actions:?} in {all:#?}");
    let judged = match dialect {
        ANTHROPIC => Dialect::AnthropicMessages,
        BEDROCK => Dialect::BedrockConverse,
        GEMINI => Dialect::GeminiGenerate,
        CHAT => Dialect::OpenAiChat,
        _ => Dialect::OpenAiResponses,
    };
    // The judge does not know calls without ids.
    if !is_legacy(&all) {
        let violations = strict::check(judged, &serde_json::from_slice(&request.body).unwrap());
        assert!(violations.is_empty(), "{what}: {violations:?} in {all:#?}");
    }
}

async fn asked(place: &Place, dialect: &str) -> Session {
    let mut session = in_dialect(place, dialect).await;
    session.append(ask(dialect)).await.unwrap();
    session
}

#[test]
fn stored_messages_may_be_sent_however_calls_end() {
    let place = memory();
    futures_executor::block_on(async {
        for (dialect, turn) in KINDS {
            for (one, two) in CAME.into_iter().flat_map(|one| CAME.map(|two| (one, two))) {
                for aborted in [false, true] {
                    let what = format!("{dialect} {turn:?} {one:?} {two:?} {aborted}");
                    let mut session = asked(&place, dialect).await;
                    let (cycle, calls) = session.begin_cycle(turn, &|_| Effect::Unsafe).await.unwrap();
                    for (call, came) in calls.iter().zip([one, two]).filter(|(_, came)| *came != Came::Nowhere) {
                        session.before_tool_call(&cycle, &call.id).await.unwrap();
                        if came != Came::Begun {
                            let output = output(came == Came::Failed, "what the tool said");
                            session.finish_call(&cycle, &call.id, &output).await.unwrap();
                        }
                    }
                    if calls.iter().zip([one, two]).all(|(_, came)| matches!(came, Came::Failed | Came::Done)) {
                        session.commit_cycle(&cycle).await.unwrap();
                    } else if aborted {
                        session.abort().await.unwrap();
                    } else {
                        session.recover().await.unwrap();
                    }
                    assert_valid(&session, dialect, &what);
                    // Late results replace synthetic ones.
                    let begun =
                        calls.iter().zip([one, two]).filter(|(_, came)| *came == Came::Begun && !is_legacy(turn));
                    for (call, came) in begun {
                        let call = ToolCallRef { id: call.id.clone(), name: &call.name };
                        let late = session.add_late_result(&call, &output(false, "late")).await.unwrap();
                        assert!(late, "{what}: {came:?} in {:#?}", kept(&session));
                        assert_valid(&session, dialect, &what);
                    }
                }
            }
        }
    });
}

/// A tool that ends as the place of its call says.
struct Ends<'p>(&'p [ToolCall], [Came; 2]);

impl ToolExecutor for Ends<'_> {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> Running<'a> {
        let at = self.0.iter().position(|made| made.id == call.id).unwrap();
        let came = self.1[at];
        Box::pin(async move {
            match came {
                Came::Nowhere => Err(ExecutorFailure("there is no such tool".to_owned())),
                Came::Begun => pending().await,
                Came::Failed => Ok(output(true, "no such file")),
                Came::Done => Ok(output(false, "ok")),
            }
        })
    }
}

fn stop_once_begun(why: StopCause) -> impl Future<Output = StopCause> + Send {
    let mut asked = 0;
    poll_fn(move |context| {
        asked += 1;
        context.waker().wake_by_ref();
        if asked > 4 { Poll::Ready(why) } else { Poll::Pending }
    })
}

#[test]
fn stored_messages_may_be_sent_however_tools_end() {
    let place = memory();
    futures_executor::block_on(async {
        for (dialect, turn) in KINDS {
            let mut session = asked(&place, dialect).await;
            let (_, calls) = session.begin_cycle(turn, &|_| Effect::Unsafe).await.unwrap();
            assert_eq!(calls.len(), if is_legacy(turn) { 1 } else { 2 }, "{turn:?}");
            for (one, two) in CAME.into_iter().flat_map(|one| CAME.map(|two| (one, two))) {
                for why in [StopCause::Aborted, StopCause::TimedOut] {
                    let what = format!("{dialect} {turn:?} {one:?} {two:?} {why:?}");
                    let mut session = asked(&place, dialect).await;
                    let tool = Ends(&calls, [one, two]);
                    let result = session.execute_tool_cycle(turn, &tool, stop_once_begun(why)).await.unwrap();
                    assert_eq!(result.outcomes.len(), calls.len(), "{what}");
                    assert_valid(&session, dialect, &what);
                }
            }
        }
    });
}

#[test]
fn a_computer_call_gets_a_picture_as_synthetic_result_and_a_real_picture_is_kept() {
    let place = memory();
    futures_executor::block_on(async {
        let (_, turn) = KINDS.last().unwrap();
        let shown = r#"{"type":"computer_screenshot","file_id":"file_1"}"#;
        let checks =
            r#""acknowledged_safety_checks":[{"id":"cu_sc_1","code":"malicious_instructions","message":"look"}]"#;
        let told = [
            (
                output(false, shown),
                format!(r#"{{"type":"computer_call_output","call_id":"a","output":{shown},{checks}}}"#),
            ),
            (
                output(false, "https://example.com/screen.png"),
                format!(
                    r#"{{"type":"computer_call_output","call_id":"a","output":{{"type":"computer_screenshot","image_url":"https://example.com/screen.png"}},{checks}}}"#
                ),
            ),
        ];
        for (output, expected) in told {
            let mut session = asked(&place, RESPONSES).await;
            let (cycle, calls) = session.begin_cycle(turn, &|_| Effect::Unsafe).await.unwrap();
            assert_eq!(calls[0].name, "computer");
            assert!(calls[0].input.contains("cu_sc_1") && calls[1].input == r#"{"actions":[{"type":"screenshot"}]}"#);
            for call in &calls {
                session.before_tool_call(&cycle, &call.id).await.unwrap();
                session.finish_call(&cycle, &call.id, &output).await.unwrap();
            }
            session.commit_cycle(&cycle).await.unwrap();
            assert_eq!(kept(&session)[4], expected);
            assert_valid(&session, RESPONSES, "it shows something");
        }
        // Each request synthesizes a result for a call that was stored without one, without the checks that it did not
        // have.
        let mut session = asked(&place, RESPONSES).await;
        session.append_all(turn).await.unwrap();
        let found = session.check().unwrap().findings;
        assert_eq!(found.iter().filter(|found| found.code == "PAIR001").count(), 2, "{found:?}");
        let request = session.request("{}").unwrap();
        let body = String::from_utf8(request.body).unwrap();
        assert!(
            request.sendable && body.matches("data:image/png;base64,").count() == 2 && body.contains(checks),
            "{body}"
        );
        assert_eq!(body.matches("acknowledged_safety_checks").count(), 1);
    });
}

#[test]
fn invalid_pictures_of_a_computer_are_repaired() {
    let call = r#"{"type":"computer_call","id":"cu_1","call_id":"a","action":{"type":"screenshot"},"pending_safety_checks":[],"status":"completed"}"#;
    let result = |output: &str| format!(r#"{{"type":"computer_call_output","call_id":"a"{output}}}"#);
    let shown = r#""output":{"type":"computer_screenshot","image_url":"https://example.com/a.png"}"#;
    let cases = [
        (format!("{call},{}", result(r#","output":"https://example.com/a.png""#)), "SHAPE007", shown),
        (format!("{call},{}", result("")), "SHAPE007", r#""image_url":"data:image/png;base64,"#),
        (format!("{call},{}", result(r#","output":["words"]"#)), "SHAPE007", r#""image_url":"data:image/png;base64,"#),
        (result(&format!(",{shown}")), "PAIR002", r#"{"type":"input_image","image_url":"https://example.com/a.png"}"#),
    ];
    for (items, code, expected) in cases {
        let body = format!(r#"{{"input":[{},{items}]}}"#, ask(RESPONSES));
        let options = Options { dialect: Some(RESPONSES.to_owned()), ..Options::default() };
        let found = seamline::check(body.as_bytes(), &options).unwrap().findings;
        assert!(found.iter().any(|found| found.code == code), "{body}: {found:#?}");
        let repaired = seamline::repair(body.as_bytes(), &options).unwrap().body.to_vec();
        let text = String::from_utf8_lossy(&repaired);
        assert!(text.contains(expected), "{body}: {text}");
        assert!(seamline::check(&repaired, &options).unwrap().findings.is_empty(), "{text}");
        assert!(strict::check(Dialect::OpenAiResponses, &serde_json::from_str(&text).unwrap()).is_empty(), "{text}");
    }
}

/// A call and its result in every dialect.
const PAIRS: [(&str, [&str; 2]); 5] = [
    (
        ANTHROPIC,
        [
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{"file":"NAME"}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"OUTPUT"}]}"#,
        ],
    ),
    (
        BEDROCK,
        [
            r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"read","input":{"file":"NAME"}}}]}"#,
            r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"OUTPUT"}]}}]}"#,
        ],
    ),
    (
        GEMINI,
        [
            r#"{"role":"model","parts":[{"functionCall":{"name":"read","args":{"file":"NAME"}}}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"OUTPUT"}}}]}"#,
        ],
    ),
    (
        CHAT,
        [
            r#"{"role":"assistant","content":"so","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"file\":\"NAME\"}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"a","content":"OUTPUT"}"#,
        ],
    ),
    (
        RESPONSES,
        [
            r#"{"type":"function_call","call_id":"a","name":"read","arguments":"{\"file\":\"NAME\"}"}"#,
            r#"{"type":"function_call_output","call_id":"a","output":"OUTPUT"}"#,
        ],
    ),
];

#[test]
fn calls_and_results_of_another_dialect_are_refused_unless_they_can_be_read() {
    let place = memory();
    futures_executor::block_on(async {
        for (own, _) in PAIRS {
            for (dialect, pair) in PAIRS {
                let mut session = asked(&place, own).await;
                let taken = own == dialect || (own, dialect) == (CHAT, ANTHROPIC);
                for message in pair {
                    let result = session.append(message).await;
                    let error = match result {
                        Ok(()) => {
                            assert!(taken, "{own}: {message}");
                            continue;
                        }
                        Err(error) => error,
                    };
                    assert!(!taken, "{own}: {message}: {error}");
                    let what = NoMessage::Foreign { dialect };
                    assert_eq!(error, SessionError::NoMessage { number: 1, what }, "{own}: {message}");
                    assert!(error.to_string().contains(dialect), "{error}");
                    assert!(error.hint().is_some_and(|hint| hint.contains("convert")), "{:?}", error.hint());
                    assert!(session.begin_cycle(&[message], &|_| Effect::Unsafe).await.is_err(), "{own}: {message}");
                }
                if taken {
                    let request = session.request("{}").unwrap();
                    let body = String::from_utf8(request.body).unwrap();
                    assert!(request.sendable && !body.contains("[synthetic] No result"), "{own}: {body}");
                }
            }
            // Messages without calls are left to the rules.
            for message in [r#"{"role":"model","parts":[{"text":"hi"}]}"#, r#"{"role":"developer","content":"hi"}"#] {
                asked(&place, own).await.append(message).await.unwrap();
            }
        }
    });
}

/// Sessions check stored messages in this way too, however these were stored.
#[test]
fn stored_calls_and_results_of_another_dialect_are_reported_and_not_lost() {
    for (dialect, pair) in PAIRS {
        for (own, _) in PAIRS.into_iter().filter(|(own, _)| *own != dialect) {
            let list = match own {
                GEMINI => "contents",
                RESPONSES => "input",
                _ => "messages",
            };
            let body = format!(r#"{{"{list}":[{},{}]}}"#, ask(own), pair.join(","));
            let options = Options { dialect: Some(own.to_owned()), kept: true, ..Options::default() };
            let found = seamline::check(body.as_bytes(), &options).unwrap().findings;
            for message in 1..3 {
                let told = found.iter().any(|found| found.message_index == Some(message));
                assert!(told, "{own}: {}: {found:#?}", pair[message - 1]);
            }
            let repaired = seamline::repair(body.as_bytes(), &options).unwrap();
            let body = String::from_utf8(repaired.body.to_vec()).unwrap();
            assert!(body.contains("OUTPUT") && body.contains("NAME"), "{own}: {body}");
        }
    }
}
