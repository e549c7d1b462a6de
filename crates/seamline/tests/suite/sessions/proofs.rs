//! Demands of the source documents that need a proof of their own.

use std::future::pending;
use std::sync::Mutex;

use seamline::session::{
    AgentStart, IntegrityConfig, OpenOptions, PersistRepairs, RepairResult, ResetOptions, Running, Session,
    SessionError, SessionOptions, ToolCall, ToolCallRef, ToolExecutor, ToolOutput, TurnEnd,
};
use seamline::store::{CallState, Effect, Operation, Origin, Rejected};
use seamline::{Failure, Policy};

use super::calls::said;
use super::faulty::{Fault, Faulty};
use super::stores::{ASK, ENVELOPE, Place, Tool, is_valid, kept, on_every_store, open_options, results, turn};

const YES: &str = r#"{"role":"assistant","content":"yes"}"#;

async fn with_policy(place: &Place, policy: Policy, config: IntegrityConfig) -> Session {
    let options = SessionOptions { policy, config, ..SessionOptions::default() };
    Session::create(place.store.clone(), place.name().parse().unwrap(), options).await.unwrap()
}

async fn clawos(place: &Place) -> Session {
    with_policy(place, Policy::preset("clawos").unwrap(), IntegrityConfig::default()).await
}

/// What a repair did: the rule that asked for it, where, and of which call.
fn done(result: &RepairResult) -> Vec<(&str, &str, &str)> {
    let all = result.repairs.iter();
    all.map(|it| (it.code, it.pointer.as_deref().unwrap_or_default(), it.call_id.as_deref().unwrap_or_default()))
        .collect()
}

#[test]
fn s0_06_a_result_whose_call_a_compaction_removed_goes_or_gets_one_as_the_policy_says() {
    on_every_store(async |place| {
        for (preset, is_kept, has_call) in [("opal", false, false), ("llxprt", true, true), ("lossless", true, false)] {
            let policy = Policy::preset(preset).unwrap();
            let mut session = with_policy(&place, policy, IntegrityConfig::default()).await;
            // A compaction of somebody else's took the call and left its result.
            session.append_all(&[ASK, &results(&["toolu_1"]), YES, ASK]).await.unwrap();
            let body = String::from_utf8(session.request(ENVELOPE).unwrap().body).unwrap();
            assert!(is_valid(&session), "{preset}: {body}");
            assert_eq!(
                (body.contains("did toolu_1"), body.contains("tool_use\"")),
                (is_kept, has_call),
                "{preset}: {body}"
            );
        }
    });
}

#[test]
fn s0_09_each_layer_is_caught_by_the_next() {
    on_every_store(async |place| {
        // Half an answer, as it would be kept if nobody noticed that its stream failed.
        let half = r#"{"role":"assistant","content":[{"type":"text","text":"I"},{"type":"tool_use","id":"toolu_1","name":"sh","input":{}}]}"#;
        for stream in [true, false] {
            for kept_right in [true, false] {
                let config = IntegrityConfig {
                    auto_repair: kept_right,
                    validate_before_call: kept_right,
                    persist_repairs: if kept_right { PersistRepairs::All } else { PersistRepairs::Never },
                    ..IntegrityConfig::default()
                };
                let mut session = place.create(config).await;
                session.append(ASK).await.unwrap();
                if !stream {
                    session.append(half).await.unwrap();
                }
                session.append(ASK).await.unwrap();
                let start = session.before_agent_start(ENVELOPE).await.unwrap();
                let AgentStart::Proceed { request, .. } = start else { panic!("{start:?}") };
                let is_made_up = request.actions.iter().any(|action| action.synthetic);
                assert_eq!(is_made_up, !stream && !kept_right, "the last one acts where the others did not");
                assert!(request.sendable && is_valid(&session), "{stream} {kept_right}");
            }
        }
    });
}

#[test]
fn s0_10_what_is_kept_is_put_right_at_the_start_of_every_turn() {
    on_every_store(async |place| {
        let config =
            IntegrityConfig { auto_repair: true, persist_repairs: PersistRepairs::All, ..IntegrityConfig::default() };
        let mut session = place.create(config).await;
        session.append(ASK).await.unwrap();
        for number in 1..=3 {
            session.append_all(&[&turn(&[&format!("toolu_{number}")]), ASK]).await.unwrap();
            let start = session.before_agent_start(ENVELOPE).await.unwrap();
            assert!(matches!(start, AgentStart::Proceed { .. }), "{start:?}");
            assert!(session.validate().unwrap().valid, "it is put right, not only what is sent");
            assert_eq!(session.repair_context().repairs, number);
            session.append(YES).await.unwrap();
            session.append(ASK).await.unwrap();
        }
    });
}

