//! The incidents that knobs of a session lead to.

use seamline::session::AgentStart;
use seamline::store::IncidentKind;

use super::knobs::{REFUSED, session};
use super::stores::{ASK, ENVELOPE, on_every_store, turn};

#[test]
fn x31_an_incident_has_the_cause_and_the_first_wrong_message() {
    on_every_store(async |place| {
        let mut session = session(&place, "on_invalid = 'offer'").await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK, &turn(&["toolu_2"]), ASK]).await.unwrap();
        let AgentStart::Blocked { validation, .. } = session.before_agent_start(ENVELOPE).await.unwrap() else {
            panic!("it is broken")
        };
        assert_eq!(validation.first_index, Some(1));
        let incident = session.incidents().last().unwrap();
        assert_eq!((incident.kind, incident.count), (IncidentKind::ValidationFailed, 2));
        assert!(incident.detail.ends_with("the first is in message 1"), "{}", incident.detail);
        session.handle_error(&REFUSED).await.unwrap();
        let causes: Vec<IncidentKind> = session.incidents().map(|incident| incident.kind).collect();
        assert!(causes.contains(&IncidentKind::Corruption), "{causes:?}");
    });
}
