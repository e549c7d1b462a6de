//! The writer of a session, and the record of a take-over.

use std::sync::Arc;

use seamline::session::{Clock, OpenOptions, Session, SessionError, SessionOptions, SessionPolicy};
use seamline::store::{Error, IncidentKind, IncidentSeverity};

use super::faulty::{Fault, Faulty};
use super::stores::{ASK, kept, on_every_store, open_options};

fn taken_over(session: &Session) -> usize {
    session.incidents().filter(|incident| incident.kind == IncidentKind::TakenOver).count()
}

#[test]
fn a_take_over_is_recorded_with_the_earlier_writer() {
    on_every_store(async |place| {
        let mut old = place.create(SessionPolicy::default()).await;
        old.append(ASK).await.unwrap();
        let mut new = place.reopen(&old).await;
        new.append(ASK).await.unwrap();
        assert_eq!(taken_over(&new), 1);
        let incident = new.incidents().find(|incident| incident.kind == IncidentKind::TakenOver).unwrap();
        assert_eq!(incident.severity, IncidentSeverity::Warning);
        let who = format!("process {} on ", std::process::id());
        assert!(incident.detail.contains(&who), "{}", incident.detail);
        // A writer that writes nothing records it before it releases the lease.
        let id = new.id().clone();
        let options = OpenOptions { take_over: true, ..open_options() };
        Session::open(place.store.clone(), id.clone(), options.clone()).await.unwrap().close().await.unwrap();
        // Without an older writer, no take-over is recorded.
        let free = Session::open(place.store.clone(), id, options).await.unwrap();
        assert_eq!((taken_over(&free), kept(&free).len()), (2, 2));
    });
}

#[test]
fn a_session_can_be_taken_over_and_read_if_nothing_can_be_written() {
    on_every_store(async |place| {
        let mut old = place.create(SessionPolicy::default()).await;
        old.append(ASK).await.unwrap();
        let full = Fault::FailsOnce { at: 0 };
        let options = OpenOptions { take_over: true, ..open_options() };
        let faulty = Faulty::new(place.store.clone(), full);
        let mut new = Session::open(faulty, old.id().clone(), options).await.unwrap();
        assert_eq!(kept(&new), [ASK]);
        assert!(new.append(ASK).await.is_err() && taken_over(&new) == 0);
        new.append(ASK).await.unwrap();
        assert_eq!(taken_over(&new), 1, "it is not forgotten over an error");
        new.append(ASK).await.unwrap();
        assert_eq!((taken_over(&new), kept(&new).len()), (1, 3));
    });
}

/// A clock that does not move.
#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> u64 {
        1_794_639_611_000
    }
}

#[test]
fn two_openings_in_the_same_millisecond_are_different() {
    on_every_store(async |place| {
        let clock: Arc<dyn Clock> = Arc::new(Still);
        let options = SessionOptions { clock: clock.clone(), ..SessionOptions::default() };
        let session = Session::create(place.store.clone(), place.name().parse().unwrap(), options).await.unwrap();
        let options = OpenOptions { clock, ..OpenOptions::default() };
        let other = Session::open(place.store.clone(), session.id().clone(), options.clone()).await;
        assert!(matches!(other, Err(SessionError::Store(Error::Busy { .. }))), "{other:?}");
        let id = session.id().clone();
        session.close().await.unwrap();
        Session::open(place.store.clone(), id, options).await.unwrap().close().await.unwrap();
    });
}
