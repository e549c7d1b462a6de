//! Cancelled opens, creates and closes release the lease.

use std::pin::pin;
use std::task::Context;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::task::noop_waker;
use seamline::session::{OpenOptions, Session, SessionError, SessionOptions, SessionPolicy};
use seamline::store::{Acquire, CommitId, Effect, Error, Holder, SessionId};

use super::faulty::{Fault, Faulty, rival};
use super::stores::{ASK, Place, Tick, memory, on_every_store, open_options, turn};

/// About how many store calls an opening makes; higher numbers have no effect.
const CALLS: usize = 8;

fn stalls() -> impl Iterator<Item = Fault> {
    (0..CALLS).flat_map(|at| [false, true].map(|done| Fault::Stalls { at, done }))
}

/// A session with a cycle to recover, whose lease is free.
async fn left_open(place: &Place) -> SessionId {
    let mut session = place.create(SessionPolicy::default()).await;
    session.append(ASK).await.unwrap();
    let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
    session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
    let id = session.id().clone();
    session.close().await.unwrap();
    id
}

#[test]
fn a_cancelled_opening_releases_the_lease_at_every_store_call() {
    futures_executor::block_on(async {
        let mut given_up = 0;
        for fault in stalls() {
            let place = memory();
            let id = left_open(&place).await;
            let stalled = Faulty::new(place.store.clone(), fault);
            let opened = Session::open(stalled, id.clone(), open_options()).now_or_never();
            if opened.is_some() {
                continue;
            }
            given_up += 1;
            let again = Session::open(place.store.clone(), id, open_options()).await;
            let again = again.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
            assert!(again.unresolved().is_empty());
        }
        assert!(given_up >= 6, "{given_up}");
    });
}

#[test]
fn a_cancelled_create_leaves_a_free_name_or_a_free_session() {
    futures_executor::block_on(async {
        let mut given_up = 0;
        for fault in stalls() {
            let place = memory();
            let id: SessionId = place.name().parse().unwrap();
            let stalled = Faulty::new(place.store.clone(), fault);
            let options = || SessionOptions { clock: std::sync::Arc::new(Tick::default()), ..Default::default() };
            if Session::create(stalled, id.clone(), options()).now_or_never().is_some() {
                continue;
            }
            given_up += 1;
            match Session::create(place.store.clone(), id.clone(), options()).await {
                Err(SessionError::Store(Error::Exists(_))) => {
                    Session::open(place.store.clone(), id, open_options()).await.unwrap();
                }
                made => drop(made.unwrap_or_else(|error| panic!("{fault:?}: {error}"))),
            }
        }
        assert!(given_up >= 4, "{given_up}");
    });
}

#[test]
fn an_opening_that_is_cancelled_after_a_while_releases_the_lease() {
    on_every_store(async |place| {
        for polls in 1..12 {
            let id = left_open(&place).await;
            let is_open = {
                let mut opening = pin!(Session::open(place.store.clone(), id.clone(), open_options()));
                let waker = noop_waker();
                (0..polls).any(|_| {
                    let polled = opening.as_mut().poll(&mut Context::from_waker(&waker));
                    std::thread::sleep(Duration::from_millis(3));
                    polled.is_ready()
                })
            };
            // An opened and dropped session has no lease either.
            let again = Session::open(place.store.clone(), id, open_options()).await;
            assert!(again.is_ok(), "{polls}, opened {is_open}: {again:?}");
        }
    });
}

#[test]
fn closing_releases_the_lease_whatever_happens_to_the_last_write() {
    futures_executor::block_on(async {
        let place = memory();
        let id = left_open(&place).await;
        Session::open(place.store.clone(), id.clone(), open_options()).await.unwrap().close().await.unwrap();
        let unsure = Faulty::new(place.store.clone(), Fault::Fails(unknown));
        let mut session = Session::open(unsure, id.clone(), open_options()).await.unwrap();
        session.append(ASK).await.unwrap_err();
        let error = session.close().await.unwrap_err();
        assert!(matches!(error, SessionError::Store(Error::Unknown { .. })), "{error}");
        Session::open(place.store.clone(), id, open_options()).await.unwrap();
    });
}

