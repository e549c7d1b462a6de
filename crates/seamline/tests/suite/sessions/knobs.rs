//! Knobs that sessions read: each has an effect, and uses the overrides for the provider of the session.

use std::future::{pending, ready};

use seamline::Policy;
use seamline::classify::Failure;
use seamline::session::{
    AgentStart, OpenOptions, RecoveryAction, Session, SessionOptions, StopCause, ToolCall, ToolCallRef, ToolOutput,
    Truth, TurnEnd,
};
use seamline::store::{CheckpointState, Effect, IncidentKind, Operation, Origin};
use seamline::stream::{Response, ResponseStream};

use super::faulty::{Fault, Faulty};
use super::stores::{ASK, ENVELOPE, Place, Tool, is_valid, kept, memory, on_every_store, open_options, results, turn};

/// The error of a provider that rejects a call without a result.
pub(super) const REFUSED: Failure<'static> = Failure {
    provider: None,
    dialect: None,
    status: Some(400),
    headers: &[],
    text: "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    received_at: None,
};

const OVERLOADED: Failure<'static> = Failure { status: Some(529), text: "Overloaded", ..REFUSED };

pub(super) fn policy(text: &str) -> Policy {
    Policy::from_toml(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(super) async fn session(place: &Place, text: &str) -> Session {
    place.create_with(policy(text)).await
}

/// A session of OpenAI's dialect with this provider.
pub(super) async fn session_of(place: &Place, provider: &str, text: &str) -> Session {
    let options =
        SessionOptions { provider: Some(provider.to_owned()), policy: policy(text), ..SessionOptions::default() };
    Session::create(place.store.clone(), place.name().parse().unwrap(), options).await.unwrap()
}

fn is_blocked(start: &AgentStart) -> bool {
    matches!(start, AgentStart::Blocked { .. })
}

/// A turn of OpenAI's dialect with one call.
const OPENAI_TURN: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"sh","arguments":"{}"}},{"id":"call_2","type":"function","function":{"name":"sh","arguments":"{}"}}]}"#;

#[test]
fn x20_texts_of_stopped_calls_and_late_results_are_those_of_the_provider() {
    let text = "[provider.groq.synthetic_text]\naborted = 'groq: aborted'\ntimeout = 'groq: too late'\nmissing = 'groq: missing'";
    on_every_store(async |place| {
        for (provider, is_own) in [("groq", true), ("openai", false)] {
            for (stop, own) in [(StopCause::Aborted, "groq: aborted"), (StopCause::TimedOut, "groq: too late")] {
                let mut session = session_of(&place, provider, text).await;
                session.append(ASK).await.unwrap();
                let tool = Tool::saying("done");
                session.execute_tool_cycle(&[OPENAI_TURN], &tool, ready(stop)).await.unwrap();
                assert_eq!(kept(&session).concat().contains(own), is_own, "{provider} {:?}", kept(&session));
                // After a switch it is the other provider's text.
                session.switch_provider(if is_own { "openai" } else { "groq" }).await.unwrap();
                let again = OPENAI_TURN.replace("call_", "more_");
                session.execute_tool_cycle(&[&again], &tool, ready(stop)).await.unwrap();
                assert_eq!(kept(&session).last().unwrap().contains(own), !is_own, "{provider} {:?}", kept(&session));
            }
            let mut session = session_of(&place, provider, text).await;
            // Calls without ids are told apart by their order: the first one gets a synthetic result.
            let turn = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"sh","arguments":"{}"}},{"id":"call_1","type":"function","function":{"name":"sh","arguments":"{}"}}]}"#;
            session.append_all(&[ASK, turn]).await.unwrap();
            let output = ToolOutput { output: "late".to_owned(), is_error: false };
            assert!(
                session.add_late_result(&ToolCallRef { id: "call_1#2".into(), name: "sh" }, &output).await.unwrap()
            );
            assert_eq!(kept(&session).concat().contains("groq: missing"), is_own, "{provider} {:?}", kept(&session));
        }
    });
}

