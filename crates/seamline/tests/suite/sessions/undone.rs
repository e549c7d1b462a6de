//! Compensation of calls whose cycle is rolled back.

use std::future::pending;
use std::sync::Mutex;
use std::task::Context;
use std::time::Duration;

use seamline::session::{
    ExecutorFailure, OnFailure, OpenOptions, Running, Session, SessionPolicy, ToolCall, ToolExecutor, ToolOutput,
    Undoing, UnknownOutcome,
};
use seamline::store::{Effect, IncidentKind, IncidentSeverity};

use super::calls::said;
use super::stores::{ASK, Place, asking, kept, on_every_store, open_options, turn};

/// Books, and cancels bookings. The third call fails.
#[derive(Default)]
struct Books {
    undone: Mutex<Vec<(String, Option<String>)>>,
    /// Which call cannot be undone.
    fails: Option<&'static str>,
}

fn book(call: &ToolCall) -> Running<'_> {
    let is_error = call.id == "toolu_3";
    Box::pin(async move { Ok(ToolOutput { is_error, ..said(&format!("SECRET {}", call.id)) }) })
}

impl ToolExecutor for Books {
    fn effect(&self, _call: &ToolCall) -> Effect {
        Effect::Compensatable
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> Running<'a> {
        book(call)
    }

    fn compensate<'a>(&'a self, call: &'a ToolCall, returned: Option<&'a str>) -> Undoing<'a> {
        assert!(call.key.as_ref().is_some_and(|key| key.starts_with("k_")));
        let returned = returned.map(str::to_owned);
        Box::pin(async move {
            if self.fails == Some(call.id.as_str()) {
                return Err(ExecutorFailure("the hotel does not answer".to_owned()));
            }
            self.undone.lock().unwrap().push((call.id.to_string(), returned));
            Ok(())
        })
    }
}

fn details(session: &Session, severity: IncidentSeverity) -> Vec<&str> {
    let incidents = session.incidents().filter(|found| found.kind == IncidentKind::Rollback);
    incidents.filter(|found| found.severity == severity).map(|found| found.detail.as_str()).collect()
}

fn was(call: &str, returned: Option<&str>) -> (String, Option<String>) {
    (call.to_owned(), returned.map(str::to_owned))
}

#[test]
fn a_rolled_back_cycle_is_compensated_from_the_last_call_to_the_first() {
    on_every_store(async |place| {
        for fails in [None, Some("toolu_1")] {
            let config = SessionPolicy { on_tool_error: OnFailure::Rollback, ..SessionPolicy::default() };
            let mut session = place.create(config).await;
            session.append(ASK).await.unwrap();
            let books = Books { fails, ..Books::default() };
            let calls = turn(&["toolu_1", "toolu_2", "toolu_3"]);
            let result = session.execute_tool_cycle(&[&calls], &books, pending()).await.unwrap();
            assert!(result.rolled_back && kept(&session) == [ASK]);
            let mut undone = vec![was("toolu_3", None), was("toolu_2", Some("SECRET toolu_2"))];
            undone.extend(fails.is_none().then(|| was("toolu_1", Some("SECRET toolu_1"))));
            assert_eq!(*books.undone.lock().unwrap(), undone);
            let again = place.reopen(&session).await;
            let told = details(&again, IncidentSeverity::Info);
            let about = "calls are about to be undone: toolu_1 of sh, toolu_2 of sh, toolu_3 of sh";
            assert_eq!(told[..2], [about, "call toolu_3 of sh was undone"]);
            let failed = details(&again, IncidentSeverity::Error);
            let error = result.error.unwrap();
            if fails.is_some() {
                assert!(failed == ["call toolu_1 of sh could not be undone"], "{failed:?}");
                assert!(error.contains("1 calls could not be undone"), "{error}");
            } else {
                assert!(failed.is_empty() && error == "SECRET toolu_3", "{failed:?} {error}");
            }
            assert!(again.incidents().all(|found| !found.detail.contains("SECRET") && !found.detail.contains("hotel")));
        }
    });
}

/// A session that a crash left with one finished call and one started call.
async fn crashed(place: &Place) -> Session {
    let mut session = place.create(SessionPolicy::default()).await;
    session.append(ASK).await.unwrap();
    let calls = turn(&["toolu_1", "toolu_2", "toolu_3"]);
    let (cycle, _) = session.begin_cycle(&[&calls], &|_| Effect::Compensatable).await.unwrap();
    session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
    session.finish_call(&cycle, &"toolu_1".into(), &said("booked")).await.unwrap();
    session.before_tool_call(&cycle, &"toolu_2".into()).await.unwrap();
    session
}

