//! Requests to the provider: commits, rollbacks and refusals.

use std::future::pending;

use futures_util::FutureExt;
use seamline::classify::Failure;
use seamline::session::{
    AgentEnd, AgentStart, OpenOptions, RecoveryAction, Session, SessionError, SessionOptions, SessionPolicy,
    ToolOutput, TurnEnd,
};
use seamline::store::{CheckpointState, Effect, IncidentKind, Operation};

use super::faulty::{Fault, Faulty};
use super::stores::{
    ASK, ENVELOPE, Tool, asking, is_valid, kept, memory, on_every_store, open_options, repairing, results, turn,
};

const OVERLOADED: Failure<'static> = Failure {
    provider: None,
    dialect: None,
    status: Some(529),
    headers: &[],
    text: r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
    received_at: None,
};

fn open_checkpoints(session: &Session) -> usize {
    session.checkpoints().iter().filter(|found| found.state == CheckpointState::Open).count()
}

#[test]
fn an_error_never_rolls_back_a_committed_cycle() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        session.before_agent_start(ENVELOPE).await.unwrap();
        session.execute_tool_cycle(&[&turn(&["toolu_1"])], &Tool::saying("paid"), pending()).await.unwrap();
        assert_eq!(open_checkpoints(&session), 0, "a response with calls is a response");
        session.before_agent_start(ENVELOPE).await.unwrap();
        let before = kept(&session);
        for _ in 0..3 {
            session.agent_end(TurnEnd::Failed(OVERLOADED)).await.unwrap();
            assert_eq!(kept(&session), before);
        }
        assert_eq!(kept(&place.reopen(&session).await), before);
    });
}

#[test]
fn an_error_never_rolls_back_messages_after_a_manual_checkpoint() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let manual = session.create_checkpoint(Operation::Manual).await.unwrap();
        let (open, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
        session.execute_tool_cycle(&[&turn(&["toolu_2"])], &Tool::saying("paid"), pending()).await.unwrap();
        session.handle_error(&OVERLOADED).await.unwrap();
        assert!(kept(&session).concat().contains("paid"), "{open}");
        session.handle_error(&OVERLOADED).await.unwrap();
        assert!(kept(&session).concat().contains("paid"));
        session.rollback(&manual.id, "by name").await.unwrap();
        assert_eq!(kept(&session), [ASK]);
    });
}

#[test]
fn one_request_checkpoint_is_open_and_spent_ones_are_pruned() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        for round in 0..20 {
            session.before_agent_start(ENVELOPE).await.unwrap();
            assert_eq!(open_checkpoints(&session), 1);
            if round % 3 == 0 {
                session.agent_end(TurnEnd::Failed(OVERLOADED)).await.unwrap();
            }
            assert!(session.checkpoints().len() <= 7, "{}", session.checkpoints().len());
        }
    });
}

#[test]
fn no_committed_checkpoint_is_kept_if_the_limit_is_zero() {
    on_every_store(async |place| {
        let config = SessionPolicy { checkpoint_retention: 0, ..SessionPolicy::default() };
        let mut session = place.create(config).await;
        session.append(ASK).await.unwrap();
        session.execute_tool_cycle(&[&turn(&["toolu_1"])], &Tool::saying("ok"), pending()).await.unwrap();
        assert!(session.checkpoints().is_empty());
    });
}

#[test]
fn a_response_and_its_checkpoint_are_committed_together() {
    let place = memory();
    futures_executor::block_on(async {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        session.before_agent_start(ENVELOPE).await.unwrap();
        let before = place.store.read(session.id(), 0, usize::MAX).await.unwrap().len();
        session.agent_end(TurnEnd::Messages(&[r#"{"role":"assistant","content":"yes"}"#])).await.unwrap();
        assert_eq!(place.store.read(session.id(), 0, usize::MAX).await.unwrap().len(), before + 1);
        assert_eq!(open_checkpoints(&session), 0);
    });
}

#[test]
fn open_calls_are_closed_before_the_next_request() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1", "toolu_2"])], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        let output = ToolOutput { output: "paid".to_owned(), is_error: false };
        session.finish_call(&cycle, &"toolu_1".into(), &output).await.unwrap();
        let start = session.before_agent_start(ENVELOPE).await.unwrap();
        let AgentStart::Proceed { request, .. } = start else { panic!("{start:?}") };
        let body = String::from_utf8(request.body).unwrap();
        assert!(body.contains("paid") && body.contains("toolu_2"), "{body}");
        assert!(session.unresolved().is_empty() && is_valid(&session));
    });
}