#[test]
fn a_cancelled_close_releases_the_lease() {
    futures_executor::block_on(async {
        let mut given_up = 0;
        for fault in stalls() {
            let place = memory();
            let id = left_open(&place).await;
            let stalled = Faulty::new(place.store.clone(), fault);
            let Some(Ok(session)) = Session::open(stalled, id.clone(), open_options()).now_or_never() else { continue };
            given_up += usize::from(session.close().now_or_never().is_none());
            let again = Session::open(place.store.clone(), id, open_options()).await;
            assert!(again.is_ok(), "{fault:?}: {again:?}");
        }
        assert!(given_up > 0);
    });
}

/// Opens a session and fails before it closes it, as a host with an early `?` does.
async fn fail_early(place: &Place, id: &SessionId) -> Result<(), SessionError> {
    let mut session = Session::open(place.store.clone(), id.clone(), open_options()).await?;
    session.append("no json").await?;
    session.close().await
}

#[test]
fn a_dropped_session_does_not_lock_the_next_open_of_this_process_out() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let id = session.id().clone();
        session.close().await.unwrap();
        for _ in 0..3 {
            let error = fail_early(&place, &id).await.unwrap_err();
            assert!(matches!(error, SessionError::NotJson(_)), "{}: {error}", place.name);
        }
        let session = Session::open(place.store.clone(), id, open_options()).await.unwrap();
        assert!(session.incidents().next().is_none(), "nothing was taken over");
        session.close().await.unwrap();
    });
}

#[test]
fn a_dropped_session_does_not_take_over_an_open_one() {
    on_every_store(async |place| {
        let session = place.create(SessionPolicy::default()).await;
        let id = session.id().clone();
        drop(session);
        let mut session = Session::open(place.store.clone(), id.clone(), open_options()).await.unwrap();
        let busy = Session::open(place.store.clone(), id, open_options()).await.unwrap_err();
        assert!(matches!(busy, SessionError::Store(Error::Busy { .. })), "{busy}");
        session.append(ASK).await.unwrap();
        session.close().await.unwrap();
    });
}

#[test]
fn the_session_of_a_dropped_one_is_not_taken_from_a_process_that_was_faster() {
    on_every_store(async |place| {
        let store = Faulty::new(place.store.clone(), Fault::Overtaken);
        let id: SessionId = place.name().parse().unwrap();
        let options = SessionOptions { clock: std::sync::Arc::new(Tick::default()), ..Default::default() };
        drop(Session::create(store.clone(), id.clone(), options).await.unwrap());
        let busy = Session::open(store.clone(), id.clone(), open_options()).await;
        let is_rival = |holder: &Holder| *holder == rival();
        assert!(
            matches!(&busy, Err(SessionError::Store(Error::Busy { holder, .. })) if is_rival(holder)),
            "{}: {busy:?}",
            place.name
        );
        assert_eq!(place.store.read_head(&id).await.unwrap().epoch, 2, "the faster process keeps its lease");
        // The caller may still take the session over.
        let options = OpenOptions { take_over: true, ..open_options() };
        Session::open(place.store.clone(), id, options).await.unwrap().close().await.unwrap();
    });
}

#[test]
fn a_lost_connection_is_not_a_session_that_exists() {
    futures_executor::block_on(async {
        let place = memory();
        let id: SessionId = place.name().parse().unwrap();
        place.store.create(&id, &Holder::default()).await.unwrap();
        place.store.release(&id, 1).await.unwrap();
        let options = || SessionOptions { clock: std::sync::Arc::new(Tick::default()), ..Default::default() };
        let down = Faulty::new(place.store.clone(), Fault::NoLease(|| Error::Poisoned));
        let error = Session::create(down, id.clone(), options()).await.unwrap_err();
        assert!(matches!(error, SessionError::Store(Error::Poisoned)), "{error}");
        place.store.acquire(&id, &rival(), Acquire::TakeOver).await.unwrap();
        let error = Session::create(place.store.clone(), id, options()).await.unwrap_err();
        assert!(matches!(error, SessionError::Store(Error::Exists(_))), "{error}");
    });
}

fn unknown() -> Error {
    Error::Unknown { commit: CommitId::from_bytes([0; 16]), why: "cut".to_owned() }
}