#[test]
fn s1_08_a_validation_finds_a_made_up_result_beside_a_real_one() {
    on_every_store(async |place| {
        let mut session = place.create(IntegrityConfig::default()).await;
        session.append(ASK).await.unwrap();
        session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
        session.abort().await.unwrap();
        let origins = |session: &Session| session.entries().iter().map(|entry| entry.origin).collect::<Vec<_>>();
        assert_eq!(origins(&session), [Origin::Said, Origin::Said, Origin::Synthetic]);
        assert!(session.validate().unwrap().valid);
        // A host brings the real one by itself: now two stand for one call, and the made-up one is to go.
        session.append(&results(&["toolu_1"])).await.unwrap();
        let validation = session.validate().unwrap();
        assert!(!validation.valid && validation.errors[0].contains("toolu_1"), "{validation:?}");
        session.repair().await.unwrap();
        assert!(session.validate().unwrap().valid);
        let all = kept(&session).concat();
        assert!(all.contains("did toolu_1") && !all.contains("[synthetic]"), "{all}");
        assert!(origins(&session).iter().all(|origin| *origin == Origin::Said), "{:?}", origins(&session));
    });
}

#[test]
fn s1_14_all_that_a_session_is_comes_back_from_its_log_alone() {
    on_every_store(async |place| {
        let config =
            IntegrityConfig { persist_repairs: PersistRepairs::All, verbose: true, ..IntegrityConfig::default() };
        let mut session = place.create(config).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        session.repair().await.unwrap();
        session.checkpoint(Operation::Manual).await.unwrap();
        session.execute_tool_cycle(&[&turn(&["toolu_2"])], &Tool::saying("done"), pending()).await.unwrap();
        let range = session.begin_compaction(0..2).await.unwrap();
        session.finish_compaction(range, &[ASK]).await.unwrap();
        session.before_agent_start(ENVELOPE).await.unwrap();
        let again = place.reopen(&session).await;
        assert_eq!(again.state(), session.state(), "{}", place.name);
    });
}

#[test]
fn s1_16_a_result_matches_a_call_of_the_message_before_it_and_of_no_other() {
    on_every_store(async |place| {
        let (call, result) = (turn(&["toolu_1"]), results(&["toolu_1"]));
        for (messages, is_right) in [
            (vec![ASK, &call, &result], true),
            (vec![ASK, &call, ASK, YES, &result], false),
            (vec![ASK, &call, YES, &result], false),
            (vec![ASK, &result, &call], false),
        ] {
            let mut session = place.create(IntegrityConfig::default()).await;
            session.append_all(&messages).await.unwrap();
            let validation = session.validate().unwrap();
            assert_eq!(validation.valid, is_right, "{messages:?}: {validation:?}");
            let named = (validation.orphaned_ids.as_slice(), validation.incomplete_ids.as_slice());
            let wanted: &[String] = if is_right { &[] } else { &["toolu_1".to_owned()] };
            assert_eq!(named, (wanted, wanted), "{messages:?}: {validation:?}");
        }
    });
}

#[test]
fn s1_17_ids_are_neither_trimmed_nor_folded() {
    on_every_store(async |place| {
        for other in ["toolu_a", " toolu_A", "toolu_A ", "TOOLU_A"] {
            let mut session = place.create(IntegrityConfig::default()).await;
            session.append_all(&[ASK, &turn(&["toolu_A"]), &results(&[other]), YES]).await.unwrap();
            let validation = session.validate().unwrap();
            assert_eq!(
                (validation.orphaned_ids, validation.incomplete_ids),
                (vec![other.to_owned()], vec!["toolu_A".to_owned()])
            );
        }
    });
}

