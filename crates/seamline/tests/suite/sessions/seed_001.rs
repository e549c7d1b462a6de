//! The eighteen cases of the source document on session integrity, each under its number, with the preset of the document.

use std::future::pending;

use seamline::Policy;
use seamline::classify::Failure;
use seamline::policy::OnInvalid;
use seamline::session::{
    AgentEnd, AgentStart, ExecutorFailure, OpenOptions, RecoveryAction, ResetOptions, Session, SessionError, TurnEnd,
};
use seamline::store::{CheckpointState, IncidentKind, Operation, Rejected};

use super::faulty::{Fault, Faulty};
use super::stores::{ASK, ENVELOPE, Tool, is_valid, kept, on_every_store, open_options, results, turn};

/// The preset of the document.
fn clawos() -> Policy {
    Policy::preset("clawos").unwrap()
}

#[test]
fn case_01_a_session_without_tools_is_valid() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        session.append_all(&[ASK, r#"{"role":"assistant","content":"yes"}"#]).await.unwrap();
        assert!(session.validate().unwrap().valid, "{}", place.name);
    });
}

#[test]
fn case_02_matched_calls_and_results_are_valid() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        session.append_all(&[ASK, &turn(&["toolu_01ABC"]), &results(&["toolu_01ABC"])]).await.unwrap();
        assert!(session.validate().unwrap().valid, "{}", place.name);
    });
}

#[test]
fn case_03_an_orphaned_result_is_named() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        session.append_all(&[ASK, r#"{"role":"assistant","content":"yes"}"#, &results(&["toolu_9"])]).await.unwrap();
        let validation = session.validate().unwrap();
        assert!(!validation.valid);
        assert_eq!(validation.orphaned_ids, ["toolu_9"]);
        assert_eq!(validation.error.as_deref(), Some("Orphaned tool_result: toolu_9"));
        // No assistant message comes before it.
        let mut session = place.create_with(clawos()).await;
        session.append_all(&[ASK, &results(&["toolu_9"])]).await.unwrap();
        let validation = session.validate().unwrap();
        assert_eq!(validation.error.as_deref(), Some("tool_result without preceding assistant message"));
        assert_eq!(validation.orphaned_ids, ["toolu_9"]);
        // Its call is elsewhere.
        let mut session = place.create_with(clawos()).await;
        session.append_all(&[ASK, &turn(&["toolu_9"]), ASK, &results(&["toolu_9"])]).await.unwrap();
        let validation = session.validate().unwrap();
        assert_eq!(
            validation.errors,
            ["Incomplete tool_use: toolu_9", "tool_result without preceding assistant message"]
        );
        assert_eq!(
            (validation.orphaned_ids, validation.incomplete_ids),
            (vec!["toolu_9".into()], vec!["toolu_9".into()])
        );
        // There is no call at all.
        let mut session = place.create_with(clawos()).await;
        session.append(&results(&["toolu_8", "toolu_9"])).await.unwrap();
        let validation = session.validate().unwrap();
        assert!(validation.errors.contains(&"tool_result without preceding assistant message".to_owned()));
        assert_eq!(validation.orphaned_ids, ["toolu_8", "toolu_9"]);
    });
}

#[test]
fn case_04_an_incomplete_call_is_named() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        let validation = session.validate().unwrap();
        assert_eq!(validation.incomplete_ids, ["toolu_1"]);
        assert_eq!(validation.error.as_deref(), Some("Incomplete tool_use: toolu_1"));
        // No user message follows it.
        let mut session = place.create_with(clawos()).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), r#"{"role":"assistant","content":"so"}"#]).await.unwrap();
        let validation = session.validate().unwrap();
        assert_eq!(validation.incomplete_ids, ["toolu_1"]);
        assert_eq!(validation.error.as_deref(), Some("tool_use without following user message"));
        // Each of several calls without a result is named.
        let mut session = place.create_with(clawos()).await;
        let calls = [turn(&["toolu_1", "toolu_2", "toolu_3"]), results(&["toolu_2"]), turn(&["toolu_4"])];
        session.append_all(&[ASK, &calls[0], &calls[1], &calls[2], ASK]).await.unwrap();
        let validation = session.validate().unwrap();
        assert_eq!(validation.incomplete_ids, ["toolu_1", "toolu_3", "toolu_4"]);
        let named = ["toolu_1", "toolu_3", "toolu_4"].map(|id| format!("Incomplete tool_use: {id}"));
        assert_eq!(validation.errors, named);
        // In the last message it may still be answered.
        let mut session = place.create_with(clawos()).await;
        session.append_all(&[ASK, &turn(&["toolu_1"])]).await.unwrap();
        assert!(session.validate().unwrap().valid);
    });
}