#[test]
fn x20_stored_repairs_use_the_overrides_of_the_provider() {
    on_every_store(async |place| {
        // The last call stays open in the stored messages, whatever a request does with it.
        let text = "safety = 'unsafe'\n[provider.groq]\ntrailing_call = 'remove'\nunanswered_call = 'remove_call'";
        let mut session = session_of(&place, "groq", text).await;
        session.append_all(&[ASK, OPENAI_TURN, ASK, &OPENAI_TURN.replace("call_", "last_")]).await.unwrap();
        session.repair().await.unwrap();
        let all = kept(&session).concat();
        assert!(!all.contains("call_1") && all.contains("last_1"), "{all}");
        assert!(session.validate().unwrap().valid);
        // Synthetic results are left to requests, also where only the provider's policy makes them up.
        let text =
            "unanswered_call = 'remove_call'\nsafety = 'unsafe'\n[provider.groq]\nunanswered_call = 'synthesize'";
        let mut session = session_of(&place, "groq", text).await;
        session.append_all(&[ASK, OPENAI_TURN, ASK]).await.unwrap();
        let before = kept(&session);
        session.repair().await.unwrap();
        assert_eq!(kept(&session), before);
        assert!(session.request("{}").unwrap().sendable);
    });
}

#[test]
fn x20_a_session_without_a_provider_has_the_policy_of_the_usual_one() {
    on_every_store(async |place| {
        let text = "[provider.anthropic]\npersist_repairs = 'all'\nretries_max = 7";
        let mut session = session(&place, text).await;
        assert_eq!(session.effective_policy().guard.retry.retries_max, 7);
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        session.repair().await.unwrap();
        assert_eq!(session.messages().count(), 4, "the synthetic result is stored");
        assert_eq!(session.policy(), &policy(text), "the stored policy keeps its overrides");
    });
}

