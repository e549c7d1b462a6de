//! A check keeps its reading for the next one. Whatever happens to a session in between, its findings equal those of a
//! session that was not checked before.

use std::future::pending;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use seamline::outline::message_spans;
use seamline::session::{
    Follower, PersistRepairs, ResetOptions, Session, SessionOptions, SessionPolicy, ToolCallRef, ToolOutput,
};
use seamline::store::{CheckpointId, Effect, Operation};
use seamline::{Options, Policy};
use seamline_testkit::Dialect;
use seamline_testkit::generate::{self, Mangled};

use super::stores::{Place, Tick, Tool, asking, memory, on_every_store, results, turn};

/// A change of a session. A change that does not fit is refused, which is a case too.
#[derive(Debug, Clone)]
enum Step {
    Append(Vec<Index>),
    Repair,
    Undo,
    Checkpoint,
    Rollback(Index),
    Compact(Index, Index, Index),
    BeginCompaction(Index, Index),
    CancelCompaction,
    Cycle(Index),
    BeginCycle(Index),
    EndCycle(bool),
    LateResult,
    Reset,
    Reopen,
    Forget,
}

fn step() -> impl Strategy<Value = Step> {
    let place = any::<Index>;
    prop_oneof![
        8 => prop::collection::vec(place(), 1..5).prop_map(Step::Append),
        3 => Just(Step::Repair),
        2 => Just(Step::Undo),
        2 => Just(Step::Checkpoint),
        2 => place().prop_map(Step::Rollback),
        1 => (place(), place(), place()).prop_map(|(from, to, summary)| Step::Compact(from, to, summary)),
        1 => (place(), place()).prop_map(|(from, to)| Step::BeginCompaction(from, to)),
        1 => Just(Step::CancelCompaction),
        3 => place().prop_map(Step::Cycle),
        2 => place().prop_map(Step::BeginCycle),
        2 => any::<bool>().prop_map(Step::EndCycle),
        1 => Just(Step::LateResult),
        1 => Just(Step::Reset),
        1 => Just(Step::Reopen),
        1 => Just(Step::Forget),
    ]
}

/// Messages of a conversation that is broken, and perhaps written badly.
fn messages(mangled: &Mangled, dialect: Dialect, style: seamline_testkit::text::Style) -> Vec<String> {
    let body = mangled.render(dialect, style).text;
    let options = Options { dialect: Some(dialect.name().to_owned()), ..Options::default() };
    let spans = message_spans(body.as_bytes(), &options).unwrap_or_default();
    spans.into_iter().map(|span| body[span].to_owned()).collect()
}

fn mangled() -> impl Strategy<Value = Mangled> {
    let broken = generate::broken().prop_map(|broken| Mangled { broken, wire: Vec::new() });
    prop_oneof![broken, generate::mangled()]
}

async fn create(place: &Place, dialect: &str) -> Session {
    let config = SessionPolicy { persist_repairs: PersistRepairs::All, ..SessionPolicy::default() };
    let clock = Arc::new(Tick::default());
    let options = SessionOptions {
        dialect: Some(dialect.to_owned()),
        policy: asking(config),
        clock,
        ..SessionOptions::default()
    };
    Session::create(place.store.clone(), place.name().parse().unwrap(), options).await.unwrap()
}

