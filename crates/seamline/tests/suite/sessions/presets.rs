//! Each preset in a session, end to end: the cases of its source document, its guards, and recovery after a crash.

use std::future::pending;
use std::time::Duration;

use seamline::classify;
use seamline::classify::Failure;
use seamline::guards::{
    Advice, Breaker, CallInRound, CheckedCall, Emitted, GaveUp, Outcome, Retry, StallGuard, StallNotice, ToolSchemas,
};
use seamline::policy::PRESETS;
use seamline::session::{AgentEnd, AgentStart, RecoveryAction, Session, SessionOptions, ToolOutput, Truth, TurnEnd};
use seamline::store::{Effect, IncidentKind};
use seamline::stream::{Ending, ResponseStream};
use seamline::{Options, Policy};
use seamline_testkit::Dialect;
use serde_json::{Map, Value};

use super::knobs::REFUSED;
use super::stores::{ASK, ENVELOPE, Place, Tool, kept, memory, on_every_store, turn};
use crate::presets::{Case, cases};

fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name)
}

async fn session(place: &Place, preset: &str) -> Session {
    place.create_with(Policy::preset(preset).unwrap()).await
}

/// Asks until the session proceeds, and accepts the repair that it offers.
async fn body_sent(session: &mut Session, envelope: &str) -> Result<Vec<u8>, String> {
    for _ in 0..2 {
        match session.before_agent_start(envelope).await.map_err(|error| error.to_string())? {
            AgentStart::Proceed { request, .. } => return Ok(request.body),
            AgentStart::Blocked { repair_offered: true, .. } => {
                session.repair().await.map_err(|error| error.to_string())?;
            }
            AgentStart::Blocked { validation, repair_offered: false } => {
                return Err(format!("blocked: {:?}", validation.errors));
            }
        }
    }
    Err("the repair was offered, made, and did not help".to_owned())
}

const LISTS: [&str; 3] = ["messages", "contents", "input"];

/// Puts the messages of a case into a session of its preset, and gives the messages that the provider gets. The strict check
/// accepts the body.
async fn through_a_session(place: &Place, case: &Case) -> Result<Option<Value>, String> {
    let input = std::fs::read(case.folder.join("input.json")).map_err(|error| error.to_string())?;
    let mut envelope: Map<String, Value> = serde_json::from_slice(&input).map_err(|error| error.to_string())?;
    let list = LISTS.into_iter().find(|list| envelope.contains_key(*list)).ok_or("no messages")?;
    let messages = envelope.remove(list).unwrap_or_default();
    let options = SessionOptions {
        dialect: Some(case.file.dialect.clone()),
        provider: Some(case.file.provider.clone()),
        policy: Policy::preset(&case.file.policy).ok_or("no such preset")?,
        ..SessionOptions::default()
    };
    let id = place.name().parse().map_err(|_| "a name")?;
    let mut session = Session::create(place.store.clone(), id, options).await.map_err(|error| error.to_string())?;
    for message in messages.as_array().into_iter().flatten() {
        session.append(&message.to_string()).await.map_err(|error| error.to_string())?;
    }
    let body = body_sent(&mut session, &Value::Object(envelope).to_string()).await;
    if session.messages().count() == 0 {
        return Ok(None);
    }
    let body: Value = serde_json::from_slice(&body?).map_err(|error| error.to_string())?;
    let dialect = Dialect::by_name(&case.file.dialect).ok_or("no such dialect")?;
    let violations = seamline_testkit::strict::check(dialect, &body);
    if !violations.is_empty() {
        return Err(format!("the provider rejects it: {violations:?} {body}"));
    }
    Ok(Some(body[list].clone()))
}