#[test]
fn case_05_duplicate_ids_are_invalid() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        let cycle = [turn(&["toolu_1"]), results(&["toolu_1"])];
        session.append_all(&[ASK, &cycle[0], &cycle[1], &cycle[0], &cycle[1]]).await.unwrap();
        let validation = session.validate().unwrap();
        assert!(!validation.valid, "{}", place.name);
        assert_eq!(validation.error.as_deref(), Some("Duplicate tool_use id: toolu_1"));
    });
}

#[test]
fn case_06_a_checkpoint_that_was_made_exists() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        session.append(ASK).await.unwrap();
        for operation in Operation::ALL {
            let made = session.create_checkpoint(operation).await.unwrap();
            assert_eq!((made.messages, made.operation, made.state), (1, operation, CheckpointState::Open));
            assert_eq!(made.hash, session.state().view.hash());
            assert_eq!(&made.session, session.id());
            assert!(made.at > 0 && made.snapshot.is_none() && !made.id.as_str().is_empty());
            let written = serde_json::to_value(&made).unwrap();
            for name in ["id", "sessionId", "timestamp", "messageIndex", "contentHash", "operation"] {
                assert!(written.get(name).is_some(), "{name} in {written}");
            }
            assert_eq!(session.get_checkpoint(&made.id), Some(made));
        }
        let again = place.reopen(&session).await;
        assert_eq!(again.checkpoints(), session.checkpoints());
        assert!(again.checkpoints().iter().all(|made| &made.session == session.id()));
        // A session that began as a copy has none of them: each checkpoint names its own session.
        let mut fork = session.fork(place.name().parse().unwrap()).await.unwrap();
        assert_eq!(&fork.create_checkpoint(Operation::Manual).await.unwrap().session, fork.id());
    });
}

#[test]
fn case_07_a_committed_checkpoint_is_marked() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        let made = session.create_checkpoint(Operation::Manual).await.unwrap();
        session.commit_checkpoint(&made.id).await.unwrap();
        assert_eq!(session.get_checkpoint(&made.id).unwrap().state, CheckpointState::Committed);
        assert_eq!(session.latest_checkpoint(), None, "a committed one is not gone back to by itself");
    });
}

#[test]
fn case_08_a_rollback_truncates_to_the_checkpoint() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        session.append(ASK).await.unwrap();
        let made = session.create_checkpoint(Operation::ApiCall).await.unwrap();
        session.append_all(&[&turn(&["toolu_1"]), &results(&["toolu_1"])]).await.unwrap();
        session.begin_cycle(&[&turn(&["toolu_2"])], &|_| seamline::store::Effect::Unsafe).await.unwrap();
        let result = session.rollback(&made.id, "test").await.unwrap();
        assert_eq!((result.success, result.messages_removed, result.new_message_count), (true, 2, 1));
        assert_eq!(kept(&session), [ASK]);
        assert!(session.unresolved().is_empty(), "the incomplete cycle is gone");
        assert_eq!(kept(&place.reopen(&session).await), [ASK]);
    });
}

#[test]
fn case_09_a_rollback_to_a_corrupted_checkpoint_is_an_error() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        let error = session.rollback(&"ckpt_99".into(), "test").await.unwrap_err();
        assert_eq!(error.to_string(), "Checkpoint not found: ckpt_99");
        let made = session.create_checkpoint(Operation::Manual).await.unwrap();
        session.rollback(&made.id, "test").await.unwrap();
        let spent = session.rollback(&made.id, "test").await.unwrap_err();
        assert!(matches!(spent, SessionError::Rejected(Rejected::CheckpointSpent(..))));
    });
}