#[test]
fn s1_45_a_cycle_has_its_id_checkpoint_turn_and_the_state_of_each_call() {
    on_every_store(async |place| {
        let mut session = place.create(IntegrityConfig::default()).await;
        session.append(ASK).await.unwrap();
        let calls = turn(&["toolu_1", "toolu_2"]);
        let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::Unsafe).await.unwrap();
        session.start_call(&cycle, "toolu_1").await.unwrap();
        let states = |session: &Session| -> Vec<&'static str> {
            let open = session.state().cycle(&cycle).unwrap();
            let checkpoint = session.get_checkpoint(open.checkpoint.as_deref().unwrap()).unwrap();
            assert_eq!((checkpoint.operation, checkpoint.messages), (Operation::ToolCycle, 1));
            assert_eq!(open.turn.iter().map(seamline::store::Raw::as_str).collect::<Vec<_>>(), [calls.as_str()]);
            let state = |state: &CallState| match state {
                CallState::Pending => "pending",
                CallState::Started { .. } => "executing",
                CallState::Finished { .. } => "recording",
            };
            open.calls.iter().map(|call| state(&call.state)).collect()
        };
        assert_eq!(states(&session), ["executing", "pending"]);
        session.finish_call(&cycle, "toolu_1", &said("one")).await.unwrap();
        assert_eq!(states(&session), ["recording", "pending"]);
        let options = OpenOptions { take_over: true, recover: false, ..open_options() };
        let mut session = Session::open(place.store.clone(), session.id().clone(), options).await.unwrap();
        assert_eq!(states(&session), ["recording", "pending"], "another process finds the same");
        session.roll_back_cycle(&cycle, "test").await.unwrap();
        assert_eq!(session.state().cycle(&cycle), None);
        for past in [session.commit_cycle(&cycle).await.err(), session.start_call(&cycle, "toolu_2").await.err()] {
            assert_eq!(past, Some(SessionError::Rejected(Rejected::NoCycle(cycle.clone()))));
        }
    });
}

/// A tool that notes what it is asked.
#[derive(Default)]
struct Notes(Mutex<Vec<(String, String)>>);

impl ToolExecutor for Notes {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> Running<'a> {
        self.0.lock().unwrap().push((call.name.clone(), call.input.clone()));
        let is_error = call.id == "toolu_2";
        Box::pin(async move { Ok(ToolOutput { output: format!("did {}", call.id), is_error }) })
    }
}