#[test]
fn a_session_sends_every_case_of_a_source_document_as_its_repair_gives_it() {
    futures_executor::block_on(async {
        let (mut count, mut failures) = (0, Vec::new());
        for case in cases().unwrap() {
            let name = format!("{}/{}", case.file.policy, case.folder.file_name().unwrap().to_string_lossy());
            let input = std::fs::read(case.folder.join("input.json")).unwrap();
            let options = Options {
                provider: Some(case.file.provider.clone()),
                dialect: Some(case.file.dialect.clone()),
                policy: Policy::preset(&case.file.policy).unwrap(),
                ..Options::default()
            };
            let repaired = seamline::repair(&input, &options).unwrap();
            let body: Value = serde_json::from_slice(&repaired.body).unwrap();
            let expected = LISTS.into_iter().find_map(|list| body.get(list)).cloned();
            let sent = through_a_session(&memory(), &case).await;
            match (&sent, repaired.sendable) {
                (Ok(sent), true) if *sent == expected || sent.is_none() => count += 1,
                // A call that may stay open in the store must not stay open in a request, which the strict check shows.
                (Ok(Some(sent)), _) if name.starts_with("clawos/") && is_start_of(sent, expected.as_ref()) => {
                    count += 1;
                }
                (Err(error), false) if !error.starts_with("the provider rejects") => count += 1,
                (Ok(None), false) if expected == Some(Value::Array(Vec::new())) => count += 1,
                _ => failures.push(format!("{name}:\n  sent {sent:?}\n  not  {expected:?}")),
            }
        }
        assert!(failures.is_empty(), "{} of {}\n{}", failures.len(), count + failures.len(), failures.join("\n"));
        assert!(count >= 100, "{count}");
    });
}

#[test]
fn recover_tells_under_every_preset_what_is_known_of_each_call() {
    on_every_store(async |place| {
        for name in names() {
            let mut session = session(&place, name).await;
            session.append(ASK).await.unwrap();
            let ids = ["toolu_1", "toolu_2", "toolu_3"];
            let (cycle, _) = session.begin_cycle(&[&turn(&ids)], &|_| Effect::Unsafe).await.unwrap();
            session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
            let output = ToolOutput { output: "paid".to_owned(), is_error: false };
            session.finish_call(&cycle, &"toolu_1".into(), &output).await.unwrap();
            session.before_tool_call(&cycle, &"toolu_2".into()).await.unwrap();
            let options =
                seamline::session::OpenOptions { take_over: true, recover: false, ..super::stores::open_options() };
            let mut session = Session::open(place.store.clone(), session.id().clone(), options).await.unwrap();
            let truths: Vec<Truth> = session.unresolved().iter().map(|call| call.truth).collect();
            assert_eq!(truths, [Truth::Finished, Truth::OutcomeUnknown, Truth::NeverStarted], "{name}");
            let recovered = session.recover().await.unwrap();
            assert_eq!((recovered.cycles, recovered.rolled_back, recovered.unknown), (1, 0, 1), "{name}");
            let stored = kept(&session);
            let told = stored.concat();
            for text in ["paid", "[outcome unknown]", "[not executed]"] {
                assert!(told.contains(text), "{name}: {told}");
            }
            // A second recovery does nothing, and the provider accepts the conversation.
            assert_eq!(session.recover().await.unwrap().cycles, 0, "{name}");
            let body = body_sent(&mut session, ENVELOPE).await.unwrap_or_else(|error| panic!("{name}: {error}"));
            let sent = String::from_utf8(body).unwrap();
            assert!(sent.contains("paid") && sent.contains("[outcome unknown]"), "{name}: {sent}");
            assert_eq!(kept(&session), stored, "{name}");
        }
    });
}

#[test]
fn an_untouched_cycle_is_rolled_back_under_every_preset() {
    on_every_store(async |place| {
        for name in names() {
            let mut session = session(&place, name).await;
            session.append(ASK).await.unwrap();
            session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
            let again = place.reopen(&session).await;
            assert_eq!(kept(&again), [ASK], "{name}");
            assert!(again.incidents().any(|found| found.kind == IncidentKind::NotExecuted), "{name}");
        }
    });
}

