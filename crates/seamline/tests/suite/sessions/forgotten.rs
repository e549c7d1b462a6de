//! Calls with effects whose cycle is rolled back.

use seamline::classify::Failure;
use seamline::session::{
    LostCall, OnFailure, OpenOptions, ResetOptions, Session, SessionPolicy, ToolOutput, Truth, UnknownOutcome,
};
use seamline::store::{Effect, IncidentKind, IncidentSeverity, Operation};

use super::stores::{ASK, asking, on_every_store, open_options, turn};

fn said(text: &str, is_error: bool) -> ToolOutput {
    ToolOutput { output: text.to_owned(), is_error }
}

#[test]
fn a_finished_call_is_remembered_when_its_cycle_is_rolled_back() {
    on_every_store(async |place| {
        for how in ["rollback", "filter", "reset", "cycle", "tool"] {
            let on_tool_error =
                if how == "tool" { OnFailure::Rollback } else { SessionPolicy::default().on_tool_error };
            let mut session = place.create(SessionPolicy { on_tool_error, ..SessionPolicy::default() }).await;
            session.append(ASK).await.unwrap();
            let checkpoint = session.create_checkpoint(Operation::Manual).await.unwrap();
            let calls = turn(&["toolu_1", "toolu_2"]);
            let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::Unsafe).await.unwrap();
            session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
            session.finish_call(&cycle, &"toolu_1".into(), &said("PAID 100", false)).await.unwrap();
            match how {
                "rollback" => drop(session.rollback(&checkpoint.id, "x").await.unwrap()),
                "filter" => {
                    let text = r#"{"content":[],"stop_reason":"refusal"}"#;
                    let failure = Failure { status: Some(200), text, ..Failure::default() };
                    session.handle_error(&failure).await.unwrap();
                }
                "reset" => drop(session.reset(ResetOptions { archive: true }).await.unwrap()),
                "tool" => {
                    session.before_tool_call(&cycle, &"toolu_2".into()).await.unwrap();
                    session.after_tool_call(&cycle, &"toolu_2".into(), &said("no", true)).await.unwrap();
                }
                _ => session.roll_back_cycle(&cycle, "x").await.unwrap(),
            }
            assert!(session.state().cycles.is_empty(), "{how}");
            let lost = session.repair_context().lost_calls;
            let first = LostCall { id: "toolu_1".into(), tool: "sh".into(), returned: Some("PAID 100".into()) };
            assert_eq!(lost.first(), Some(&first), "{how}");
            assert_eq!(lost.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["toolu_1", "toolu_2"], "{how}");
            let again = place.reopen(&session).await;
            let mut told = again.incidents().filter(|found| found.kind == IncidentKind::Rollback);
            assert!(told.any(|found| found.count > 0), "{how}: {:?}", again.incidents().collect::<Vec<_>>());
            assert!(again.incidents().all(|found| !found.detail.contains("PAID")), "{how}");
        }
    });
}

#[test]
fn a_finished_call_is_remembered_beside_an_unknown_outcome() {
    on_every_store(async |place| {
        let config = SessionPolicy { unknown_outcome: UnknownOutcome::Forget, ..SessionPolicy::default() };
        let mut session = place.create(config.clone()).await;
        session.append(ASK).await.unwrap();
        let calls = turn(&["toolu_1", "toolu_2"]);
        let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        session.finish_call(&cycle, &"toolu_1".into(), &said("PAID 100", false)).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_2".into()).await.unwrap();
        let options = OpenOptions { take_over: true, policy: Some(asking(config)), ..open_options() };
        let again = Session::open(place.store.clone(), session.id().clone(), options).await.unwrap();
        let returned: Vec<_> = again.repair_context().lost_calls.into_iter().map(|call| call.returned).collect();
        assert_eq!(returned, [Some("PAID 100".to_owned()), None]);
        assert!(again.incidents().any(|found| found.count == 1 && found.severity == IncidentSeverity::Error));
    });
}

#[test]
fn calls_of_a_kept_cycle_do_not_count_as_lost() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let calls = turn(&["toolu_1", "toolu_2"]);
        let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        session.finish_call(&cycle, &"toolu_1".into(), &said("PAID 100", false)).await.unwrap();
        let again = place.reopen(&session).await;
        let lost: Vec<_> = again.repair_context().lost_calls.into_iter().map(|call| call.id).collect();
        assert_eq!(lost, ["toolu_2"]);
    });
}

#[test]
fn a_read_only_call_is_harmless_also_if_a_host_started_it() {
    on_every_store(async |place| {
        for unknown_outcome in [UnknownOutcome::Annotate, UnknownOutcome::Forget] {
            let mut session = place.create(SessionPolicy { unknown_outcome, ..SessionPolicy::default() }).await;
            session.append(ASK).await.unwrap();
            let calls = turn(&["toolu_1", "toolu_2"]);
            let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::ReadOnly).await.unwrap();
            let head = place.store.read_head(session.id()).await.unwrap();
            assert!(!session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap().key.is_empty());
            session.before_tool_call(&cycle, &"toolu_2".into()).await.unwrap();
            assert_eq!(place.store.read_head(session.id()).await.unwrap(), head, "a read needs no intent");
            session.finish_call(&cycle, &"toolu_1".into(), &said("READ", false)).await.unwrap();
            let options = OpenOptions { take_over: true, recover: false, ..open_options() };
            let mut again = Session::open(place.store.clone(), session.id().clone(), options).await.unwrap();
            let truths: Vec<Truth> = again.unresolved().iter().map(|call| call.truth).collect();
            assert_eq!(truths, [Truth::Finished, Truth::Harmless]);
            let recovered = again.recover().await.unwrap();
            assert_eq!((recovered.rolled_back, recovered.unknown), (0, 0));
            let result = again.messages().last().unwrap();
            assert!(result.contains("READ") && result.contains("[no result]"), "{result}");
            assert!(result.contains("It only reads, so you may issue it again.") && !result.contains("blindly"));
            assert!(again.incidents().all(|found| found.severity != IncidentSeverity::Error));
        }
    });
}