#[test]
fn ids_that_repeat_between_turns_do_not_block_a_session() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        let cycle = [turn(&["toolu_1"]), results(&["toolu_1"])];
        session.append_all(&[ASK, &cycle[0], &cycle[1], &cycle[0], &cycle[1]]).await.unwrap();
        assert!(!session.validate().unwrap().valid && !session.session_start().await.unwrap().repair_offered);
        let start = session.before_agent_start(ENVELOPE).await.unwrap();
        assert!(matches!(start, AgentStart::Proceed { .. }), "{start:?}");
        assert!(is_valid(&session));
    });
}

#[test]
fn s1_81_a_session_is_checked_before_the_call_or_not() {
    on_every_store(async |place| {
        for validate_before_call in [true, false] {
            let mut session = place.create(SessionPolicy { validate_before_call, ..SessionPolicy::default() }).await;
            session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
            let start = session.before_agent_start(ENVELOPE).await.unwrap();
            assert_eq!(matches!(start, AgentStart::Blocked { .. }), validate_before_call, "{start:?}");
        }
    });
}

#[test]
fn incidents_do_not_contain_the_output_of_a_tool() {
    on_every_store(async |place| {
        let on_tool_error = seamline::session::OnFailure::Rollback;
        let mut session = place.create(SessionPolicy { on_tool_error, ..SessionPolicy::default() }).await;
        session.append(ASK).await.unwrap();
        let tool = Tool::doing(|_| Ok(ToolOutput { output: "secret 4711".to_owned(), is_error: true }));
        let result = session.execute_tool_cycle(&[&turn(&["toolu_1"])], &tool, pending()).await.unwrap();
        assert_eq!(result.error.as_deref(), Some("secret 4711"));
        for commit in place.store.read(session.id(), 0, usize::MAX).await.unwrap() {
            assert!(!String::from_utf8(commit.bytes).unwrap().contains("secret"));
        }
    });
}

#[test]
fn a_disabled_session_handles_no_error_and_loses_no_result() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy { enabled: false, ..SessionPolicy::default() }).await;
        session.append_all(&[ASK, &turn(&["toolu_9"]), ASK]).await.unwrap();
        let before = kept(&session);
        let end = session.agent_end(TurnEnd::Failed(OVERLOADED)).await.unwrap();
        assert!(matches!(&end, AgentEnd::Recovered(done) if done.action == RecoveryAction::Escalate), "{end:?}");
        assert_eq!((kept(&session), session.incidents().count()), (before, 0));
        // One tool returns before the user aborts, the other does not.
        let stop = super::stopping::once_begun();
        let calls = turn(&["toolu_1", "toolu_2"]);
        let result = session.execute_tool_cycle(&[&calls], &super::calls::FirstOnly, stop).await.unwrap();
        assert!(!result.success && result.outcomes.len() == 2, "{result:?}");
        assert_eq!(result.outcomes[0].content, "first");
        assert!(result.outcomes[1].synthetic && kept(&session).concat().contains("first"));
    });
}