/// Wrong rounds of a tool, until the breaker stops the turn, and the last text for the model.
fn wrong_rounds(session: &Session) -> (Option<usize>, String) {
    let mut tools = ToolSchemas::new();
    tools.add("shell", Some(r#"{"type":"object","required":["command"]}"#)).unwrap();
    let mut breaker = Breaker::new(session.effective_policy().guard.breaker);
    let mut last = String::new();
    for round in 1..10 {
        // Each call differs, so that only the count of wrong calls can stop the turn.
        let arguments = format!(r#"{{"number":{round}}}"#);
        let call = CallInRound { name: "shell", arguments: &arguments, free: false, truncated: false };
        let (checked, stop) = breaker.handle_round(&[call], &tools);
        let CheckedCall::Refuse { text, escalated } = &checked[0] else { panic!("{checked:?}") };
        assert_eq!(*escalated, round >= 3, "{round}");
        last.clone_from(text);
        let outcome = Outcome { name: "shell", arguments: &arguments, ok: false, text };
        if stop.or(breaker.handle_outcomes(&[outcome])).is_some() {
            return (Some(round), last);
        }
    }
    (None, last)
}

#[test]
fn s3_25_the_breaker_warns_in_the_third_round_and_only_kilroy_ends_the_turn() {
    futures_executor::block_on(async {
        for name in names() {
            let session = session(&memory(), name).await;
            let (ended, text) = wrong_rounds(&session);
            assert_eq!(ended, (name == "kilroy").then_some(3), "{name}");
            assert!(text.contains("Do NOT call this tool again without providing all required fields."), "{text}");
        }
    });
}

#[test]
fn s3_26_the_stall_watchdog_warns_and_ends_the_run_as_the_preset_says() {
    futures_executor::block_on(async {
        let at = Duration::from_secs;
        for name in names() {
            let session = session(&memory(), name).await;
            let mut guard = StallGuard::new(session.effective_policy().guard.stall, at(0));
            let warned = guard.poll_notice(at(299));
            assert_eq!(matches!(warned, Some(StallNotice::Warn { .. })), name != "kilroy", "{name}: {warned:?}");
            let ended = guard.poll_notice(at(300));
            assert_eq!(matches!(ended, Some(StallNotice::Stalled { .. })), name != "opal", "{name}: {ended:?}");
            let late = guard.poll_notice(at(36_000));
            assert!(name != "opal" || !matches!(late, Some(StallNotice::Stalled { .. })), "opal never ends a run");
        }
    });
}

#[test]
fn s3_17_requests_are_sent_again_and_broken_ones_handled_as_the_preset_says() {
    futures_executor::block_on(async {
        let busy = classify(&Failure { status: Some(529), text: "Overloaded", ..Failure::default() });
        let broken = classify(&REFUSED);
        for name in names() {
            let session = session(&memory(), name).await;
            let policy = session.effective_policy().guard.retry;
            let mut retry = Retry::new(policy);
            let waits: Vec<_> = (0..3).map(|_| retry.handle_failure(&busy, b"{}", Emitted::Nothing)).collect();
            let again = |seconds| Advice::SendAgain { wait: Duration::from_secs(seconds) };
            assert_eq!(waits, [again(1), again(2), Advice::GiveUp { why: GaveUp::Retries }], "{name}");
            let advice = Retry::new(policy).handle_failure(&broken, b"{}", Emitted::Nothing);
            let expected = match name {
                "opal" | "strict" => Advice::GiveUp { why: GaveUp::Broken },
                "clawos" => Advice::Rollback,
                _ => Advice::Repair,
            };
            assert_eq!(advice, expected, "{name}");
        }
    });
}

#[test]
fn x14_a_session_does_what_its_retry_guard_advises() {
    on_every_store(async |place| {
        for name in names() {
            let mut session = session(&place, name).await;
            session.append(ASK).await.unwrap();
            session.before_agent_start(ENVELOPE).await.unwrap();
            session.append_all(&[&turn(&["toolu_1"]), ASK]).await.unwrap();
            let before = kept(&session);
            let recovery = session.handle_error(&REFUSED).await.unwrap();
            let expected = match name {
                "opal" | "strict" => RecoveryAction::Escalate,
                "clawos" => RecoveryAction::RolledBack,
                _ => RecoveryAction::Repaired,
            };
            assert_eq!(recovery.action, expected, "{name}: {recovery:?}");
            assert_eq!(kept(&session) == before, expected == RecoveryAction::Escalate, "{name}");
            if expected != RecoveryAction::Escalate {
                let body = body_sent(&mut session, ENVELOPE).await.unwrap_or_else(|error| panic!("{name}: {error}"));
                let retry = &mut Retry::new(session.effective_policy().guard.retry);
                retry.handle_failure(&classify(&REFUSED), b"the refused body", Emitted::Nothing);
                assert!(matches!(retry.handle_repaired(&body), Advice::SendAgain { .. }), "{name}");
            }
        }
    });
}

/// A stream of Anthropic's dialect whose call has a start value and deltas, and ends for this reason.
fn streamed(reason: &str, deltas: &[&str]) -> String {
    let mut events = vec![
        r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}"#.to_owned(),
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"shell","input":{"command":"start"}}}"#.to_owned(),
    ];
    for delta in deltas {
        let delta = Value::String((*delta).to_owned());
        events.push(format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":{delta}}}}}"#
        ));
    }
    events.push(r#"{"type":"content_block_stop","index":0}"#.to_owned());
    events.push(format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":9}}}}"#
    ));
    events.push(r#"{"type":"message_stop"}"#.to_owned());
    format!("data: {}\n\n", events.join("\n\ndata: "))
}