#[test]
fn s1_111_a_tool_gets_its_name_and_input_and_what_it_says_is_the_result() {
    on_every_store(async |place| {
        let mut session = place.create(IntegrityConfig::default()).await;
        session.append(ASK).await.unwrap();
        let tool = Notes::default();
        let done = session.execute_tool_cycle(&[&turn(&["toolu_1", "toolu_2"])], &tool, pending()).await.unwrap();
        let asked = ["toolu_1", "toolu_2"].map(|id| ("sh".to_owned(), format!(r#"{{"cmd":"{id}"}}"#)));
        assert_eq!(*tool.0.lock().unwrap(), asked);
        let outcome = |number: usize| {
            let outcome = &done.outcomes[number];
            (outcome.tool_use_id.as_str(), outcome.content.as_str(), outcome.is_error)
        };
        assert_eq!((outcome(0), outcome(1)), (("toolu_1", "did toolu_1", false), ("toolu_2", "did toolu_2", true)));
        let message: serde_json::Value = serde_json::from_str(&kept(&session)[2]).unwrap();
        let errors: Vec<bool> =
            message["content"].as_array().unwrap().iter().map(|it| it["is_error"] == true).collect();
        assert_eq!(errors, [false, true], "the model is told which failed");
    });
}

#[test]
fn s1_55_a_repair_says_what_it_took_out_where_and_of_which_call() {
    on_every_store(async |place| {
        let mut session = clawos(&place).await;
        // An orphan alone in its message, one beside a text, and a call that was never answered.
        let beside = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_8","content":"x"},{"type":"text","text":"so"}]}"#;
        let both = r#"{"role":"assistant","content":[{"type":"text","text":"I look"},{"type":"tool_use","id":"toolu_7","name":"sh","input":{}}]}"#;
        session.append_all(&[ASK, YES, &results(&["toolu_9"]), YES, beside, both, ASK]).await.unwrap();
        let result = session.repair().await.unwrap();
        let done = done(&result);
        for wanted in [
            ("PAIR002", "/messages/2/content/0", "toolu_9"),
            ("PAIR002", "/messages/4/content/0", "toolu_8"),
            ("PAIR001", "/messages/5/content/1", "toolu_7"),
        ] {
            assert!(done.contains(&wanted), "{wanted:?} in {done:?}");
        }
        let messages: Vec<&str> = result.messages.iter().map(seamline::store::Raw::as_str).collect();
        assert_eq!(messages, session.messages().collect::<Vec<_>>(), "they are what is kept then");
        let all = messages.concat();
        assert!(!all.contains("toolu_") && all.contains("so") && all.contains("I look"), "{all}");
        // The message that had nothing but the orphan is gone, and with it what it parted.
        assert!(
            messages.len() < 7 && messages.iter().all(|message| !message.contains(r#""content":[]"#)),
            "{messages:?}"
        );
        assert!(session.validate().unwrap().valid && is_valid(&session));
    });
}

#[test]
fn s1_72_results_are_written_under_the_names_that_hosts_know() {
    on_every_store(async |place| {
        let mut session = place.create(IntegrityConfig::default()).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), &results(&["toolu_9"]), YES]).await.unwrap();
        let written = serde_json::to_value(session.validate().unwrap()).unwrap();
        assert_eq!(
            (&written["valid"], &written["orphanedIds"], &written["incompleteIds"]),
            (&false.into(), &serde_json::json!(["toolu_9"]), &serde_json::json!(["toolu_1"]))
        );
        assert!(written["error"].is_string());
        let made = session.checkpoint(Operation::Manual).await.unwrap();
        let written = serde_json::to_value(session.rollback(&made.id, "test").await.unwrap()).unwrap();
        assert_eq!(written, serde_json::json!({"success": true, "messagesRemoved": 0, "newMessageCount": 4}));
        let options: ResetOptions = serde_json::from_str(r#"{"archive":true}"#).unwrap();
        let written = serde_json::to_value(session.reset(options).await.unwrap()).unwrap();
        assert_eq!(
            (&written["success"], &written["archived"], &written["remainingMessages"]),
            (&true.into(), &true.into(), &0.into())
        );
    });
}

#[test]
fn s1_82_what_is_wrong_is_put_right_without_asking_only_where_that_is_wanted() {
    on_every_store(async |place| {
        for auto_repair in [true, false] {
            let config =
                IntegrityConfig { auto_repair, persist_repairs: PersistRepairs::All, ..IntegrityConfig::default() };
            let mut session = place.create(config).await;
            session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
            let before = kept(&session);
            let start = session.session_start().await.unwrap();
            assert!(start.repair_offered);
            assert_eq!((start.validation.valid, kept(&session) == before), (auto_repair, !auto_repair));
            let start = session.before_agent_start(ENVELOPE).await.unwrap();
            assert_eq!(matches!(start, AgentStart::Proceed { .. }), auto_repair, "{start:?}");
            assert_eq!(kept(&session) == before, !auto_repair);
        }
    });
}

fn overloaded() -> Failure<'static> {
    Failure { status: Some(529), text: "Overloaded", ..Failure::default() }
}

#[test]
fn k_02_what_a_tool_did_for_an_answer_that_then_failed_is_not_forgotten() {
    on_every_store(async |place| {
        // The calls were whole and had run when the stream failed.
        let mut session = place.create(IntegrityConfig::default()).await;
        session.append(ASK).await.unwrap();
        session.before_agent_start(ENVELOPE).await.unwrap();
        session.execute_tool_cycle(&[&turn(&["toolu_1"])], &Tool::saying("PAID"), pending()).await.unwrap();
        let before = kept(&session);
        session.agent_end(TurnEnd::Failed(overloaded())).await.unwrap();
        assert_eq!(kept(&session), before);
        assert!(before[2].contains("PAID") && is_valid(&session));
        // One had, and the other was running: the turn is taken back, and what was done is said.
        let calls = turn(&["toolu_2", "toolu_3"]);
        let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::Unsafe).await.unwrap();
        session.start_call(&cycle, "toolu_2").await.unwrap();
        session.finish_call(&cycle, "toolu_2", &said("PAID AGAIN")).await.unwrap();
        session.agent_end(TurnEnd::Failed(overloaded())).await.unwrap();
        assert_eq!(kept(&session), before);
        let lost = session.repair_context().lost_calls;
        assert_eq!(lost[0].returned.as_deref(), Some("PAID AGAIN"), "{lost:?}");
    });
}

#[test]
fn k_13_nothing_is_put_right_for_good_while_tools_run() {
    on_every_store(async |place| {
        let config =
            IntegrityConfig { auto_repair: true, persist_repairs: PersistRepairs::All, ..IntegrityConfig::default() };
        let mut session = place.create(config).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        session.begin_cycle(&[&turn(&["toolu_2"])], &|_| Effect::Unsafe).await.unwrap();
        let (before, end) = (kept(&session), place.store.head(session.id()).await.unwrap());
        // Whoever looks meanwhile gets what can be sent, and changes nothing.
        assert!(session.request(ENVELOPE).unwrap().sendable);
        assert!(session.session_start().await.unwrap().repair_offered);
        assert_eq!(session.repair().await.unwrap_err(), SessionError::Rejected(Rejected::InFlight));
        assert_eq!((kept(&session), place.store.head(session.id()).await.unwrap()), (before, end));
    });
}

#[test]
fn k_28_whatever_comes_after_an_abort_changes_nothing_that_was_written() {
    on_every_store(async |place| {
        let mut session = place.create(IntegrityConfig::default()).await;
        session.append(ASK).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1", "toolu_2"])], &|_| Effect::Unsafe).await.unwrap();
        session.start_call(&cycle, "toolu_1").await.unwrap();
        assert_eq!(session.abort().await.unwrap().len(), 2);
        let (before, end) = (kept(&session), place.store.head(session.id()).await.unwrap());
        // A second abort, tasks that report late, and a timer that begins a call again.
        assert!(session.abort().await.unwrap().is_empty());
        assert!(session.finish_call(&cycle, "toolu_1", &said("late")).await.is_err());
        assert!(session.after_tool_call(&cycle, "toolu_1", &said("late")).await.is_err());
        assert!(session.start_call(&cycle, "toolu_2").await.is_err());
        assert!(session.commit_cycle(&cycle).await.is_err());
        assert_eq!((kept(&session), place.store.head(session.id()).await.unwrap()), (before.clone(), end));
        // A prompt that waited is taken, and a result that is real is, too.
        session.append(ASK).await.unwrap();
        let call = ToolCallRef { id: "toolu_1", name: "sh" };
        assert!(session.late_result(&call, &said("late")).await.unwrap());
        assert!(is_valid(&session) && kept(&session).len() == before.len() + 1);
    });
}

#[test]
fn k_29_a_breaker_that_ends_the_turn_leaves_no_call_without_a_result() {
    use seamline::guards::{Breaker, BreakerLimits, CallInRound, CheckedCall, Outcome, ToolSchemas};
    on_every_store(async |place| {
        let mut tools = ToolSchemas::new();
        tools.add("sh", Some(r#"{"type":"object","required":["command"]}"#)).unwrap();
        let mut breaker = Breaker::new(BreakerLimits::default());
        let mut session = place.create(IntegrityConfig::default()).await;
        session.append(ASK).await.unwrap();
        for round in 1.. {
            let id = format!("toolu_{round}");
            let (cycle, calls) = session.begin_cycle(&[&turn(&[&id])], &|_| Effect::Unsafe).await.unwrap();
            let call = CallInRound { name: &calls[0].name, arguments: "{}", free: false, truncated: false };
            let (checked, stop) = breaker.handle_round(&[call], &tools);
            let CheckedCall::Refuse { text, .. } = &checked[0] else { panic!("{checked:?}") };
            let outcome = Outcome { name: call.name, arguments: call.arguments, ok: false, text };
            if stop.or(breaker.handle_outcomes(&[outcome])).is_some() {
                assert!(round > 1);
                break;
            }
            session.before_tool_call(&cycle, &id).await.unwrap();
            session.after_tool_call(&cycle, &id, &ToolOutput { output: text.clone(), is_error: true }).await.unwrap();
        }
        // The turn is over while a call is open.
        assert_eq!(session.unresolved().len(), 1);
        assert_eq!(session.abort().await.unwrap().len(), 1);
        assert!(session.validate().unwrap().valid && is_valid(&session));
        session.append(ASK).await.unwrap();
        assert!(matches!(session.before_agent_start(ENVELOPE).await.unwrap(), AgentStart::Proceed { .. }));
    });
}

#[test]
fn k_33_wherever_a_compaction_cuts_no_pair_is_parted() {
    on_every_store(async |place| {
        let messages = [
            ASK.to_owned(),
            turn(&["toolu_1"]),
            results(&["toolu_1"]),
            turn(&["toolu_2", "toolu_3"]),
            results(&["toolu_2", "toolu_3"]),
            YES.to_owned(),
            ASK.to_owned(),
        ];
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        let summary = r#"{"role":"user","content":"so far"}"#;
        for (start, end) in (0..=7).flat_map(|start| (start..=7).map(move |end| (start, end))) {
            let mut session = place.create(IntegrityConfig::default()).await;
            session.append_all(&messages).await.unwrap();
            let range = session.begin_compaction(start..end).await.unwrap();
            assert!(range.is_empty() || (range.start >= start && range.end <= end), "{start}..{end}: {range:?}");
            let done = session.finish_compaction(range.clone(), &[summary]).await.unwrap();
            assert_eq!(done.replaced, range);
            let validation = session.validate().unwrap();
            let is_paired = validation.orphaned_ids.is_empty() && validation.incomplete_ids.is_empty();
            assert!(is_paired && is_valid(&session), "{start}..{end}: {validation:?}");
            assert_eq!(session.messages().count(), 7 - range.len() + 1);
        }
    });
}

#[test]
fn k_39_a_crash_while_a_repair_is_written_leaves_it_whole_or_not_there() {
    on_every_store(async |place| {
        for (at, after) in [(0, false), (0, true), (1, false), (1, true)] {
            let config = IntegrityConfig { persist_repairs: PersistRepairs::All, ..IntegrityConfig::default() };
            let mut session = place.create(config.clone()).await;
            session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
            let before = kept(&session);
            let dying = Faulty::new(place.store.clone(), Fault::Dies { at, after });
            let options = OpenOptions { take_over: true, config, ..open_options() };
            let mut dies = Session::open(dying, session.id().clone(), options).await.unwrap();
            let _ = dies.repair().await;
            let _ = dies.undo_repair().await;
            let mut again = place.reopen(&session).await;
            let repaired = match (at, after) {
                (0, false) | (1, true) => false,
                _ => true,
            };
            assert_eq!(kept(&again) != before, repaired, "{at} {after}");
            let result = again.repair().await.unwrap();
            assert_eq!((result.repaired, again.validate().unwrap().valid), (!repaired, true), "{at} {after}");
            again.undo_repair().await.unwrap();
            assert_eq!(kept(&again), before, "what it took out is there still");
        }
    });
}

#[test]
fn k_44_the_next_turn_is_told_what_was_lost_and_who_waits_for_an_answer() {
    on_every_store(async |place| {
        let mut session = place.create(IntegrityConfig::default()).await;
        session.append_all(&[ASK, YES, ASK]).await.unwrap();
        assert!(session.repair_context().is_empty(), "nothing was lost");
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
        session.start_call(&cycle, "toolu_1").await.unwrap();
        let mut again = place.reopen(&session).await;
        let told = r#"{"role":"user","content":"are you there?"}"#;
        again.append(told).await.unwrap();
        let context = again.repair_context();
        assert_eq!(
            (context.lost_calls[0].id.as_str(), context.unanswered.as_slice()),
            ("toolu_1", [told.to_owned()].as_slice())
        );
        let written = serde_json::to_value(&context).unwrap();
        assert_eq!(written["lost_calls"][0]["tool"], "sh");
        again.append(YES).await.unwrap();
        assert!(again.repair_context().unanswered.is_empty(), "they have their answer");
    });
}

#[test]
fn k_47_a_rollback_that_fails_says_so_and_changes_nothing() {
    on_every_store(async |place| {
        let mut session = place.create(IntegrityConfig::default()).await;
        session.append(ASK).await.unwrap();
        let made = session.checkpoint(Operation::ApiCall).await.unwrap();
        session.append(YES).await.unwrap();
        let fault = Fault::Fails(|| seamline::store::Error::NoSpace("disk full".to_owned()));
        let options = OpenOptions { take_over: true, ..open_options() };
        let faulty = Faulty::new(place.store.clone(), fault);
        let mut broken = Session::open(faulty, session.id().clone(), options).await.unwrap();
        assert!(broken.rollback(&made.id, "test").await.is_err());
        let filtered = seamline::Failure {
            status: Some(200),
            text: r#"{"content":[],"stop_reason":"refusal"}"#,
            ..Default::default()
        };
        assert!(broken.handle_error(&filtered).await.is_err(), "it is not said to have been rolled back");
        assert_eq!(
            (kept(&broken), broken.latest_checkpoint().map(|found| found.id)),
            (vec![ASK.to_owned(), YES.to_owned()], Some(made.id.clone()))
        );
        let mut session = place.reopen(&session).await;
        session.rollback(&made.id, "test").await.unwrap();
        assert_eq!(kept(&session), [ASK]);
    });
}