#[test]
fn a_value_that_is_not_a_message_is_refused() {
    on_every_store(async |place| {
        let refused = [
            ("anthropic_messages", r#"{"foo":1}"#),
            ("anthropic_messages", r#"[{"role":"user","content":"hi"}]"#),
            ("anthropic_messages", r#""hi""#),
            ("anthropic_messages", r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#),
            ("openai_chat", r#"{"id":"c","object":"chat.completion","choices":[]}"#),
            ("openai_responses", r#"{"id":"r","object":"response","output":[]}"#),
            ("gemini_generate", r#"{"candidates":[]}"#),
            ("bedrock_converse", r#"{"output":{"message":{}},"stopReason":"end_turn"}"#),
            ("anthropic_messages", r#"{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":null}"#),
            ("anthropic_messages", r#"{"type":"error","error":{"type":"overloaded_error"}}"#),
            ("openai_chat", r#"{"error":{"message":"no"}}"#),
            ("openai_chat", r#"{"id":"msg_1"}"#),
        ];
        for (dialect, message) in refused {
            let mut session = in_dialect(&place, dialect).await;
            let error = session.append(message).await.unwrap_err();
            assert!(matches!(error, SessionError::NoMessage { number: 1, .. }), "{message}: {error}");
            assert!(error.hint().is_some(), "{message}: {error}");
            assert!(session.append_all(&[ASK, message]).await.is_err() && session.messages().count() == 0);
        }
        let taken = [
            ("gemini_generate", r#"{"parts":[{"text":"hi"}]}"#),
            ("openai_responses", r#"{"id":"msg_1"}"#),
            ("openai_responses", r#"{"type":"function_call_output","call_id":"c","output":"ok"}"#),
            ("openai_responses", r#"{"type":"mcp_call","id":"mcp_1","name":"x","arguments":"{}","error":null}"#),
            (
                "openai_responses",
                r#"{"type":"message","role":"assistant","id":"msg_1","content":[],"status":"completed"}"#,
            ),
            ("openai_chat", r#"{"role":"wizard"}"#),
        ];
        for (dialect, message) in taken {
            in_dialect(&place, dialect).await.append(message).await.unwrap();
        }
    });
}

pub(super) async fn in_dialect(place: &super::stores::Place, dialect: &str) -> Session {
    let options = SessionOptions { dialect: Some(dialect.to_owned()), ..SessionOptions::default() };
    Session::create(place.store.clone(), place.name().parse().unwrap(), options).await.unwrap()
}

#[test]
fn an_envelope_with_messages_is_refused() {
    on_every_store(async |place| {
        for (dialect, list) in
            [("openai_chat", "messages"), ("gemini_generate", "contents"), ("openai_responses", "input")]
        {
            let session = in_dialect(&place, dialect).await;
            for envelope in [format!(r#"{{"{list}":[]}}"#), format!(r#"{{"model":"m","x":{{}},"{list}":null}}"#)] {
                let error = session.request(&envelope).unwrap_err();
                assert!(matches!(error, SessionError::Refused(_)), "{envelope}: {error}");
            }
            assert!(
                session.request(&format!(r#"{{"x":{{"{list}":[]}}}}"#)).is_ok(),
                "further inside it is another one"
            );
        }
    });
}

#[test]
fn a_provider_must_be_known_and_serves_any_dialect() {
    on_every_store(async |place| {
        for (dialect, provider, is_served) in [
            (Some("openai_chat"), "no-such", None),
            (Some("openai_chat"), "anthropic", Some("openai_chat")),
            (Some("openai_chat"), "openai", Some("openai_chat")),
            (None, "openai", Some("openai_chat")),
            (None, "gemini", Some("gemini_generate")),
        ] {
            let options = SessionOptions {
                dialect: dialect.map(str::to_owned),
                provider: Some(provider.to_owned()),
                ..SessionOptions::default()
            };
            let id: seamline::store::SessionId = place.name().parse().unwrap();
            let made = Session::create(place.store.clone(), id.clone(), options).await;
            assert_eq!(made.as_ref().ok().map(Session::dialect), is_served, "{provider}: {:?}", made.as_ref().err());
            if let Ok(session) = made {
                assert_eq!(Some(place.reopen(&session).await.dialect()), is_served);
            } else {
                assert!(place.store.read_head(&id).await.is_err(), "nothing of it is kept");
            }
        }
    });
}

#[test]
fn a_session_that_could_not_be_opened_has_no_lease() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        let id = session.id().clone();
        session.append(ASK).await.unwrap();
        session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
        session.close().await.unwrap();
        // Recovery cannot be written.
        let full = Fault::Fails(|| seamline::store::Error::NoSpace("full".to_owned()));
        assert!(Session::open(Faulty::new(place.store.clone(), full), id.clone(), open_options()).await.is_err());
        let session = Session::open(place.store.clone(), id.clone(), OpenOptions::default()).await.unwrap();
        session.close().await.unwrap();
    });
}

#[test]
fn two_openings_in_the_same_moment_have_different_holders() {
    on_every_store(async |place| {
        let session = place.create(SessionPolicy::default()).await;
        let id = session.id().clone();
        session.close().await.unwrap();
        // Each has its own clock, and both show the same time.
        let session = Session::open(place.store.clone(), id.clone(), open_options()).await.unwrap();
        let busy = Session::open(place.store.clone(), id, open_options()).await.unwrap_err();
        assert!(matches!(busy, SessionError::Store(seamline::store::Error::Busy { .. })), "{busy}");
        session.close().await.unwrap();
    });
}

#[test]
fn s1_32_incidents_have_the_kind_of_their_error() {
    on_every_store(async |place| {
        let filtered = "Output blocked by content filtering policy";
        for (status, text, kind) in [
            (504, "upstream request timeout", IncidentKind::Timeout),
            (529, "Overloaded", IncidentKind::ApiError),
            (400, filtered, IncidentKind::ContentFilter),
        ] {
            for with_checkpoint in [true, false] {
                let mut session = place.create(SessionPolicy::default()).await;
                session.append(ASK).await.unwrap();
                if with_checkpoint {
                    session.before_agent_start(ENVELOPE).await.unwrap();
                }
                let failure = Failure { status: Some(status), text, ..Failure::default() };
                let recovery = session.handle_error(&failure).await.unwrap();
                assert!(
                    session.incidents().any(|incident| incident.kind == kind),
                    "{text} {with_checkpoint}: {recovery:?}"
                );
            }
        }
    });
}

#[test]
fn a_rollback_of_a_running_cycle_is_reported() {
    on_every_store(async |place| {
        for how in 0..4 {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append(ASK).await.unwrap();
            let made = session.create_checkpoint(Operation::Manual).await.unwrap();
            let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
            session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
            match how {
                0 => drop(session.rollback(&made.id, "test").await.unwrap()),
                1 => drop(session.handle_error(&OVERLOADED).await.unwrap()),
                2 => drop(session.reset(seamline::session::ResetOptions::default()).await.unwrap()),
                _ => session.roll_back_cycle(&cycle, "test").await.unwrap(),
            }
            assert_eq!(session.repair_context().lost_calls.len(), 1, "{how}");
            assert!(session.incidents().any(|incident| incident.count == 1), "{how}");
        }
    });
}

#[test]
fn events_of_cycles_are_logged_at_the_level_all() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy { verbose: true, ..SessionPolicy::default() }).await;
        session.append(ASK).await.unwrap();
        session.execute_tool_cycle(&[&turn(&["toolu_1"])], &Tool::saying("ok"), pending()).await.unwrap();
        let kinds: Vec<_> = session.incidents().map(|incident| incident.kind).collect();
        assert_eq!(kinds, [IncidentKind::CheckpointCreated, IncidentKind::CheckpointCommitted]);
        let dropped = session.append(ASK).now_or_never();
        assert!(dropped.is_none_or(|done| done.is_ok()));
    });
}

#[test]
fn s1_74_every_recovery_action_is_taken_when_it_is_due() {
    on_every_store(async |place| {
        let refused = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1";
        let blocked = "Output blocked by content filtering policy";
        let broken = [ASK.to_owned(), turn(&["toolu_1"]), ASK.to_owned()];
        let cases = [
            (529, "Overloaded", true, RecoveryAction::RolledBack),
            (400, refused, true, RecoveryAction::Repaired),
            (400, blocked, false, RecoveryAction::ValidateAndRepair),
            (401, "invalid x-api-key", false, RecoveryAction::Escalate),
            (400, refused, false, RecoveryAction::Reset),
        ];
        for (status, text, is_broken, action) in cases {
            let last_resort = seamline::session::LastResort::Reset;
            let mut session = place.create(SessionPolicy { last_resort, ..SessionPolicy::default() }).await;
            let messages: Vec<&str> = broken.iter().map(String::as_str).collect();
            session.append_all(if is_broken { &messages } else { &messages[..1] }).await.unwrap();
            if is_broken {
                session.create_checkpoint(Operation::ApiCall).await.unwrap();
            }
            let failure = Failure { status: Some(status), text, ..Failure::default() };
            let recovery = session.handle_error(&failure).await.unwrap();
            assert_eq!(recovery.action, action, "{recovery:?}");
            assert!(text == blocked || recovery.details.is_some(), "{recovery:?}");
            assert!(session.incidents().count() > 0, "{text}");
        }
    });
}

#[test]
fn s1_77_a_failing_tool_rolls_its_cycle_back_if_the_policy_says_so() {
    on_every_store(async |place| {
        let on_tool_error = seamline::session::OnFailure::Rollback;
        let mut session = place.create(SessionPolicy { on_tool_error, ..SessionPolicy::default() }).await;
        session.append(ASK).await.unwrap();
        let (cycle, calls) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
        assert!(!session.before_tool_call(&cycle, &calls[0].id).await.unwrap().key.is_empty());
        let output = ToolOutput { output: "boom".to_owned(), is_error: true };
        let outcomes = session.after_tool_call(&cycle, &calls[0].id, &output).await.unwrap();
        assert_eq!(outcomes, Some(Vec::new()));
        assert!(session.unresolved().is_empty() && kept(&session) == [ASK]);
        assert_eq!(kept(&place.reopen(&session).await), [ASK]);
    });
}

#[test]
fn s1_15_a_session_is_checked_and_repaired_for_a_request_without_its_store() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        let gone = Fault::Fails(|| seamline::store::Error::Unavailable(seamline::store::cause::Unavailable::PoolBusy));
        let config =
            SessionPolicy { persist_repairs: seamline::session::PersistRepairs::Never, ..SessionPolicy::default() };
        let options = OpenOptions { take_over: true, policy: Some(asking(config)), ..open_options() };
        let mut broken =
            Session::open(Faulty::new(place.store.clone(), gone), session.id().clone(), options).await.unwrap();
        assert_eq!(broken.validate().unwrap().incomplete_ids, ["toolu_1"]);
        assert!(broken.repair().await.unwrap().repaired, "a repair that is not stored needs no store");
        let request = broken.request(ENVELOPE).unwrap();
        assert!(request.sendable && !request.actions.is_empty() && is_valid(&broken));
    });
}

#[test]
fn s1_84_a_checkpoint_keeps_the_messages_if_the_policy_says_so() {
    on_every_store(async |place| {
        for snapshot_messages in [false, true] {
            let config = SessionPolicy { snapshot_messages, ..SessionPolicy::default() };
            let mut session = place.create(config).await;
            session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
            let before = kept(&session);
            let made = session.create_checkpoint(Operation::Manual).await.unwrap();
            assert_eq!(made.snapshot.map(|kept| kept.len()), snapshot_messages.then_some(3));
            session.repair().await.unwrap();
            session.append(ASK).await.unwrap();
            session.rollback(&made.id, "test").await.unwrap();
            assert_eq!(kept(&session), before, "also after a later repair");
        }
    });
}

#[test]
fn s0_15_compaction_comes_first_then_the_repair_then_the_body() {
    on_every_store(async |place| {
        let config =
            SessionPolicy { persist_repairs: seamline::session::PersistRepairs::All, ..SessionPolicy::default() };
        let mut session = place.create_with(repairing(config)).await;
        session.append_all(&[ASK, ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        let range = session.before_compaction(0..2).await.unwrap();
        session.finish_compaction(range, &[r#"{"role":"user","content":"summary"}"#]).await.unwrap();
        let AgentStart::Proceed { request, .. } = session.before_agent_start(ENVELOPE).await.unwrap() else { panic!() };
        let commits = place.store.read(session.id(), 0, usize::MAX).await.unwrap();
        let log: String = commits.into_iter().map(|commit| String::from_utf8(commit.bytes).unwrap()).collect();
        let places = [r#"{"compact":"#, r#"{"repair":"#, r#""operation":"api_call""#].map(|record| log.find(record));
        assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
        let body = String::from_utf8(request.body).unwrap();
        assert!(body.contains("summary") && request.actions.is_empty(), "{body}");
    });
}