fn read(session: &Session, stream: &str) -> seamline::stream::Response {
    let mut reading = ResponseStream::new(&session.stream_options()).unwrap();
    reading.feed(stream.as_bytes());
    reading.finish().unwrap()
}

#[test]
fn s3_02_kilroy_takes_the_deltas_and_libr_agent_what_can_be_read() {
    on_every_store(async |place| {
        for (name, deltas, command) in [
            ("kilroy", &[r#"{"command""#, r#":"delta"}"#][..], Some("delta")),
            ("kilroy", &[], Some("start")),
            ("kilroy", &[r#"{"comma"#], None),
            ("libr-agent", &[r#"{"command":"delta"}"#], Some("delta")),
            ("libr-agent", &[r#"{"comma"#], Some("start")),
        ] {
            let mut session = session(&place, name).await;
            session.append(ASK).await.unwrap();
            let response = read(&session, &streamed("tool_use", deltas));
            let tool = Tool::doing(|call| Ok(ToolOutput { output: format!("ran {}", call.input), is_error: false }));
            if let Some(command) = command {
                let done = session.execute_response(&response, &tool, pending()).await.unwrap();
                assert_eq!(done.outcomes[0].content, format!(r#"ran {{"command":"{command}"}}"#), "{name}");
            } else {
                // S3-07: a malformed call still gets its result.
                session.agent_end(TurnEnd::Response(&response)).await.unwrap();
                assert_eq!((tool.runs(), session.messages().count()), (0, 3), "{name}: {:?}", kept(&session));
            }
            assert!(session.validate().unwrap().valid, "{name}");
            assert!(body_sent(&mut session, ENVELOPE).await.is_ok(), "{name}");
        }
    });
}

#[test]
fn s3_24_three_branches_of_kilroy_are_independent_and_each_recovers() {
    on_every_store(async |place| {
        for branch in 0..3 {
            let mut session = session(&place, "kilroy").await;
            session.append(ASK).await.unwrap();
            body_sent(&mut session, ENVELOPE).await.unwrap();
            // One branch gets a response that was cut, one a call that is never answered.
            match branch {
                0 => {
                    let response = read(&session, &streamed("max_tokens", &[r#"{"comma"#]));
                    assert_eq!(response.ending, Ending::CutCall);
                    session.agent_end(TurnEnd::Response(&response)).await.unwrap();
                }
                1 => {
                    session.append_all(&[&turn(&["toolu_1"]), ASK]).await.unwrap();
                    let recovery = session.handle_error(&REFUSED).await.unwrap();
                    assert_eq!(recovery.action, RecoveryAction::Repaired);
                    assert!(!kept(&session).concat().contains("toolu_1"), "fix 4, option A: the call is dropped");
                }
                _ => {
                    let tool = Tool::saying("done");
                    session.execute_tool_cycle(&[&turn(&["toolu_1"])], &tool, pending()).await.unwrap();
                }
            }
            assert!(body_sent(&mut session, ENVELOPE).await.is_ok(), "branch {branch}");
            assert!(session.validate().unwrap().valid, "branch {branch}");
        }
    });
}

#[test]
fn s0_40_an_error_in_a_stream_leaves_no_message_under_any_preset() {
    on_every_store(async |place| {
        for name in names() {
            let mut session = session(&place, name).await;
            session.append(ASK).await.unwrap();
            body_sent(&mut session, ENVELOPE).await.unwrap();
            let error =
                "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
            let begun = streamed("tool_use", &[r#"{"comma"#]);
            let response = read(
                &session,
                &format!("{}{error}", begun.split("data: {\"type\":\"content_block_stop").next().unwrap()),
            );
            assert_eq!(response.ending, Ending::Failed, "{name}");
            let failure = Failure { status: Some(529), text: "Overloaded", ..Failure::default() };
            let end = session.agent_end(TurnEnd::Failed(failure)).await.unwrap();
            assert!(matches!(end, AgentEnd::Recovered(_)), "{name}");
            assert_eq!(kept(&session), [ASK], "{name}");
            session.append(ASK).await.unwrap();
            assert!(body_sent(&mut session, ENVELOPE).await.is_ok(), "{name}: a new prompt is accepted");
        }
    });
}

#[test]
fn s1_58_a_content_filter_rolls_back_under_every_preset() {
    on_every_store(async |place| {
        let text = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}"#;
        for name in names() {
            let mut session = session(&place, name).await;
            session.append(ASK).await.unwrap();
            body_sent(&mut session, ENVELOPE).await.unwrap();
            session.append(r#"{"role":"assistant","content":"half a"}"#).await.unwrap();
            let failure = Failure { status: Some(400), text, ..Failure::default() };
            let recovery = session.handle_error(&failure).await.unwrap();
            assert_eq!((recovery.action, kept(&session)), (RecoveryAction::RolledBack, vec![ASK.to_owned()]), "{name}");
        }
    });
}

#[test]
fn an_abort_has_the_text_of_the_preset() {
    on_every_store(async |place| {
        for (name, text) in [
            ("opal", "[Aborted by user]"),
            ("llxprt", "Tool execution cancelled by user"),
            ("clawos", "[synthetic]"),
            ("kilroy", "[synthetic]"),
            ("libr-agent", "[synthetic]"),
        ] {
            let mut session = session(&place, name).await;
            session.append(ASK).await.unwrap();
            let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1", "toolu_2"])], &|_| Effect::Unsafe).await.unwrap();
            session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
            session.abort().await.unwrap();
            assert_eq!(kept(&session)[2].matches(text).count(), 2, "{name}: {:?}", kept(&session));
            let stored = kept(&session);
            body_sent(&mut session, ENVELOPE).await.unwrap();
            assert_eq!(kept(&session), stored, "{name}: the next turn has nothing to repair");
        }
    });
}

/// Whether a list of messages is the start of another one.
fn is_start_of(start: &Value, whole: Option<&Value>) -> bool {
    let lists = start.as_array().zip(whole.and_then(Value::as_array));
    lists.is_some_and(|(start, whole)| whole.starts_with(start))
}
