//! Messages that arrive while calls run come after the results, unchanged.

use seamline::session::{Follower, OpenOptions, Session, SessionPolicy, ToolCallRef};
use seamline::store::{Effect, InboxItem, Operation, Origin, Raw};

use super::calls::said;
use super::stores::{ASK, ENVELOPE, Place, is_valid, kept, on_every_store, open_options, results, turn};

const WAIT: &str = r#"{"role":"user","content":"wait"}"#;
const GO_ON: &str = r#"{"role":"user","content":"go on"}"#;

/// A session whose process ended while these calls ran, opened as it was left.
async fn crashed(place: &Place, turns: &[&[&str]]) -> Session {
    let mut session = place.create(SessionPolicy::default()).await;
    session.append(ASK).await.unwrap();
    for ids in turns {
        let (cycle, calls) = session.begin_cycle(&[&turn(ids)], &|_| Effect::Unsafe).await.unwrap();
        session.before_tool_call(&cycle, &calls[0].id).await.unwrap();
    }
    left_open(place, &session).await
}

async fn left_open(place: &Place, session: &Session) -> Session {
    let options = OpenOptions { take_over: true, recover: false, ..open_options() };
    Session::open(place.store.clone(), session.id().clone(), options).await.unwrap()
}

/// The stored messages; results are named by the first of their ids.
fn shape(session: &Session) -> Vec<String> {
    let short = |message: &str| {
        let id = message.split("toolu_").nth(1).map(|rest| &rest[..1]);
        match id {
            Some(id) if message.contains("tool_result") => format!("result {id}"),
            Some(id) => format!("call {id}"),
            None => serde_json::from_str::<serde_json::Value>(message).unwrap()["content"].as_str().unwrap().to_owned(),
        }
    };
    session.messages().map(short).collect()
}

/// The view of another process, and of a reader.
async fn is_the_same_for_all(place: &Place, session: &Session) {
    let follower = Follower::open(place.store.clone(), session.id().clone()).await.unwrap();
    assert_eq!(follower.state().view, session.state().view);
    let again = place.reopen(session).await;
    assert_eq!(again.state().view, session.state().view);
    assert_eq!((again.state().skipped, session.state().skipped), (0, 0));
    assert_eq!(again.state().view.hash(), again.state().view.rehash(usize::MAX));
}

#[test]
fn messages_after_a_crash_come_after_the_recovered_turn() {
    on_every_store(async |place| {
        let mut session = crashed(&place, &[&["toolu_1", "toolu_2"]]).await;
        session.append_all(&[WAIT, GO_ON]).await.unwrap();
        assert_eq!(shape(&session), ["please", "wait", "go on"], "half a cycle is never in the view");
        session.recover().await.unwrap();
        assert_eq!(shape(&session), ["please", "call 1", "result 1", "wait", "go on"]);
        assert_eq!(kept(&session)[3..], [WAIT, GO_ON]);
        assert_eq!(session.entries()[2].origin, Origin::Synthetic);
        assert!(is_valid(&session) && session.validate().unwrap().valid);
        is_the_same_for_all(&place, &session).await;
    });
}

#[test]
fn messages_during_tool_calls_come_after_their_results() {
    on_every_store(async |place| {
        for how in ["commit", "abort", "ask"] {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append(ASK).await.unwrap();
            let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
            session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
            session.append(WAIT).await.unwrap();
            let item = InboxItem { id: "i-1".into(), message: Raw::parse(GO_ON).unwrap(), dialect: None };
            place.store.push(session.id(), &item).await.unwrap();
            session.take_inbox().await.unwrap();
            session.finish_call(&cycle, &"toolu_1".into(), &said("done")).await.unwrap();
            match how {
                "commit" => drop(session.commit_cycle(&cycle).await.unwrap()),
                "abort" => drop(session.abort().await.unwrap()),
                _ => drop(session.before_agent_start(ENVELOPE).await.unwrap()),
            }
            assert_eq!(shape(&session), ["please", "call 1", "result 1", "wait", "go on"], "{how}");
            assert!(is_valid(&session) && session.repair_context().is_empty());
            is_the_same_for_all(&place, &session).await;
        }
    });
}