#[test]
fn case_09_a_checkpoint_of_modified_messages_is_refused() {
    on_every_store(async |place| {
        for snapshot_messages in [false, true] {
            let mut policy = clawos();
            policy.session.snapshot_messages = snapshot_messages;
            let mut session = place.create_with(policy).await;
            session.append(ASK).await.unwrap();
            session.append(ASK).await.unwrap();
            let made = session.create_checkpoint(Operation::Manual).await.unwrap();
            session.append(r#"{"role":"assistant","content":"yes"}"#).await.unwrap();
            // The second message is lost to damage, so the messages differ from those of the checkpoint.
            let altered = Faulty::new(place.store.clone(), Fault::Alters { seq: 3 });
            let options = OpenOptions { take_over: true, ..open_options() };
            let mut again = Session::open(altered, session.id().clone(), options).await.unwrap();
            let before = kept(&again);
            let error = again.rollback(&made.id, "test").await.unwrap_err();
            assert_eq!(error.to_string(), "Checkpoint integrity mismatch — messages were modified");
            assert_eq!(kept(&again), before, "a rollback that fails changes nothing");
        }
    });
}

#[test]
fn case_10_a_successful_cycle_is_stored_completely() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        session.append(ASK).await.unwrap();
        let calls = turn(&["toolu_1", "toolu_2"]);
        let result = session.execute_tool_cycle(&[&calls], &Tool::saying("done"), pending()).await.unwrap();
        assert!(result.success && !result.rolled_back && result.error.is_none());
        assert_eq!((result.outcomes[0].tool_use_id.as_str(), result.outcomes[1].content.as_str()), ("toolu_1", "done"));
        let again = place.reopen(&session).await;
        assert_eq!(kept(&again), kept(&session));
        assert_eq!(kept(&again)[..2], [ASK.to_owned(), calls]);
        assert_eq!(again.messages().count(), 3);
        assert!(is_valid(&again) && again.validate().unwrap().valid);
        let states: Vec<_> = again.checkpoints().iter().map(|checkpoint| checkpoint.state).collect();
        assert_eq!(states, [CheckpointState::Committed]);
    });
}

#[test]
fn case_11_a_cycle_that_fails_leaves_nothing() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        session.append(ASK).await.unwrap();
        let tool = Tool::doing(|_| Err(ExecutorFailure("boom".to_owned())));
        let result = session.execute_tool_cycle(&[&turn(&["toolu_1"])], &tool, pending()).await.unwrap();
        assert_eq!((result.success, result.rolled_back, result.error.as_deref()), (false, true, Some("boom")));
        assert_eq!(kept(&session), [ASK]);
        assert_eq!(kept(&place.reopen(&session).await), [ASK]);
    });
}

#[test]
fn case_12_a_content_filter_during_a_tool_leaves_a_clean_state() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        session.append(ASK).await.unwrap();
        session.begin_cycle(&[&turn(&["toolu_1"])], &|_| seamline::store::Effect::Unsafe).await.unwrap();
        let recovery = session.handle_error(&filtered()).await.unwrap();
        assert_eq!(recovery.action, RecoveryAction::RolledBack);
        assert_eq!(kept(&session), [ASK]);
        assert!(session.unresolved().is_empty() && is_valid(&session));
        assert_eq!(kept(&place.reopen(&session).await), [ASK]);
    });
}

#[test]
fn case_13_an_orphaned_result_is_repaired_away() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        session
            .append_all(&[ASK, r#"{"role":"assistant","content":"yes"}"#, &results(&["toolu_9"]), ASK])
            .await
            .unwrap();
        let result = session.repair().await.unwrap();
        assert!(result.repaired && result.remaining.is_empty(), "{result:?}");
        assert!(!kept(&session).concat().contains("toolu_9"));
        assert!(session.validate().unwrap().valid);
        let again = place.reopen(&session).await;
        assert_eq!(kept(&again), kept(&session), "it is repaired once, not at every start");
        assert_eq!(session.repair_context().repairs, 1);
    });
}

#[test]
fn case_14_an_incomplete_call_is_repaired_away() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        session.repair().await.unwrap();
        assert!(!kept(&session).concat().contains("toolu_1"));
        assert!(session.validate().unwrap().valid);
        let before = kept(&session);
        session.undo_repair().await.unwrap();
        assert_eq!(kept(&session), [ASK.to_owned(), turn(&["toolu_1"]), ASK.to_owned()]);
        assert_ne!(before, kept(&session));
    });
}

#[test]
fn case_15_a_reset_session_is_clean_and_archived() {
    on_every_store(async |place| {
        let options = seamline::session::SessionOptions {
            dialect: Some("openai_chat".to_owned()),
            policy: clawos(),
            ..Default::default()
        };
        let id = place.name().parse().unwrap();
        let mut session = seamline::session::Session::create(place.store.clone(), id, options).await.unwrap();
        let system = r#"{"role":"system","content":"be brief"}"#;
        session.append_all(&[system, ASK]).await.unwrap();
        session.create_checkpoint(Operation::Manual).await.unwrap();
        let result = session.reset(ResetOptions { archive: true }).await.unwrap();
        assert_eq!((result.success, result.archived, result.remaining_messages), (true, true, 1));
        assert_eq!(kept(&session), [system]);
        assert!(session.checkpoints().is_empty());
        let archive = seamline::session::Follower::open(place.store.clone(), result.archive.unwrap()).await.unwrap();
        assert_eq!(archive.state().view.len(), 2);
        assert_eq!(kept(&place.reopen(&session).await), [system]);
    });
}

