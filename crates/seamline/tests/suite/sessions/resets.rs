//! Resets during a compaction and under the longest name, and the messages that a checkpoint keeps.

use seamline::classify::Failure;
use seamline::session::{Follower, LastResort, RecoveryAction, ResetOptions, Session, SessionOptions, SessionPolicy};
use seamline::store::{Effect, InboxItem, IncidentKind, Operation, Raw, SessionId};

use super::stores::{ASK, kept, memory, on_every_store, turn};

const REFUSED: &str = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1"}}"#;

#[test]
fn a_reset_in_the_middle_of_a_compaction_ends_it() {
    on_every_store(async |place| {
        for by_error in [true, false] {
            let config = SessionPolicy { last_resort: LastResort::Reset, ..SessionPolicy::default() };
            let mut session = place.create(config).await;
            session.append_all(&[ASK, r#"{"role":"assistant","content":"yes"}"#]).await.unwrap();
            let range = session.before_compaction(0..2).await.unwrap();
            if by_error {
                let failure = Failure { status: Some(400), text: REFUSED, ..Failure::default() };
                let recovery = session.handle_error(&failure).await.unwrap();
                assert_eq!(recovery.action, RecoveryAction::Reset, "{recovery:?}");
            } else {
                session.reset(ResetOptions::default()).await.unwrap();
            }
            assert!(session.finish_compaction(range, &[ASK]).await.is_err());
            session.append(ASK).await.unwrap();
            let item = InboxItem { id: "i-1".into(), message: Raw::parse(ASK).unwrap(), dialect: None };
            place.store.push(session.id(), &item).await.unwrap();
            assert_eq!(session.take_inbox().await.unwrap(), 1);
            let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
            session.roll_back_cycle(&cycle, "test").await.unwrap();
            session.before_compaction(0..1).await.unwrap();
        }
    });
}

#[test]
fn a_rollback_behind_a_compaction_ends_it() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append_all(&[ASK, ASK]).await.unwrap();
        session.before_compaction(0..1).await.unwrap();
        let failure = Failure { status: Some(529), text: "Overloaded", ..Failure::default() };
        session.handle_error(&failure).await.unwrap();
        assert_eq!(kept(&session), [ASK, ASK]);
        session.before_compaction(0..1).await.unwrap();
        let later = session.create_checkpoint(Operation::Manual).await.unwrap();
        session.rollback(&later.id, "test").await.unwrap();
        assert!(session.before_compaction(0..1).await.is_err(), "an earlier compaction is still running");
    });
}

#[test]
fn a_session_with_the_longest_name_can_be_archived() {
    on_every_store(async |place| {
        let short = place.name();
        for length in [short.len(), 118, 119, SessionId::LEN_MAX - 1, SessionId::LEN_MAX] {
            let mut archives = Vec::new();
            for last in ["a", "b"] {
                let start = format!("{short}-{length}");
                let name = format!("{start:x<width$}{last}", width = length.saturating_sub(1));
                let options = SessionOptions::default();
                let id: SessionId = name.parse().unwrap();
                let mut session = Session::create(place.store.clone(), id, options).await.unwrap();
                for _ in 0..2 {
                    session.append(ASK).await.unwrap();
                    let result = session.reset(ResetOptions { archive: true }).await.unwrap();
                    archives.push(result.archive.unwrap());
                    assert!(session.messages().next().is_none());
                }
            }
            for archive in &archives {
                let kept = Follower::open(place.store.clone(), archive.clone()).await.unwrap();
                assert_eq!(kept.state().view.len(), 1);
            }
            archives.sort();
            archives.dedup();
            assert_eq!(archives.len(), 4, "{archives:?}");
        }
    });
}

#[test]
fn a_checkpoint_omits_messages_that_are_too_large_for_a_commit() {
    futures_executor::block_on(async {
        let place = memory();
        let config = SessionPolicy { snapshot_messages: true, ..SessionPolicy::default() };
        let mut session = place.create(config).await;
        session.append(ASK).await.unwrap();
        assert!(session.create_checkpoint(Operation::Manual).await.unwrap().snapshot.is_some());
        let long = format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(65 * 1024 * 1024));
        session.append(&long).await.unwrap();
        session.append(&long).await.unwrap();
        for _ in 0..2 {
            let made = session.create_checkpoint(Operation::Manual).await.unwrap();
            assert!(made.snapshot.is_none());
            session.rollback(&made.id, "test").await.unwrap();
        }
        let told: Vec<_> = session.incidents().filter(|found| found.kind == IncidentKind::SnapshotTooLarge).collect();
        assert!(told.len() == 1 && told[0].detail.contains("134217728"), "{told:?}");
    });
}

#[test]
fn a_reset_right_after_a_reset_makes_no_empty_archive() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        assert!(session.reset(ResetOptions { archive: true }).await.unwrap().archive.is_some());
        let again = session.reset(ResetOptions { archive: true }).await.unwrap();
        assert_eq!((again.archived, again.archive), (false, None), "{}", place.name);
    });
}

#[test]
fn s1_63_a_reset_keeps_the_message_that_is_marked_as_the_system_prompt() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        let prompt = r#"{"role":"user","content":[{"type":"text","text":"Be brief.","isSystemPrompt":true}]}"#;
        let other = r#"{"role":"user","content":[{"type":"text","text":"isSystemPrompt","isSystemPrompt":false}]}"#;
        session.append_all(&[prompt, other, r#"{"role":"assistant","content":"yes"}"#]).await.unwrap();
        let result = session.reset(ResetOptions::default()).await.unwrap();
        assert_eq!((result.remaining_messages, kept(&session)), (1, vec![prompt.to_owned()]));
        assert_eq!(kept(&place.reopen(&session).await), [prompt]);
    });
}

#[test]
fn s1_54_the_number_of_rolled_back_messages_includes_an_open_cycle() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
        let text = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}"#;
        let failure = Failure { status: Some(400), text, ..Failure::default() };
        let recovery = session.handle_error(&failure).await.unwrap();
        assert_eq!(recovery.message, "Content filter triggered. Rolled back 1 messages.");
        let counted = session.incidents().filter(|found| found.kind == IncidentKind::ContentFilter);
        assert_eq!(counted.map(|found| found.count).collect::<Vec<_>>(), [1]);
        assert!(session.unresolved().is_empty() && kept(&session) == [ASK]);
    });
}