#[test]
fn x7_each_hook_can_be_switched_off() {
    on_every_store(async |place| {
        let broken = [ASK, &turn(&["toolu_1"]), ASK];
        let all = "persist_repairs = 'all'\n";
        // The start of a session.
        for (knob, repairs) in [("", true), ("validate_on_start = false", false)] {
            let mut session = session(&place, &format!("{all}{knob}")).await;
            session.append_all(&broken).await.unwrap();
            let start = session.session_start().await.unwrap();
            let valid = start.validation.map(|found| found.valid);
            assert_eq!((valid, start.repair_offered), (repairs.then_some(true), repairs), "{knob}");
            assert_eq!(session.messages().count(), if repairs { 4 } else { 3 }, "{knob}");
            assert!(is_valid(&session), "the next layer repairs it");
        }
        // Before a request: without the check the stored messages stay, and the request is still repaired.
        for (knob, repairs) in [("", true), ("validate_before_call = false", false)] {
            let mut session = session(&place, &format!("{all}{knob}")).await;
            session.append_all(&broken).await.unwrap();
            assert!(!is_blocked(&session.before_agent_start(ENVELOPE).await.unwrap()), "{knob}");
            assert_eq!(session.messages().count(), if repairs { 4 } else { 3 }, "{knob}");
        }
        // The request itself: a broken one is not sent.
        for (knob, repairs) in [("", true), ("repair_requests = false", false)] {
            let mut session = session(&place, knob).await;
            session.append_all(&broken).await.unwrap();
            let request = session.request(ENVELOPE).unwrap();
            assert_eq!((request.sendable, request.actions.is_empty()), (repairs, !repairs), "{knob}");
            // `on_invalid` is `repair`: the stored messages get the synthetic results that the request would add.
            assert!(!is_blocked(&session.before_agent_start(ENVELOPE).await.unwrap()), "{knob}");
            assert_eq!(session.messages().count(), if repairs { 3 } else { 4 }, "{knob}");
            // With `persist_repairs` the layer before it repairs what is stored, under either value.
            let mut session = place.create_with(policy(&format!("{all}{knob}"))).await;
            session.append_all(&broken).await.unwrap();
            assert!(!is_blocked(&session.before_agent_start(ENVELOPE).await.unwrap()), "{knob}");
            assert!(is_valid(&session), "{knob}");
            let mut session = place.create_with(policy(&format!("{knob}\non_invalid = 'block'"))).await;
            session.append_all(&broken).await.unwrap();
            assert!(is_blocked(&session.before_agent_start(ENVELOPE).await.unwrap()), "{knob}");
        }
        // An abort.
        for (knob, closes) in [("", true), ("close_on_abort = false", false)] {
            let mut session = session(&place, knob).await;
            session.append(ASK).await.unwrap();
            let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
            session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
            assert_eq!(session.abort().await.unwrap().len(), usize::from(closes), "{knob}");
            assert_eq!(session.unresolved().is_empty(), closes, "{knob}");
            let start = session.before_agent_start(ENVELOPE).await.unwrap();
            assert!(!is_blocked(&start) && session.unresolved().is_empty(), "the next request closes it");
        }
        // After an error of the provider.
        for (knob, recovers) in [("", true), ("recover_on_error = false", false)] {
            let mut session = session(&place, knob).await;
            session.append(ASK).await.unwrap();
            session.before_agent_start(ENVELOPE).await.unwrap();
            session.append(r#"{"role":"assistant","content":"half a"}"#).await.unwrap();
            let recovery = session.handle_error(&OVERLOADED).await.unwrap();
            assert_eq!(recovery.action == RecoveryAction::RolledBack, recovers, "{knob}");
            assert_eq!(session.messages().count(), if recovers { 1 } else { 2 }, "{knob}");
            assert!(session.incidents().any(|found| found.kind == IncidentKind::ApiError), "{knob}");
        }
    });
}

/// A session in which the host appended a call that it never answered, behind the checkpoint of a request.
async fn unanswered(place: &Place, text: &str) -> Session {
    let mut session = session(place, text).await;
    session.append(ASK).await.unwrap();
    session.before_agent_start(ENVELOPE).await.unwrap();
    session.append_all(&[&turn(&["toolu_1"]), r#"{"role":"user","content":"never mind"}"#]).await.unwrap();
    session
}

#[test]
fn x1_an_unanswered_call_rolls_a_session_back_or_fails_it() {
    on_every_store(async |place| {
        let mut rolls_back = unanswered(&place, "unanswered_call = 'rollback'").await;
        let start = rolls_back.before_agent_start(ENVELOPE).await.unwrap();
        assert!(!is_blocked(&start), "{start:?}");
        assert_eq!(kept(&rolls_back), [ASK, r#"{"role":"user","content":"never mind"}"#]);
        let noted = rolls_back.incidents().filter(|found| found.kind == IncidentKind::Rollback).count();
        assert_eq!(noted, 1);
        // Without a checkpoint there is no rollback, and nothing is made up.
        let mut stuck = session(&place, "unanswered_call = 'rollback'").await;
        stuck.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        let start = stuck.before_agent_start(ENVELOPE).await.unwrap();
        assert!(matches!(start, AgentStart::Blocked { repair_offered: false, .. }), "{start:?}");
        let mut fails = unanswered(&place, "unanswered_call = 'fail'").await;
        let before = kept(&fails);
        let start = fails.before_agent_start(ENVELOPE).await.unwrap();
        let AgentStart::Blocked { validation, repair_offered: false } = start else { panic!("{start:?}") };
        assert_eq!((validation.incomplete_ids, kept(&fails)), (vec!["toolu_1".into()], before));
    });
}

/// A cycle that a crash leaves open: one call read something, the other did not begin.
async fn crashed(place: &Place, text: &str, has_effect: bool) -> Session {
    let mut session = session(place, text).await;
    session.append(ASK).await.unwrap();
    let effect = |_: &ToolCall| if has_effect { Effect::Unsafe } else { Effect::ReadOnly };
    let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1", "toolu_2"])], &effect).await.unwrap();
    session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
    session
}

#[test]
fn x1_an_open_cycle_is_rolled_back_or_stays_open() {
    on_every_store(async |place| {
        for is_abort in [false, true] {
            let closed = async |text: &str, has_effect: bool| {
                let mut session = crashed(&place, text, has_effect).await;
                if is_abort {
                    session.abort().await.unwrap();
                    session
                } else {
                    place.reopen(&session).await
                }
            };
            // No call had an effect: the whole cycle goes.
            let session = closed("unanswered_call = 'rollback'", false).await;
            assert_eq!((kept(&session), session.unresolved().len()), (vec![ASK.to_owned()], 0));
            // A rollback would hide what may have happened.
            let session = closed("unanswered_call = 'rollback'", true).await;
            assert_eq!(session.messages().count(), 3, "{:?}", kept(&session));
            let session = closed("unanswered_call = 'rollback'\nunknown_outcome = 'forget'", true).await;
            assert_eq!((kept(&session), session.unresolved().len()), (vec![ASK.to_owned()], 0));
            let told = |kind| matches!(kind, IncidentKind::OutcomeUnknown | IncidentKind::Rollback);
            assert!(session.incidents().any(|found| told(found.kind)));
            // The host gives up: the calls stay open, and no request is made.
            let mut session = closed("unanswered_call = 'fail'", true).await;
            assert_eq!((session.messages().count(), session.unresolved().len()), (1, 2));
            assert_eq!(session.unresolved()[0].truth, Truth::OutcomeUnknown);
            let start = session.before_agent_start(ENVELOPE).await.unwrap();
            let AgentStart::Blocked { validation, repair_offered: false } = start else { panic!("{start:?}") };
            assert_eq!(validation.incomplete_ids, ["toolu_1", "toolu_2"]);
            let cycle = session.unresolved()[0].cycle.clone();
            session.roll_back_cycle(&cycle, "the host gave up").await.unwrap();
            assert!(!is_blocked(&session.before_agent_start(ENVELOPE).await.unwrap()));
        }
    });
}

#[test]
fn x14_on_corruption_decides_what_a_session_does_after_a_refusal() {
    on_every_store(async |place| {
        let text = |word: &str| format!("on_corruption = '{word}'");
        for (word, action, messages) in [
            ("repair", RecoveryAction::Repaired, 4),
            ("rollback", RecoveryAction::RolledBack, 2),
            ("restart", RecoveryAction::Reset, 0),
            ("stop", RecoveryAction::Escalate, 3),
        ] {
            let mut session = unanswered(&place, &text(word)).await;
            let recovery = session.handle_error(&REFUSED).await.unwrap();
            assert_eq!((recovery.action, session.messages().count()), (action, messages), "{word}: {recovery:?}");
            assert!(session.incidents().any(|found| found.kind == IncidentKind::Corruption), "{word}");
            assert!(word == "stop" || session.validate().unwrap().valid, "{word}");
        }
        // A rollback without a checkpoint repairs.
        let mut session = session(&place, &text("rollback")).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        assert_eq!(session.handle_error(&REFUSED).await.unwrap().action, RecoveryAction::Repaired);
        // A session starts over once; a response lets it do so again.
        let mut session = unanswered(&place, &text("restart")).await;
        let archive = session.handle_error(&REFUSED).await.unwrap();
        assert!(archive.message.contains(".archive-"), "{}", archive.message);
        session.append(ASK).await.unwrap();
        let again = session.handle_error(&REFUSED).await.unwrap();
        assert_eq!((again.action, session.messages().count()), (RecoveryAction::Escalate, 1), "{again:?}");
        session.agent_end(TurnEnd::Messages(&[r#"{"role":"assistant","content":"yes"}"#])).await.unwrap();
        assert_eq!(session.handle_error(&REFUSED).await.unwrap().action, RecoveryAction::Reset);
    });
}

#[test]
fn x25_a_checkpoint_that_does_not_match_is_worked_around_or_escalated() {
    futures_executor::block_on(async {
        for (text, action, messages) in [
            ("", RecoveryAction::RolledBack, 1),
            ("corrupt_checkpoint = 'escalate'", RecoveryAction::Escalate, 2),
            ("preset = 'clawos'", RecoveryAction::Escalate, 2),
        ] {
            let place = memory();
            let mut session = session(&place, text).await;
            session.append(ASK).await.unwrap();
            session.append(r#"{"role":"user","content":"and this"}"#).await.unwrap();
            let AgentStart::Proceed { checkpoint: Some(checkpoint), .. } =
                session.before_agent_start(ENVELOPE).await.unwrap()
            else {
                panic!("{text}")
            };
            session.append(r#"{"role":"assistant","content":"half a"}"#).await.unwrap();
            let id = session.id().clone();
            drop(session);
            // A message of the checkpoint was altered on the disk.
            let altered = Faulty::new(place.store.clone(), Fault::Alters { seq: 2 });
            let options = OpenOptions { take_over: true, ..open_options() };
            let mut session = Session::open(altered, id, options).await.unwrap();
            assert!(!session.health().is_whole());
            assert!(session.rollback(&checkpoint, "by name").await.is_err(), "S1-36: an error, by name");
            let recovery = session.handle_error(&OVERLOADED).await.unwrap();
            assert_eq!((recovery.action, session.messages().count()), (action, messages), "{text}: {recovery:?}");
        }
    });
}

#[test]
fn x27_a_checkpoint_waits_for_the_disk_unless_it_need_not() {
    on_every_store(async |place| {
        for (text, waits) in [("", true), ("durability = 'group_commit'", true), ("durability = 'async'", false)] {
            let mut session = session(&place, text).await;
            session.append(ASK).await.unwrap();
            let seq = async |session: &Session| place.store.read_head(session.id()).await.unwrap().seq;
            let before = seq(&session).await;
            let made = session.create_checkpoint(Operation::Manual).await.unwrap();
            assert_eq!((made.messages, made.state), (1, CheckpointState::Open));
            assert_eq!(seq(&session).await > before, waits, "{text}");
            // This process can use it at once, and the next process after another write.
            session.append(r#"{"role":"user","content":"more"}"#).await.unwrap();
            assert_eq!(session.get_checkpoint(&made.id), Some(made.clone()), "{text}");
            let mut session = place.reopen(&session).await;
            session.rollback(&made.id, "by name").await.unwrap();
            assert_eq!(kept(&session), [ASK]);
            // The hook does the same, and an error goes back to its checkpoint.
            let before = seq(&session).await;
            session.before_agent_start(ENVELOPE).await.unwrap();
            assert_eq!(seq(&session).await > before, waits, "{text}");
            session.append(r#"{"role":"assistant","content":"half a"}"#).await.unwrap();
            assert_eq!(session.handle_error(&OVERLOADED).await.unwrap().action, RecoveryAction::RolledBack);
            assert_eq!(kept(&session), [ASK]);
            // A crash loses the checkpoint, and no message.
            session.before_agent_start(ENVELOPE).await.unwrap();
            let again = place.reopen(&session).await;
            let open = again.checkpoints().iter().filter(|found| found.state == CheckpointState::Open).count();
            assert_eq!((kept(&again), open), (vec![ASK.to_owned()], usize::from(waits)), "{text}");
        }
    });
}

/// A response with a text, a whole call and one that was cut.
const CUT: &[u8] = b"data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"Look:\",\"tool_calls\":[\
{\"index\":0,\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"sh\",\"arguments\":\"{}\"}},\
{\"index\":1,\"id\":\"call_2\",\"type\":\"function\",\"function\":{\"name\":\"write\",\"arguments\":\"{\\\"pa\"}}]}}]}\n\n\
data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"REASON\"}]}\n\ndata: [DONE]\n\n";

/// Reads a response as the policy of the session says.
fn response(session: &Session, reason: &str) -> Response {
    let mut stream = ResponseStream::new(&session.stream_options()).unwrap();
    stream.feed(String::from_utf8_lossy(CUT).replace("REASON", reason).as_bytes());
    stream.finish().unwrap()
}

#[test]
fn x16_a_session_keeps_of_a_cut_call_what_the_policy_says_and_never_runs_it() {
    on_every_store(async |place| {
        for (word, runs, kept_calls) in [("drop_call", 1, 1), ("drop_turn", 0, 0), ("error_result", 1, 2)] {
            let mut session = session_of(&place, "openai", &format!("malformed_call = '{word}'")).await;
            session.append(ASK).await.unwrap();
            let response = response(&session, "tool_calls");
            let executable = response.calls.iter().filter(|call| call.executable).count();
            assert_eq!(executable, 1, "{:?}", response.calls);
            let tool = Tool::saying("done");
            if runs > 0 {
                let result = session.execute_response(&response, &tool, pending()).await.unwrap();
                assert_eq!(result.outcomes.len(), kept_calls, "{word}: {result:?}");
            } else {
                session.agent_end(TurnEnd::Response(&response)).await.unwrap();
            }
            assert_eq!(tool.runs(), runs, "{word}");
            let all = kept(&session).concat();
            assert_eq!(all.contains("call_2"), word == "error_result", "{word}: {all}");
            assert_eq!(all.contains("arguments are not a JSON object"), word == "error_result", "{word}: {all}");
            assert!(session.request(r#"{"model":"gpt-4.1"}"#).unwrap().actions.is_empty(), "{word}");
        }
        // No call of an incomplete response runs, and the other knob decides.
        for (word, messages) in [("drop_call", 2), ("drop_turn", 1), ("error_result", 4)] {
            let mut session = session_of(&place, "openai", &format!("partial_call = '{word}'")).await;
            session.append(ASK).await.unwrap();
            let response = response(&session, "length");
            session.agent_end(TurnEnd::Response(&response)).await.unwrap();
            let all = kept(&session);
            assert_eq!(all.len(), messages, "{word}: {all:?}");
            assert_eq!(all.concat().contains("cut off before it was complete"), messages == 4, "{word}: {all:?}");
        }
    });
}

#[test]
fn x16_a_response_whose_calls_must_all_not_run_is_kept_with_results() {
    on_every_store(async |place| {
        let mut session = session_of(&place, "openai", "preset = 'kilroy'").await;
        session.append(ASK).await.unwrap();
        // The length limit ends the response: none of its calls runs.
        let response = response(&session, "length");
        assert!(response.calls.iter().all(|call| !call.executable));
        session.agent_end(TurnEnd::Response(&response)).await.unwrap();
        let all = kept(&session);
        assert_eq!((all.len(), session.entries()[2].origin), (4, Origin::Synthetic), "{all:?}");
        assert!(session.request(r#"{"model":"gpt-4.1"}"#).unwrap().sendable && session.unresolved().is_empty());
        // A host that runs tools itself gets only the calls that may run.
        let mut session = session_of(&place, "openai", "preset = 'kilroy'").await;
        session.append(ASK).await.unwrap();
        let response = self::response(&session, "tool_calls");
        assert!(session.agent_end(TurnEnd::Response(&response)).await.is_err(), "a call may run");
        let (cycle, calls) = session.begin_response(&response, &|_| Effect::ReadOnly).await.unwrap();
        assert_eq!(calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["call_1"]);
        let output = ToolOutput { output: "done".to_owned(), is_error: false };
        assert!(session.after_tool_call(&cycle, &"call_1".into(), &output).await.unwrap().is_some());
        assert!(kept(&session).concat().contains("arguments are not a JSON object"));
    });
}

#[test]
fn x13_an_unknown_outcome_is_told_or_forgotten() {
    on_every_store(async |place| {
        for (word, messages) in [("annotate", 3), ("forget", 1)] {
            let session = crashed(&place, &format!("unknown_outcome = '{word}'"), true).await;
            let session = place.reopen(&session).await;
            assert_eq!(session.messages().count(), messages, "{word}");
            assert_eq!(kept(&session).concat().contains("[outcome unknown]"), messages == 3, "{word}");
        }
    });
}

#[test]
fn x12_a_tool_error_is_recorded_or_rolls_back() {
    on_every_store(async |place| {
        let failing = || Tool::doing(|_| Ok(ToolOutput { output: "no such file".to_owned(), is_error: true }));
        for (word, messages) in [("record", 3), ("rollback", 1)] {
            let mut session = session(&place, &format!("on_tool_error = '{word}'")).await;
            session.append(ASK).await.unwrap();
            session.execute_tool_cycle(&[&turn(&["toolu_1"])], &failing(), pending()).await.unwrap();
            assert_eq!(session.messages().count(), messages, "{word}");
        }
    });
}

#[test]
fn last_resort_resets_or_escalates() {
    on_every_store(async |place| {
        for (word, action) in [("escalate", RecoveryAction::Escalate), ("reset", RecoveryAction::Reset)] {
            let mut session = session(&place, &format!("last_resort = '{word}'")).await;
            session.append(ASK).await.unwrap();
            assert_eq!(session.handle_error(&REFUSED).await.unwrap().action, action, "{word}");
        }
    });
}

#[test]
fn reopening_with_another_policy_does_not_change_what_the_model_reads_of_the_past() {
    on_every_store(async |place| {
        for (first, second) in [("opal", "llxprt"), ("llxprt", "opal"), ("lossless", "clawos"), ("kilroy", "opal")] {
            let mut session = place.create_with(Policy::preset(first).unwrap()).await;
            session.append(ASK).await.unwrap();
            session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
            session.abort().await.unwrap();
            session.append_all(&[&turn(&["toolu_2"]), &results(&["toolu_2"]), ASK]).await.unwrap();
            let stored = kept(&session);
            let policy = Some(Policy::preset(second).unwrap());
            let options = OpenOptions { take_over: true, policy, ..open_options() };
            let again = Session::open(place.store.clone(), session.id().clone(), options).await.unwrap();
            assert_eq!(kept(&again), stored, "{first} {second}");
            let request = again.request(ENVELOPE).unwrap();
            assert!(request.sendable, "{first} {second}");
            // In each request `llxprt` gives calls its own ids, and `kilroy` joins messages of one role.
            if ![first, second].iter().any(|name| ["llxprt", "kilroy"].contains(name)) {
                assert_eq!(request.body, session.request(ENVELOPE).unwrap().body, "{first} {second}");
            }
        }
    });
}
