//! Futures that are dropped while they wait: the next method settles the outcome.

use std::collections::BTreeSet;
use std::future::pending;

use futures_util::FutureExt;
use seamline::session::{PersistRepairs, ResetOptions, Session, SessionError, SessionPolicy};
use seamline::store::Operation;

use super::faulty::{Fault, Faulty};
use super::stores::{Tool, asking, kept, memory, open_options, turn};

/// About how many writes the script has; higher numbers have no effect.
const WRITES: usize = 24;

#[test]
fn a_dropped_write_is_stored_once_or_not_at_all_and_the_session_knows() {
    let mut dropped = 0;
    for (at, kept_first) in (0..WRITES).flat_map(|at| [(at, false), (at, true)]) {
        futures_executor::block_on(async {
            let place = memory();
            let made = place.create(SessionPolicy::default()).await;
            let silent = Faulty::new(place.store.clone(), Fault::Silent { at, kept: kept_first });
            let config = SessionPolicy { persist_repairs: PersistRepairs::All, ..SessionPolicy::default() };
            let options =
                seamline::session::OpenOptions { take_over: true, policy: Some(asking(config)), ..open_options() };
            let mut session = Session::open(silent, made.id().clone(), options).await.unwrap();
            dropped += script(&mut session);
            // It writes nothing itself, and settles the last step.
            session.take_inbox().await.unwrap();
            let live = kept(&session);
            assert_eq!(BTreeSet::from_iter(&live).len(), live.len(), "something is there twice: {at}, {live:?}");
            let state = session.state().clone();
            let again = place.reopen(&session).await;
            assert_eq!(again.state().view, state.view, "the stored view equals the view in memory: {at}");
            assert_eq!(again.state().checkpoints, state.checkpoints, "{at}");
            assert_eq!((again.state().skipped, state.skipped), (0, 0), "{at}");
        });
    }
    assert!(dropped > WRITES, "only {dropped} futures were dropped");
}

/// Does a bit of everything. A step that does not return at once is dropped. Returns how many were dropped.
fn script(session: &mut Session) -> usize {
    let mut dropped = 0;
    /// The outcome of one step; `None` if it was dropped.
    macro_rules! step {
        ($future:expr) => {{
            let done = $future.now_or_never();
            dropped += usize::from(done.is_none());
            done
        }};
    }
    step!(session.append(&said("one")));
    step!(session.append_all(&[&said("two"), &said("three")]));
    let checkpoint = step!(session.create_checkpoint(Operation::Manual));
    step!(session.append(&turn(&["toolu_lost"])));
    step!(session.append(&said("never mind")));
    step!(session.repair());
    step!(session.undo_repair());
    if let Some(Ok(made)) = checkpoint {
        step!(session.rollback(&made.id, "test"));
    }
    step!(session.execute_tool_cycle(&[&turn(&["toolu_1", "toolu_2"])], &Tool::saying("ok"), pending()));
    step!(session.abort());
    if let Some(Ok(range)) = step!(session.before_compaction(0..1)) {
        step!(session.append(&said("meanwhile")));
        if step!(session.finish_compaction(range.clone(), &[&said("summary")])).is_none() {
            step!(session.append(&said("a little later")));
            let again = step!(session.finish_compaction(range, &[&said("summary")]));
            assert!(matches!(again, None | Some(Err(SessionError::Refused(_)) | Ok(_))), "{again:?}");
        }
    }
    step!(session.cancel_compaction());
    step!(session.append(&said("four")));
    step!(session.reset(ResetOptions { archive: true }));
    dropped
}

fn said(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}"}}"#)
}
