//! A session with disabled checks still stores everything.

use seamline::session::{AgentStart, Session, SessionPolicy};
use seamline::store::{InboxItem, Origin, Raw};

use super::calls::FirstOnly;
use super::faulty::{Fault, Faulty};
use super::stopping::once_begun;
use super::stores::{ASK, ENVELOPE, asking, kept, memory, on_every_store, open_options, turn};

fn off() -> SessionPolicy {
    SessionPolicy { enabled: false, ..SessionPolicy::default() }
}

#[test]
fn synthetic_messages_are_stored_as_synthetic() {
    on_every_store(async |place| {
        let mut session = place.create(off()).await;
        session.append(ASK).await.unwrap();
        for (calls, origin) in [(&["toolu_1"][..], Origin::Said), (&["toolu_1", "toolu_2"], Origin::Synthetic)] {
            session.execute_tool_cycle(&[&turn(calls)], &FirstOnly, once_begun()).await.unwrap();
            let last = session.entries().len() - 1;
            let origins = [session.entries()[last - 1].origin, session.entries()[last].origin];
            assert_eq!(origins, [Origin::Said, origin], "{calls:?}");
        }
    });
}

#[test]
fn inbox_messages_are_added_before_a_request() {
    on_every_store(async |place| {
        let mut session = place.create(off()).await;
        session.append(ASK).await.unwrap();
        let pushed = r#"{"role":"user","content":"pushed"}"#;
        let item = InboxItem { id: "i1".into(), message: Raw::parse(pushed).unwrap(), dialect: None };
        place.store.push(session.id(), &item).await.unwrap();
        let AgentStart::Proceed { request, checkpoint: None } = session.before_agent_start(ENVELOPE).await.unwrap()
        else {
            panic!("nothing is checked")
        };
        assert!(String::from_utf8(request.body).unwrap().contains("pushed"));
        assert_eq!(kept(&session), [ASK, pushed]);
    });
}

#[test]
fn an_unawaited_message_is_in_the_next_request() {
    futures_executor::block_on(async {
        use futures_util::FutureExt;
        let place = memory();
        let made = place.create(off()).await;
        let silent = Faulty::new(place.store.clone(), Fault::Silent { at: 0, kept: true });
        let options = seamline::session::OpenOptions { take_over: true, policy: Some(asking(off())), ..open_options() };
        let mut session = Session::open(silent, made.id().clone(), options).await.unwrap();
        assert!(session.append(ASK).now_or_never().is_none());
        let AgentStart::Proceed { request, .. } = session.before_agent_start(ENVELOPE).await.unwrap() else {
            panic!("nothing is checked")
        };
        assert!(String::from_utf8(request.body).unwrap().contains("please"));
    });
}
