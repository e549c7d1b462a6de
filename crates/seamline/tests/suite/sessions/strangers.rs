//! Values that are given as messages and are not messages.

use std::future::pending;

use seamline::session::SessionPolicy;
use seamline::store::{Hash, InboxItem, IncidentKind, Raw};

use super::stores::{ASK, Tool, is_valid, kept, on_every_store, turn};

const STRANGERS: [&str; 4] = ["42", "{}", "[]", r#"{"messages":[]}"#];

#[test]
fn the_inbox_refuses_a_value_that_is_not_a_message() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let messages = [STRANGERS.as_slice(), &[r#"{"role":"user","content":"and more"}"#]].concat();
        for (number, message) in messages.iter().enumerate() {
            let item =
                InboxItem { id: format!("i{number}").into(), message: Raw::parse(*message).unwrap(), dialect: None };
            place.store.push(session.id(), &item).await.unwrap();
        }
        assert_eq!(session.take_inbox().await.unwrap(), 1);
        assert_eq!(kept(&session)[1..], [messages[4]]);
        assert!(is_valid(&session) && place.store.read_inbox(session.id()).await.unwrap().is_empty());
        // Nothing is lost.
        let aside = place.store.read_quarantine(session.id()).await.unwrap();
        for stranger in STRANGERS {
            assert!(aside.iter().any(|found| found.bytes == stranger.as_bytes()), "{stranger}");
            let told = session.incidents().filter(|found| found.kind == IncidentKind::InboxQuarantined);
            assert_eq!(
                told.filter(|found| found.detail.ends_with(&Hash::of(stranger.as_bytes()).to_string())).count(),
                1,
                "{stranger}"
            );
        }
        assert_eq!(session.take_inbox().await.unwrap(), 0);
        assert_eq!(session.incidents().filter(|found| found.kind == IncidentKind::InboxQuarantined).count(), 4);
    });
}

#[test]
fn a_turn_refuses_a_value_that_is_not_a_message() {
    on_every_store(async |place| {
        for enabled in [true, false] {
            let mut session = place.create(SessionPolicy { enabled, ..SessionPolicy::default() }).await;
            session.append(ASK).await.unwrap();
            let (tool, calls) = (Tool::saying("ok"), turn(&["toolu_1"]));
            for stranger in STRANGERS {
                assert!(session.execute_tool_cycle(&[stranger, &calls], &tool, pending()).await.is_err(), "{stranger}");
            }
            assert!(tool.runs() == 0 && kept(&session) == [ASK] && is_valid(&session));
        }
    });
}
