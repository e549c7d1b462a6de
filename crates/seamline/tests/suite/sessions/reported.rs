//! Reports of a host, and reports that a session refuses.

use seamline::session::{
    AgentEnd, ExecutorFailure, OnFailure, Session, SessionError, SessionPolicy, ToolOutput, TurnEnd,
};
use seamline::store::{CycleId, Effect, Rejected};

use super::calls::said;
use super::stores::{ASK, Place, is_valid, kept, on_every_store, turn};

fn failed() -> ToolOutput {
    ToolOutput { is_error: true, ..said("no") }
}

fn gone() -> ExecutorFailure {
    ExecutorFailure("no such tool".to_owned())
}

/// A session that rolls cycles back, with one of two calls of a cycle finished.
async fn half_done(place: &Place) -> (Session, CycleId) {
    let (on_tool_error, on_executor_failure) = (OnFailure::Rollback, OnFailure::Rollback);
    let config = SessionPolicy { on_tool_error, on_executor_failure, ..SessionPolicy::default() };
    let mut session = place.create(config).await;
    session.append(ASK).await.unwrap();
    let calls = turn(&["toolu_1", "toolu_2"]);
    let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::Unsafe).await.unwrap();
    session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
    session.after_tool_call(&cycle, &"toolu_1".into(), &said("first")).await.unwrap();
    (session, cycle)
}

#[test]
fn an_error_about_a_call_that_does_not_wait_rolls_no_cycle_back() {
    on_every_store(async |place| {
        let (mut session, cycle) = half_done(&place).await;
        // One has its result, one is unknown, and one was never started.
        for call in ["toolu_1", "nonsense", "toolu_2"] {
            let error = session.after_tool_call(&cycle, &call.into(), &failed()).await.unwrap_err();
            assert!(matches!(error, SessionError::Rejected(Rejected::Call { .. })), "{call}: {error}");
            let error = session.after_tool_failure(&cycle, &call.into(), &gone()).await.unwrap_err();
            assert!(matches!(error, SessionError::Rejected(Rejected::Call { .. })), "{call}: {error}");
        }
        session.before_tool_call(&cycle, &"toolu_2".into()).await.unwrap();
        let outcomes = session.after_tool_call(&cycle, &"toolu_2".into(), &said("second")).await.unwrap().unwrap();
        assert_eq!(outcomes.iter().map(|outcome| outcome.content.as_str()).collect::<Vec<_>>(), ["first", "second"]);
    });
}

#[test]
fn a_tool_that_could_not_run_is_reported_as_such() {
    on_every_store(async |place| {
        let (mut session, cycle) = half_done(&place).await;
        session.before_tool_call(&cycle, &"toolu_2".into()).await.unwrap();
        assert_eq!(session.after_tool_failure(&cycle, &"toolu_2".into(), &gone()).await.unwrap(), Some(Vec::new()));
        assert!(session.state().cycles.is_empty() && kept(&session) == [ASK]);

        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let calls = turn(&["toolu_1"]);
        let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
        let outcomes = session.after_tool_failure(&cycle, &"toolu_1".into(), &gone()).await.unwrap().unwrap();
        assert!(outcomes[0].is_error && outcomes[0].content == "[tool failed] no such tool", "{outcomes:?}");
        assert!(is_valid(&session));
    });
}

#[test]
fn a_response_whose_calls_must_not_run_is_stored_with_the_reason() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let nameless = r#"{"role":"assistant","content":[{"type":"text","text":"so"},{"type":"tool_use","id":"toolu_1","name":"","input":{}}]}"#;
        assert_eq!(session.agent_end(TurnEnd::Messages(&[nameless])).await.unwrap(), AgentEnd::Committed);
        assert!(
            kept(&session)[1] == nameless && kept(&session)[2].contains("it names no tool"),
            "{:?}",
            kept(&session)
        );
    });
}

#[test]
fn a_response_with_calls_is_not_stored_without_their_results() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let calls = turn(&["toolu_1", "toolu_2"]);
        let error = session.agent_end(TurnEnd::Messages(&[&calls])).await.unwrap_err();
        assert!(matches!(error, SessionError::OpenCalls { calls: 2 }), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("begin_cycle")), "{error}");
        assert!(kept(&session) == [ASK] && is_valid(&session));
        // Calls that the provider ran itself are answered.
        let whole = r#"{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"none"}]}"#;
        assert_eq!(session.agent_end(TurnEnd::Messages(&[whole])).await.unwrap(), AgentEnd::Committed);
    });
}

#[test]
fn the_order_of_roles_is_left_to_requests() {
    on_every_store(async |place| {
        let mut session = super::asking::in_dialect(&place, "bedrock_converse").await;
        for words in ["first", "second"] {
            session.append(&format!(r#"{{"role":"user","content":[{{"text":"{words}"}}]}}"#)).await.unwrap();
            let start = session.before_agent_start(r#"{"modelId":"anthropic.claude-sonnet-4"}"#).await.unwrap();
            assert!(matches!(start, seamline::session::AgentStart::Proceed { .. }), "{words}: {start:?}");
        }
    });
}

#[test]
fn a_response_that_could_not_be_stored_can_be_given_again() {
    let place = super::stores::memory();
    futures_executor::block_on(async {
        // The first record, a message and the turn are stored; the commit of the cycle is not.
        let failing = super::faulty::Faulty::new(place.store.clone(), super::faulty::Fault::FailsOnce { at: 3 });
        let options = seamline::session::SessionOptions::default();
        let mut session =
            seamline::session::Session::create(failing, place.name().parse().unwrap(), options).await.unwrap();
        session.append(super::stores::ASK).await.unwrap();
        let nameless = r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"","input":{}}]}"#;
        session.agent_end(seamline::session::TurnEnd::Messages(&[nameless])).await.unwrap_err();
        session.agent_end(seamline::session::TurnEnd::Messages(&[nameless])).await.unwrap();
        session.abort().await.unwrap();
        assert_eq!(session.messages().filter(|message| message.contains("tool_use\"")).count(), 1);
    });
}