#[test]
fn each_of_several_turns_keeps_its_place() {
    on_every_store(async |place| {
        // The second cycle begins after a message; the first ends before it, after it, or is rolled back.
        for how in ["first", "last", "both", "neither"] {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append(ASK).await.unwrap();
            let (one, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
            session.before_tool_call(&one, &"toolu_1".into()).await.unwrap();
            session.append(WAIT).await.unwrap();
            let (two, _) = session.begin_cycle(&[&turn(&["toolu_2"])], &|_| Effect::Unsafe).await.unwrap();
            session.before_tool_call(&two, &"toolu_2".into()).await.unwrap();
            session.append(GO_ON).await.unwrap();
            session.finish_call(&one, &"toolu_1".into(), &said("one")).await.unwrap();
            session.finish_call(&two, &"toolu_2".into(), &said("two")).await.unwrap();
            let expected: &[&str] = match how {
                "first" => {
                    session.commit_cycle(&one).await.unwrap();
                    session.roll_back_cycle(&two, "test").await.unwrap();
                    &["please", "call 1", "result 1", "wait", "go on"]
                }
                "last" => {
                    session.commit_cycle(&two).await.unwrap();
                    session.commit_cycle(&one).await.unwrap();
                    &["please", "call 1", "result 1", "wait", "call 2", "result 2", "go on"]
                }
                "both" => {
                    session = left_open(&place, &session).await;
                    session.recover().await.unwrap();
                    &["please", "call 1", "result 1", "wait", "call 2", "result 2", "go on"]
                }
                _ => {
                    session.roll_back_cycle(&one, "test").await.unwrap();
                    session.roll_back_cycle(&two, "test").await.unwrap();
                    &["please", "wait", "go on"]
                }
            };
            assert_eq!(shape(&session), expected, "{how}");
            assert!(is_valid(&session), "{how}");
            is_the_same_for_all(&place, &session).await;
        }
    });
}

#[test]
fn checkpoints_made_during_a_cycle_stay_valid() {
    on_every_store(async |place| {
        let mut session = crashed(&place, &[&["toolu_1"]]).await;
        session.append(WAIT).await.unwrap();
        let meanwhile = session.create_checkpoint(Operation::Manual).await.unwrap();
        session.append(GO_ON).await.unwrap();
        session.recover().await.unwrap();
        let afterwards = session.create_checkpoint(Operation::Manual).await.unwrap();
        let then = kept(&session);
        session.append(ASK).await.unwrap();
        session.rollback(&afterwards.id, "test").await.unwrap();
        assert_eq!(kept(&session), then);
        session.rollback(&meanwhile.id, "test").await.unwrap();
        assert_eq!(kept(&session), [ASK, WAIT]);
        is_the_same_for_all(&place, &session).await;
    });
}

#[test]
fn a_late_result_finds_its_turn_and_a_real_one_stays() {
    on_every_store(async |place| {
        let mut session = crashed(&place, &[&["toolu_1", "toolu_2"]]).await;
        let cycle = session.unresolved()[0].cycle.clone();
        session
            .finish_call(&cycle, &"toolu_1".into(), &said("[synthetic] [outcome unknown] as a log says"))
            .await
            .unwrap();
        session.append(WAIT).await.unwrap();
        session.recover().await.unwrap();
        let call = |id: &str| ToolCallRef { id: id.into(), name: "sh" };
        assert!(!session.add_late_result(&call("toolu_1"), &said("OTHER")).await.unwrap());
        assert!(session.add_late_result(&call("toolu_2"), &said("PAID")).await.unwrap());
        assert!(!session.add_late_result(&call("toolu_2"), &said("OTHER")).await.unwrap());
        let result = &kept(&session)[2];
        assert!(result.contains("as a log says") && result.contains("PAID"), "{result}");
        assert_eq!(shape(&session), ["please", "call 1", "result 1", "wait"]);
        is_the_same_for_all(&place, &session).await;
    });
}

#[test]
fn messages_too_large_to_be_stored_twice_stay_in_their_place() {
    on_every_store(async |place| {
        let mut session = crashed(&place, &[&["toolu_1"]]).await;
        let cycle = session.unresolved()[0].cycle.clone();
        session.append(WAIT).await.unwrap();
        session.finish_call(&cycle, &"toolu_1".into(), &said(&"x".repeat(17 * 1024 * 1024))).await.unwrap();
        session.recover().await.unwrap();
        assert_eq!(shape(&session), ["please", "wait", "call 1", "result 1"]);
        assert!(is_valid(&session));
    });
}

#[test]
fn an_earlier_repair_can_still_be_undone() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        let result = results(&["toolu_9"]);
        session.append_all(&[ASK, &turn(&["toolu_9"]), WAIT, &result, GO_ON]).await.unwrap();
        let before = kept(&session);
        assert!(session.repair().await.unwrap().repaired);
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::ReadOnly).await.unwrap();
        session.append(ASK).await.unwrap();
        session.finish_call(&cycle, &"toolu_1".into(), &said("done")).await.unwrap();
        session.commit_cycle(&cycle).await.unwrap();
        let count = session.messages().count();
        // The reorder is a repair of its own, and the last repair is undone first.
        session.undo_repair().await.unwrap();
        assert_eq!(session.messages().count(), count);
        session.undo_repair().await.unwrap();
        assert_eq!(kept(&session)[..before.len()], before);
        is_the_same_for_all(&place, &session).await;
    });
}

