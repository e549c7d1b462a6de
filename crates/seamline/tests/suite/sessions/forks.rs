//! A fork knows which of its messages are synthetic.

use seamline::session::{Follower, Session, SessionPolicy, ToolCallRef};
use seamline::store::{Effect, SessionId};

use super::asking::in_dialect;
use super::calls::said;
use super::late_kept::{dialects, paying, refs, spoken};
use super::stores::{Place, kept, on_every_store};

/// The recovery's text about a call, quoted by a tool.
fn quoted(id: &str) -> String {
    format!("[synthetic] [no result] The call \"pay\" ({id}) has no result: so it says in the log")
}

fn pay(id: &str) -> ToolCallRef<'_> {
    ToolCallRef { id: id.into(), name: "pay" }
}

/// The sessions that begin with its messages: a fork, one of a reader, and a fork of that.
async fn forks(place: &Place, session: &Session) -> Vec<Session> {
    let name = || place.name().parse().unwrap();
    let fork = session.fork(name()).await.unwrap();
    let follower = Follower::open(place.store.clone(), session.id().clone()).await.unwrap();
    let read = follower.fork(name()).await.unwrap();
    let again = read.fork(name()).await.unwrap();
    vec![fork, read, again]
}

#[test]
fn a_late_result_in_a_fork_replaces_only_the_synthetic_one() {
    on_every_store(async |place| {
        for dialect in dialects() {
            let mut session = in_dialect(&place, dialect).await;
            session.append(&spoken(dialect, "go")).await.unwrap();
            let (cycle, _) =
                session.begin_cycle(&refs(&paying(dialect, &["a", "b"])), &|_| Effect::Unsafe).await.unwrap();
            session.before_tool_call(&cycle, &"a".into()).await.unwrap();
            session.finish_call(&cycle, &"a".into(), &said("[synthetic] [no result] quoted")).await.unwrap();
            session.abort().await.unwrap();
            session.append(&spoken(dialect, "well?")).await.unwrap();
            for mut fork in forks(&place, &session).await {
                assert_eq!(kept(&fork), kept(&session), "{dialect}");
                let origins = |session: &Session| session.entries().iter().map(|it| it.origin).collect::<Vec<_>>();
                assert_eq!(origins(&fork), origins(&session), "{dialect}");
                assert!(!fork.add_late_result(&pay("a"), &said("OTHER")).await.unwrap(), "{dialect}: it ran");
                assert!(fork.add_late_result(&pay("b"), &said("PAID")).await.unwrap(), "{dialect}");
                let all = kept(&fork).concat();
                assert!(all.contains("quoted") && all.contains("PAID") && !all.contains("OTHER"), "{dialect}: {all}");
                assert_eq!(fork.state().skipped, 0);
                assert!(fork.state().cycles.is_empty() && fork.unresolved().is_empty());
            }
        }
    });
}

#[test]
fn a_late_result_is_real_in_a_fork_too() {
    on_every_store(async |place| {
        for dialect in dialects() {
            let mut session = in_dialect(&place, dialect).await;
            session.append(&spoken(dialect, "go")).await.unwrap();
            session.begin_cycle(&refs(&paying(dialect, &["a"])), &|_| Effect::Unsafe).await.unwrap();
            session.abort().await.unwrap();
            assert!(session.add_late_result(&pay("a"), &said(&quoted("a"))).await.unwrap());
            assert!(!session.add_late_result(&pay("a"), &said("OTHER")).await.unwrap(), "{dialect}");
            for mut fork in forks(&place, &session).await {
                assert!(!fork.add_late_result(&pay("a"), &said("OTHER")).await.unwrap(), "{dialect}");
                assert_eq!(kept(&fork), kept(&session), "{dialect}");
            }
        }
    });
}

#[test]
fn a_message_of_the_host_is_judged_by_its_text_in_a_fork_as_well() {
    const NOT_RUN: &str =
        "[synthetic] [not executed] The call \"pay\" did not run: the run was stopped before it was started.";
    on_every_store(async |place| {
        let mut session = in_dialect(&place, "anthropic_messages").await;
        let made_up = format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":{}}}]}}"#,
            serde_json::to_string(NOT_RUN).unwrap()
        );
        let calls = paying("anthropic_messages", &["a"]);
        session.append_all(&[&spoken("anthropic_messages", "go"), &calls[0], &made_up]).await.unwrap();
        for mut fork in forks(&place, &session).await {
            assert!(fork.add_late_result(&pay("a"), &said("PAID")).await.unwrap());
        }
    });
}

#[test]
fn a_fork_larger_than_one_commit_is_complete() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        for letter in ["a", "b", "c"] {
            let text = letter.repeat(7 * 1024 * 1024);
            session.append(&format!(r#"{{"role":"user","content":"{text}"}}"#)).await.unwrap();
        }
        let id: SessionId = place.name().parse().unwrap();
        let mut fork = session.fork(id.clone()).await.unwrap();
        assert!(fork.health().is_whole());
        assert!(fork.messages().eq(session.messages()));
        let parent = fork.state().begin.as_ref().and_then(|begin| begin.parent.as_ref()).unwrap();
        assert_eq!(parent.session, *session.id());
        let listed = place.store.list_sessions(None, 10_000).await.unwrap();
        assert!(listed.iter().any(|info| info.session == id && info.commits > 1), "{}", place.name);
        fork.append(r#"{"role":"assistant","content":"goes its own way"}"#).await.unwrap();
        assert_eq!((fork.messages().count(), session.messages().count()), (4, 3));
        assert!(session.fork(id).await.is_err(), "there is one of that name");
    });
}