/// Applies a change, which may be refused.
async fn happen(session: &mut Session, step: &Step, place: &Place, pool: &[String]) {
    let chosen = |index: &Index| pool[index.index(pool.len())].as_str();
    let range = |from: &Index, to: &Index, length: usize| {
        let (from, to) = (from.index(length + 1), to.index(length + 1));
        from.min(to)..from.max(to)
    };
    let length = session.messages().count();
    let cycle = session.state().cycles.first().map(|cycle| cycle.id.clone()).unwrap_or_default();
    let output = ToolOutput { output: "late".to_owned(), is_error: false };
    let _ = match step {
        Step::Append(indexes) => session.append_all(&indexes.iter().map(chosen).collect::<Vec<_>>()).await.is_ok(),
        Step::Repair => session.repair().await.is_ok(),
        Step::Undo => session.undo_repair().await.is_ok(),
        Step::Checkpoint => session.create_checkpoint(Operation::Manual).await.is_ok(),
        Step::Rollback(index) => {
            let ids: Vec<CheckpointId> = session.checkpoints().into_iter().map(|made| made.id).collect();
            let id = if ids.is_empty() { CheckpointId::default() } else { ids[index.index(ids.len())].clone() };
            session.rollback(&id, "test").await.is_ok()
        }
        Step::Compact(from, to, summary) => match session.before_compaction(range(from, to, length)).await {
            Ok(range) => session.finish_compaction(range, &[chosen(summary)]).await.is_ok(),
            Err(_) => false,
        },
        Step::BeginCompaction(from, to) => session.before_compaction(range(from, to, length)).await.is_ok(),
        Step::CancelCompaction => session.cancel_compaction().await.is_ok(),
        Step::Cycle(turn) => {
            session.execute_tool_cycle(&[chosen(turn)], &Tool::saying("did it"), pending()).await.is_ok()
        }
        Step::BeginCycle(turn) => session.begin_cycle(&[chosen(turn)], &|_| Effect::Unsafe).await.is_ok(),
        Step::EndCycle(true) => session.commit_cycle(&cycle).await.is_ok(),
        Step::EndCycle(false) => session.roll_back_cycle(&cycle, "test").await.is_ok(),
        Step::LateResult => {
            session.add_late_result(&ToolCallRef { id: "call_1".into(), name: "sh" }, &output).await.is_ok()
        }
        Step::Reset => session.reset(ResetOptions::default()).await.is_ok(),
        Step::Reopen => {
            *session = place.reopen(session).await;
            true
        }
        Step::Forget => {
            session.forget_reading();
            true
        }
    };
}

/// Compares checks of a session with those of a session that has the same messages and was never checked.
async fn compare(session: &Session, place: &Place) -> Result<(), TestCaseError> {
    let follower = Follower::open(place.store.clone(), session.id().clone()).await.unwrap();
    let options = Options { kept: true, ..follower.options(Policy::default()).unwrap() };
    let fresh = seamline::check(&follower.body("{}").unwrap(), &options).map_err(seamline::session::SessionError::from);
    prop_assert_eq!(session.check(), fresh, "{:#?}", session.messages().collect::<Vec<_>>());
    let other = session.fork(place.name().parse().unwrap()).await.unwrap();
    prop_assert_eq!(session.validate(), other.validate());
    prop_assert_eq!(session.check(), other.check());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_check_says_what_it_says_of_a_session_that_was_just_opened(
        conversations in prop::collection::vec(mangled(), 1..3),
        dialect in select(Dialect::ALL.to_vec()),
        style in generate::style(),
        steps in prop::collection::vec(step(), 1..20),
    ) {
        let conversations: Vec<_> = conversations.iter().map(|mangled| messages(mangled, dialect, style)).collect();
        let pool: Vec<String> = conversations.concat();
        prop_assume!(!pool.is_empty());
        futures_executor::block_on(async {
            let place = memory();
            let mut session = create(&place, dialect.name()).await;
            // Messages that a store would refuse are skipped.
            for message in &conversations[0] {
                let _ = session.append(message).await;
            }
            compare(&session, &place).await?;
            for step in &steps {
                happen(&mut session, step, &place, &pool).await;
                compare(&session, &place).await?;
            }
            Ok::<(), TestCaseError>(())
        })?;
    }
}

#[test]
fn the_next_check_sees_a_result_that_arrived_after_the_last_one() {
    on_every_store(async |place| {
        let mut session = create(&place, "anthropic_messages").await;
        session.append_all(&[super::stores::ASK, &turn(&["toolu_1"]), super::stores::ASK]).await.unwrap();
        assert_eq!(session.validate().unwrap().incomplete_ids, ["toolu_1"]);
        session.append(&results(&["toolu_1"])).await.unwrap();
        let codes = |session: &Session| session.check().unwrap().findings.iter().map(|it| it.code).collect::<Vec<_>>();
        assert_eq!(codes(&session), ["PAIR004"], "the result does not follow its call directly");
        session.repair().await.unwrap();
        assert_eq!(codes(&session), [""; 0]);
        session.undo_repair().await.unwrap();
        assert_eq!(codes(&session), ["PAIR004"]);
        assert_eq!(session.check().unwrap().findings, session.check().unwrap().findings);
    });
}
