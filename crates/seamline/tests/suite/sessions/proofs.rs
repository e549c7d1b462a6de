//! Demands of the source documents that need their own proof.

use std::future::pending;
use std::sync::Mutex;

use seamline::Policy;
use seamline::session::{
    AgentStart, OpenOptions, PersistRepairs, RepairResult, ResetOptions, Running, Session, SessionError, SessionPolicy,
    ToolCall, ToolExecutor, ToolOutput,
};
use seamline::store::{CallId, CallState, Effect, Operation, Origin, Rejected};

use super::calls::said;
use super::stores::{
    ASK, ENVELOPE, Place, Tool, asking, is_valid, kept, on_every_store, open_options, repairing, results, turn,
};

const YES: &str = r#"{"role":"assistant","content":"yes"}"#;

async fn clawos(place: &Place) -> Session {
    place.create_with(Policy::preset("clawos").unwrap()).await
}

/// An action of a repair: the rule that asked for it, its place, and its call.
fn done(result: &RepairResult) -> Vec<(&str, &str, &str)> {
    let all = result.repairs.iter();
    all.map(|it| (it.code, it.pointer.as_deref().unwrap_or_default(), it.call_id.as_deref().unwrap_or_default()))
        .collect()
}

#[test]
fn s0_06_a_result_whose_call_a_compaction_removed_is_removed_or_gets_a_call_as_the_policy_says() {
    on_every_store(async |place| {
        for (preset, is_kept, has_call) in [("opal", false, false), ("llxprt", true, true), ("lossless", true, false)] {
            let policy = Policy::preset(preset).unwrap();
            let mut session = place.create_with(policy).await;
            // Another program's compaction removed the call and left its result.
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
        // Half a response, as a host keeps it that does not notice the failure of the stream.
        let half = r#"{"role":"assistant","content":[{"type":"text","text":"I"},{"type":"tool_use","id":"toolu_1","name":"sh","input":{}}]}"#;
        for stream in [true, false] {
            for kept_right in [true, false] {
                let config = SessionPolicy {
                    validate_before_call: kept_right,
                    persist_repairs: if kept_right { PersistRepairs::All } else { PersistRepairs::Never },
                    ..SessionPolicy::default()
                };
                let mut session = place.create_with(repairing(config)).await;
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
fn s0_10_stored_messages_are_repaired_at_the_start_of_every_turn() {
    on_every_store(async |place| {
        let config = SessionPolicy { persist_repairs: PersistRepairs::All, ..SessionPolicy::default() };
        let mut session = place.create_with(repairing(config)).await;
        session.append(ASK).await.unwrap();
        for number in 1..=3 {
            session.append_all(&[&turn(&[&format!("toolu_{number}")]), ASK]).await.unwrap();
            let start = session.before_agent_start(ENVELOPE).await.unwrap();
            assert!(matches!(start, AgentStart::Proceed { .. }), "{start:?}");
            assert!(session.validate().unwrap().valid, "the stored messages are repaired, not only the request");
            assert_eq!(session.repair_context().repairs, number);
            session.append(YES).await.unwrap();
            session.append(ASK).await.unwrap();
        }
    });
}

#[test]
fn s1_08_a_validation_finds_a_synthetic_result_beside_a_real_one() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
        session.abort().await.unwrap();
        let origins = |session: &Session| session.entries().iter().map(|entry| entry.origin).collect::<Vec<_>>();
        assert_eq!(origins(&session), [Origin::Said, Origin::Said, Origin::Synthetic]);
        assert!(session.validate().unwrap().valid);
        // A host appends the real one by itself: now one call has two results, and the synthetic one must be removed.
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
fn s1_14_the_log_alone_restores_a_session() {
    on_every_store(async |place| {
        let config = SessionPolicy { persist_repairs: PersistRepairs::All, verbose: true, ..SessionPolicy::default() };
        let mut session = place.create(config).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        session.repair().await.unwrap();
        session.create_checkpoint(Operation::Manual).await.unwrap();
        session.execute_tool_cycle(&[&turn(&["toolu_2"])], &Tool::saying("done"), pending()).await.unwrap();
        let range = session.before_compaction(0..2).await.unwrap();
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
            let mut session = place.create(SessionPolicy::default()).await;
            session.append_all(&messages).await.unwrap();
            let validation = session.validate().unwrap();
            assert_eq!(validation.valid, is_right, "{messages:?}: {validation:?}");
            let named = (validation.orphaned_ids.as_slice(), validation.incomplete_ids.as_slice());
            let wanted: &[CallId] = if is_right { &[] } else { &["toolu_1".into()] };
            assert_eq!(named, (wanted, wanted), "{messages:?}: {validation:?}");
        }
    });
}

#[test]
fn s1_17_ids_are_neither_trimmed_nor_folded() {
    on_every_store(async |place| {
        for other in ["toolu_a", " toolu_A", "toolu_A ", "TOOLU_A"] {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append_all(&[ASK, &turn(&["toolu_A"]), &results(&[other]), YES]).await.unwrap();
            let validation = session.validate().unwrap();
            assert_eq!(
                (validation.orphaned_ids, validation.incomplete_ids),
                (vec![other.into()], vec!["toolu_A".into()])
            );
        }
    });
}

#[test]
fn s1_45_a_cycle_has_its_id_checkpoint_turn_and_the_state_of_each_call() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let calls = turn(&["toolu_1", "toolu_2"]);
        let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        let states = |session: &Session| -> Vec<&'static str> {
            let open = session.state().cycle(&cycle).unwrap();
            let checkpoint = session.get_checkpoint(open.checkpoint.as_ref().unwrap()).unwrap();
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
        session.finish_call(&cycle, &"toolu_1".into(), &said("one")).await.unwrap();
        assert_eq!(states(&session), ["recording", "pending"]);
        let options = OpenOptions { take_over: true, recover: false, ..open_options() };
        let mut session = Session::open(place.store.clone(), session.id().clone(), options).await.unwrap();
        assert_eq!(states(&session), ["recording", "pending"], "another process finds the same");
        session.roll_back_cycle(&cycle, "test").await.unwrap();
        assert_eq!(session.state().cycle(&cycle), None);
        for past in
            [session.commit_cycle(&cycle).await.err(), session.before_tool_call(&cycle, &"toolu_2".into()).await.err()]
        {
            assert_eq!(past, Some(SessionError::Rejected(Rejected::NoCycle(cycle.clone()))));
        }
    });
}

/// A tool that records its input.
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
fn s1_111_a_tool_gets_its_name_and_input_and_its_output_is_the_result() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
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
fn s1_55_a_repair_reports_what_it_removed_where_and_of_which_call() {
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
        assert_eq!(messages, session.messages().collect::<Vec<_>>(), "they equal the stored messages");
        let all = messages.concat();
        assert!(!all.contains("toolu_") && all.contains("so") && all.contains("I look"), "{all}");
        // The message that contained only the orphan is removed, so its neighbours are adjacent.
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
        let mut session = place.create(SessionPolicy::default()).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), &results(&["toolu_9"]), YES]).await.unwrap();
        let written = serde_json::to_value(session.validate().unwrap()).unwrap();
        assert_eq!(
            (&written["valid"], &written["orphanedIds"], &written["incompleteIds"]),
            (&false.into(), &serde_json::json!(["toolu_9"]), &serde_json::json!(["toolu_1"]))
        );
        assert!(written["error"].is_string());
        let made = session.create_checkpoint(Operation::Manual).await.unwrap();
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
fn s1_82_a_session_repairs_without_asking_only_if_the_policy_says_so() {
    on_every_store(async |place| {
        for (auto_repair, policy) in [(true, repairing as fn(_) -> _), (false, asking)] {
            let config = SessionPolicy { persist_repairs: PersistRepairs::All, ..SessionPolicy::default() };
            let mut session = place.create_with(policy(config)).await;
            session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
            let before = kept(&session);
            let start = session.session_start().await.unwrap();
            assert!(start.repair_offered);
            assert_eq!((start.validation.unwrap().valid, kept(&session) == before), (auto_repair, !auto_repair));
            let start = session.before_agent_start(ENVELOPE).await.unwrap();
            assert_eq!(matches!(start, AgentStart::Proceed { .. }), auto_repair, "{start:?}");
            assert_eq!(kept(&session) == before, !auto_repair);
        }
    });
}
