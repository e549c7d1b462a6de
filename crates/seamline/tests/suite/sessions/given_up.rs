//! The texts about calls without a result: they say who stopped the calls, and whether each call was started.

use seamline::session::{OpenOptions, Session, SessionPolicy, Truth};
use seamline::store::{Effect, IncidentKind};

use super::stores::{ASK, ENVELOPE, Place, kept, on_every_store, open_options, turn};

/// A session whose process ended after it had started the first of two calls.
async fn crashed(place: &Place) -> Session {
    let mut session = place.create(SessionPolicy::default()).await;
    session.append(ASK).await.unwrap();
    let calls = turn(&["toolu_1", "toolu_2"]);
    let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::Unsafe).await.unwrap();
    session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
    let options = OpenOptions { take_over: true, recover: false, ..open_options() };
    Session::open(place.store.clone(), session.id().clone(), options).await.unwrap()
}

#[test]
fn a_crash_is_not_reported_as_an_abort() {
    on_every_store(async |place| {
        for asks in [true, false] {
            let mut session = crashed(&place).await;
            let truths: Vec<Truth> =
                session.session_start().await.unwrap().unresolved.iter().map(|call| call.truth).collect();
            assert_eq!(truths, [Truth::OutcomeUnknown, Truth::NeverStarted]);
            if asks {
                session.before_agent_start(ENVELOPE).await.unwrap();
            } else {
                let outcomes = session.abort().await.unwrap();
                assert!(outcomes.len() == 2 && outcomes.iter().all(|outcome| outcome.synthetic));
            }
            let told = kept(&session).concat();
            assert!(!told.contains("abort"), "{told}");
            assert!(told.contains("[outcome unknown]") && told.contains("Idempotency key: k_"), "{told}");
            assert!(told.contains("[not executed]"), "{told}");
            let kinds: Vec<_> = session.incidents().map(|incident| incident.kind).collect();
            assert!(
                kinds.contains(&IncidentKind::OutcomeUnknown) && !kinds.contains(&IncidentKind::Aborted),
                "{kinds:?}"
            );
            assert_eq!(session.repair_context().lost_calls.len(), 2);
            assert!(session.unresolved().is_empty() && session.abort().await.unwrap().is_empty());
        }
    });
}

#[test]
fn an_error_after_a_crash_says_the_same() {
    on_every_store(async |place| {
        let mut session = crashed(&place).await;
        session.append(ASK).await.unwrap();
        let failure = seamline::classify::Failure { status: Some(529), text: "Overloaded", ..Default::default() };
        session.handle_error(&failure).await.unwrap();
        let told = kept(&session).concat();
        assert!(told.contains("[outcome unknown]") && !told.contains("abort"), "{told}");
    });
}

#[test]
fn a_call_that_was_never_started_is_reported_as_not_run_after_an_abort() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let calls = turn(&["toolu_1", "toolu_2"]);
        let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        let outcomes = session.abort().await.unwrap();
        assert!(outcomes[0].content.contains("Whether it ran is unknown"), "{outcomes:?}");
        assert!(outcomes[1].content.contains("did not run"), "{outcomes:?}");
        assert!(session.incidents().any(|incident| incident.kind == IncidentKind::Aborted && incident.count == 2));
    });
}