#[test]
fn case_16_a_call_with_a_valid_session_proceeds() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        session.append(ASK).await.unwrap();
        let start = session.before_agent_start(ENVELOPE).await.unwrap();
        let AgentStart::Proceed { request, checkpoint } = start else { panic!("{start:?}") };
        assert!(request.sendable && request.actions.is_empty());
        let id = checkpoint.unwrap();
        assert_eq!(session.get_checkpoint(&id).unwrap().operation, Operation::ApiCall);
        let end = session.agent_end(TurnEnd::Messages(&[r#"{"role":"assistant","content":"yes"}"#])).await.unwrap();
        assert_eq!(end, AgentEnd::Committed);
        assert_eq!(session.get_checkpoint(&id).unwrap().state, CheckpointState::Committed);
    });
}

#[test]
fn case_17_a_call_with_a_corrupt_session_is_blocked_and_a_repair_offered() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        let start = session.session_start().await.unwrap();
        assert!(start.repair_offered && start.validation.is_some_and(|found| !found.valid));
        let start = session.before_agent_start(ENVELOPE).await.unwrap();
        assert!(
            matches!(start, AgentStart::Blocked { ref validation, repair_offered: true } if validation.incomplete_ids == ["toolu_1"]),
            "{start:?}"
        );
        assert!(session.incidents().any(|incident| incident.kind == IncidentKind::ValidationFailed));
        session.repair().await.unwrap();
        let start = session.before_agent_start(ENVELOPE).await.unwrap();
        assert!(matches!(start, AgentStart::Proceed { .. }), "{start:?}");
    });
}

#[test]
fn case_18_a_filter_in_the_middle_of_a_stream_rolls_back_and_tells_the_user() {
    on_every_store(async |place| {
        let mut session = place.create_with(clawos()).await;
        session.append(ASK).await.unwrap();
        session.before_agent_start(ENVELOPE).await.unwrap();
        session.append(&turn(&["toolu_1"])).await.unwrap();
        let end = session.agent_end(TurnEnd::Failed(filtered())).await.unwrap();
        let AgentEnd::Recovered(recovery) = end else { panic!("{end:?}") };
        assert_eq!(recovery.action, RecoveryAction::RolledBack);
        assert_eq!(recovery.message, "Content filter triggered. Rolled back 1 messages.");
        assert_eq!(kept(&session), [ASK]);
        let request = session.request(ENVELOPE).unwrap();
        assert!(!String::from_utf8(request.body).unwrap().contains("filter"), "errors are for the user alone");
        let incident = session.incidents().find(|incident| incident.kind == IncidentKind::ContentFilter).unwrap();
        assert_eq!((incident.count, &incident.checkpoint), (1, &recovery.checkpoint));
        assert!(recovery.checkpoint.is_some() && incident.at >= 1_794_639_611_000, "{incident:?}");
        let without = session.handle_error(&filtered()).await.unwrap();
        assert_eq!(without.action, RecoveryAction::ValidateAndRepair);
        assert_eq!(without.message, "Content filtered with no checkpoint. Validating session state.");
    });
}

#[test]
fn s1_05_an_orphan_that_a_filter_left_behind_does_not_end_the_session() {
    on_every_store(async |place| {
        let mut policy = clawos();
        policy.repair.on_invalid = OnInvalid::Repair;
        let mut session = place.create_with(policy).await;
        // The filter removed the call from the response, and its result was stored.
        let answer = r#"{"role":"assistant","content":[{"type":"text","text":"I look it up."}]}"#;
        session.append_all(&[ASK, answer, &results(&["toolu_01ABC"])]).await.unwrap();
        assert_eq!(session.validate().unwrap().orphaned_ids, ["toolu_01ABC"]);
        for _ in 0..2 {
            session.append(ASK).await.unwrap();
            let start = session.before_agent_start(ENVELOPE).await.unwrap();
            let AgentStart::Proceed { request, .. } = start else { panic!("{start:?}") };
            assert!(request.sendable && is_valid(&session));
            let end = session.agent_end(TurnEnd::Messages(&[r#"{"role":"assistant","content":"yes"}"#])).await.unwrap();
            assert_eq!(end, AgentEnd::Committed);
        }
    });
}

fn filtered() -> Failure<'static> {
    let text = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}"#;
    Failure { status: Some(400), text, ..Failure::default() }
}