#[test]
fn a_cycle_is_not_moved_before_one_that_was_complete_when_it_began() {
    on_every_store(async |place| {
        for takes_back in [false, true] {
            let mut session = place.create(SessionPolicy::default()).await;
            session.append(ASK).await.unwrap();
            let (first, _) = session.begin_cycle(&[&turn(&["toolu_a"])], &|_| Effect::ReadOnly).await.unwrap();
            let (second, _) = session.begin_cycle(&[&turn(&["toolu_b"])], &|_| Effect::ReadOnly).await.unwrap();
            session.finish_call(&second, &"toolu_b".into(), &said("b")).await.unwrap();
            session.commit_cycle(&second).await.unwrap();
            let (third, _) = session.begin_cycle(&[&turn(&["toolu_c"])], &|_| Effect::ReadOnly).await.unwrap();
            session.append(ASK).await.unwrap();
            session.finish_call(&third, &"toolu_c".into(), &said("c")).await.unwrap();
            session.commit_cycle(&third).await.unwrap();
            if takes_back {
                session.roll_back_cycle(&first, "test").await.unwrap();
            } else {
                session.finish_call(&first, &"toolu_a".into(), &said("a")).await.unwrap();
                session.commit_cycle(&first).await.unwrap();
            }
            let all = kept(&session).concat();
            let place_of = |id: &str| all.find(&format!("\"id\":\"{id}\""));
            let places: Vec<_> = ["toolu_a", "toolu_b", "toolu_c"].into_iter().filter_map(place_of).collect();
            assert!(places.is_sorted() && places.len() == 3 - usize::from(takes_back), "{}: {all}", place.name);
            assert_eq!(kept(&session).last().unwrap(), ASK);
        }
    });
}

#[test]
fn no_cycle_is_moved_between_a_call_and_its_result() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append_all(&[ASK, &turn(&["toolu_x"])]).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_a"])], &|_| Effect::ReadOnly).await.unwrap();
        session.append(&results(&["toolu_x"])).await.unwrap();
        session.finish_call(&cycle, &"toolu_a".into(), &said("a")).await.unwrap();
        session.commit_cycle(&cycle).await.unwrap();
        assert!(session.validate().unwrap().valid, "{}: {:?}", place.name, kept(&session));
    });
}

/// Texts that other programs write where a result is missing.
const READS_SYNTHETIC: [&str; 2] = ["No result provided", "[missing]"];

#[test]
fn a_real_result_that_reads_like_a_synthetic_one_stays_beside_a_recovered_call() {
    for text in READS_SYNTHETIC {
        on_every_store(async |place| {
            let mut session = crashed(&place, &[&["toolu_1", "toolu_2", "toolu_3"]]).await;
            let cycle = session.unresolved()[0].cycle.clone();
            session.finish_call(&cycle, &"toolu_1".into(), &said(text)).await.unwrap();
            session.append(WAIT).await.unwrap();
            session.recover().await.unwrap();
            let call = |id: &str| ToolCallRef { id: id.into(), name: "sh" };
            assert!(!session.add_late_result(&call("toolu_1"), &said("OTHER")).await.unwrap(), "{text}");
            assert!(session.add_late_result(&call("toolu_2"), &said("PAID")).await.unwrap());
            assert!(!session.add_late_result(&call("toolu_1"), &said("OTHER")).await.unwrap(), "{text}");
            let mut fork = session.fork(place.name().parse().unwrap()).await.unwrap();
            assert!(session.add_late_result(&call("toolu_3"), &said(text)).await.unwrap());
            for id in ["toolu_1", "toolu_2", "toolu_3"] {
                assert!(!session.add_late_result(&call(id), &said("OTHER")).await.unwrap(), "{text} {id}");
            }
            assert!(kept(&session)[2].contains(text) && kept(&session)[2].contains("PAID"));
            assert!(!fork.add_late_result(&call("toolu_1"), &said("OTHER")).await.unwrap(), "{text}");
            assert!(fork.add_late_result(&call("toolu_3"), &said("PAID")).await.unwrap());
            is_the_same_for_all(&place, &session).await;
        });
    }
}