#[test]
fn an_abandoned_cycle_is_compensated_if_there_is_an_executor() {
    on_every_store(async |place| {
        for can in [true, false] {
            let id = crashed(&place).await.id().clone();
            let config = SessionPolicy { unknown_outcome: UnknownOutcome::Forget, ..SessionPolicy::default() };
            let options =
                OpenOptions { take_over: true, recover: false, policy: Some(asking(config)), ..open_options() };
            let mut session = Session::open(place.store.clone(), id, options).await.unwrap();
            let books = Books::default();
            let executor: Option<&dyn ToolExecutor> = if can { Some(&books) } else { None };
            let recovered = match executor {
                Some(executor) => session.recover_with(executor).await.unwrap(),
                None => session.recover().await.unwrap(),
            };
            assert_eq!(recovered.rolled_back, 1);
            let undone = books.undone.lock().unwrap().clone();
            let failed = details(&session, IncidentSeverity::Error);
            if can {
                assert_eq!(undone, [was("toolu_2", None), was("toolu_1", Some("booked"))]);
                assert!(!failed.iter().any(|detail| detail.contains("undo")), "{failed:?}");
            } else {
                let told = "no executor was there to undo calls: toolu_1 of sh, toolu_2 of sh";
                assert!(undone.is_empty() && failed.contains(&told), "{failed:?}");
            }
        }
    });
}

#[test]
fn a_host_compensates_a_cycle_itself() {
    on_every_store(async |place| {
        let mut session = crashed(&place).await;
        let cycle = session.state().cycles[0].id.clone();
        let books = Books { fails: Some("toolu_2"), ..Books::default() };
        assert_eq!(session.undo_cycle(&cycle, "the user changed their mind", &books).await.unwrap(), 1);
        assert_eq!(*books.undone.lock().unwrap(), [was("toolu_1", Some("booked"))]);
        assert!(session.undo_cycle(&cycle, "again", &books).await.is_err());
    });
}

#[test]
fn calls_that_were_never_started_are_not_compensated() {
    on_every_store(async |place| {
        let config = SessionPolicy { on_tool_error: OnFailure::Rollback, ..SessionPolicy::default() };
        let mut session = place.create(config).await;
        session.append(ASK).await.unwrap();
        let tools = Books::default();
        // The first one fails at once, so none of the others starts.
        let calls = turn(&["toolu_3", "toolu_1", "toolu_2"]);
        let result = session.execute_tool_cycle(&[&calls], &tools, pending()).await.unwrap();
        assert!(result.rolled_back);
        let undone = tools.undone.lock().unwrap().clone();
        assert!(undone.iter().all(|(call, _)| call == "toolu_3"), "{}: {undone:?}", place.name);
    });
}

/// Books, and never finishes to take a booking back.
struct Stuck;

impl ToolExecutor for Stuck {
    fn effect(&self, _call: &ToolCall) -> Effect {
        Effect::Compensatable
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> Running<'a> {
        book(call)
    }

    fn compensate<'a>(&'a self, call: &'a ToolCall, _returned: Option<&'a str>) -> Undoing<'a> {
        Box::pin(async move { if call.id == "toolu_3" { Ok(()) } else { pending().await } })
    }
}

#[test]
fn calls_whose_compensation_was_cut_off_are_listed_as_an_error() {
    on_every_store(async |place| {
        for reopens in [true, false] {
            let config = SessionPolicy { on_tool_error: OnFailure::Rollback, ..SessionPolicy::default() };
            let mut session = place.create(config).await;
            session.append(ASK).await.unwrap();
            let calls = turn(&["toolu_1", "toolu_2", "toolu_3"]);
            {
                let messages = [calls.as_str()];
                let mut running = Box::pin(session.execute_tool_cycle(&messages, &Stuck, pending()));
                let waker = futures_util::task::noop_waker();
                for _ in 0..50 {
                    assert!(running.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
            let listed =
                "the compensation of calls was cut off; they may still be in effect: toolu_1 of sh, toolu_2 of sh";
            let mut session = if reopens { place.reopen(&session).await } else { session };
            for _ in 0..2 {
                session.recover().await.unwrap();
                assert_eq!(details(&session, IncidentSeverity::Error), [listed], "{} {reopens}", place.name);
            }
            assert!(session.state().compensations.is_empty());
        }
    });
}
