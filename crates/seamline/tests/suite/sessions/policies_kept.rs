//! The policy of a session: it is stored, and reopening does not change what the model reads.

use seamline::Policy;
use seamline::classify::Failure;
use seamline::policy::OnInvalid;
use seamline::session::{
    AgentStart, ExecutorFailure, Follower, OpenOptions, PersistRepairs, Session, SessionError, SessionOptions,
    SessionPolicy,
};
use seamline::store::{Effect, IncidentKind, Record};

use super::stores::{ASK, ENVELOPE, Place, Tool, kept, on_every_store, open_options, results, turn};

const SOURCES: [&str; 5] = ["opal", "clawos", "llxprt", "kilroy", "libr-agent"];

fn preset(name: &str) -> Policy {
    Policy::preset(name).unwrap()
}

async fn sent(session: &mut Session) -> String {
    match session.before_agent_start(ENVELOPE).await.unwrap() {
        AgentStart::Proceed { request, .. } => String::from_utf8(request.body).unwrap(),
        blocked @ AgentStart::Blocked { .. } => panic!("{blocked:?}"),
    }
}

async fn policy_records(place: &Place, session: &Session) -> usize {
    let commits = place.store.read(session.id(), 0, usize::MAX).await.unwrap();
    let records = commits.iter().flat_map(|it| seamline::store::OpenedCommit::open(&it.bytes).unwrap().records);
    records.filter(|record| matches!(record, Record::Policy(_))).count()
}

#[test]
fn a_session_opened_without_a_policy_has_the_one_it_was_created_with() {
    on_every_store(async |place| {
        for name in SOURCES {
            let session = place.create_with(preset(name)).await;
            let again = place.reopen(&session).await;
            assert_eq!(again.policy(), &preset(name));
            assert_eq!(
                Follower::open(place.store.clone(), session.id().clone()).await.unwrap().policy(),
                Ok(preset(name))
            );
            assert_eq!(policy_records(&place, &again).await, 0, "the first record has it");
        }
    });
}

#[test]
fn the_model_reads_the_same_after_a_crash() {
    on_every_store(async |place| {
        for name in ["llxprt", "opal", "lossless", "kilroy"] {
            let mut session = place.create_with(preset(name)).await;
            session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
            let before = session.request(ENVELOPE).unwrap().body;
            assert_eq!(before.windows(9).any(|it| it == b"cancelled"), name == "llxprt", "{name}");
            let again = place.reopen(&session).await;
            assert_eq!(again.request(ENVELOPE).unwrap().body, before, "{name}");
        }
    });
}

#[test]
fn an_aborted_call_has_the_text_of_the_stored_policy() {
    on_every_store(async |place| {
        let mut session = place.create_with(preset("llxprt")).await;
        session.append(ASK).await.unwrap();
        let mut again = place.reopen(&session).await;
        again.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
        again.abort().await.unwrap();
        assert!(kept(&again).last().unwrap().contains("Tool execution cancelled by user"), "{:?}", kept(&again));
    });
}

#[test]
fn a_call_that_never_ran_is_reported_so_though_the_default_text_of_the_stored_policy_is_an_earlier_one() {
    on_every_store(async |place| {
        for (text, is_default) in [("[synthetic] no result was recorded for this call", true), ("stopped", false)] {
            let mut policy = Policy::default();
            policy.repair.synthetic_text.aborted = text.into();
            let mut session = place.create_with(policy).await;
            session.append(ASK).await.unwrap();
            session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Unsafe).await.unwrap();
            session.abort().await.unwrap();
            let last = kept(&session).last().unwrap().clone();
            assert_eq!((last.contains("[not executed]"), last.contains(text)), (is_default, !is_default), "{last}");
        }
    });
}

#[test]
fn another_policy_is_stored_once_for_the_next_opening() {
    on_every_store(async |place| {
        let session = place.create_with(preset("llxprt")).await;
        for _ in 0..2 {
            let policy = Some(preset("clawos"));
            let options = OpenOptions { take_over: true, policy, ..open_options() };
            let again = Session::open(place.store.clone(), session.id().clone(), options).await.unwrap();
            assert_eq!(again.policy(), &preset("clawos"));
            again.close().await.unwrap();
        }
        let mut again = place.reopen(&session).await;
        assert_eq!(again.policy(), &preset("clawos"));
        again.append(ASK).await.unwrap();
        assert_eq!(policy_records(&place, &again).await, 1);
    });
}

#[test]
fn forks_and_children_have_the_policy() {
    on_every_store(async |place| {
        let session = place.create_with(preset("kilroy")).await;
        let fork = session.fork(place.name().parse().unwrap()).await.unwrap();
        let child = session.create_child(place.name().parse().unwrap(), &"toolu_1".into()).await.unwrap();
        let follower = Follower::open(place.store.clone(), session.id().clone()).await.unwrap();
        let copy = follower.fork(place.name().parse().unwrap()).await.unwrap();
        for made in [fork, child, copy] {
            assert_eq!(place.reopen(&made).await.policy(), &preset("kilroy"));
        }
    });
}

#[test]
fn an_unreadable_policy_gives_way_to_the_default_and_stays_stored() {
    futures_executor::block_on(async {
        use seamline::store::{Commit, CommitId, Head, MemoryStore, SessionId, Store};
        let begin = r#"{"begin":{"dialect":"anthropic_messages","policy":{"preset":"of 2031"}}}"#;
        let records: Vec<Record> = vec![serde_json::from_str(begin).unwrap()];
        let id: SessionId = "s-1".parse().unwrap();
        let (head, commit_id) = (Head::START, CommitId::from_bytes([1; 16]));
        let commit = Commit { session: &id, epoch: 1, head, id: commit_id, at: 1, records: &records }.seal().unwrap();
        let store = std::sync::Arc::new(MemoryStore::new());
        store.import(&id, &[commit.bytes().to_vec()]).await.unwrap();
        for _ in 0..2 {
            let mut session = Session::open(store.clone(), id.clone(), open_options()).await.unwrap();
            assert_eq!(session.policy(), &Policy::default());
            session.append(ASK).await.unwrap();
            let ignored = session.incidents().filter(|incident| incident.kind == IncidentKind::PolicyIgnored);
            assert_eq!(ignored.count(), 1);
            session.close().await.unwrap();
        }
        let follower = Follower::open(store, id).await.unwrap();
        assert!(matches!(follower.policy(), Err(SessionError::UnreadablePolicy(_))));
        assert_eq!(follower.state().policy.as_ref().unwrap().as_str(), r#"{"preset":"of 2031"}"#);
    });
}

#[test]
fn an_offered_repair_lets_the_next_request_through() {
    on_every_store(async |place| {
        let offering = |name: &str, persist| {
            let mut policy = preset(name);
            policy.repair.on_invalid = OnInvalid::Offer;
            policy.session.persist_repairs = persist;
            policy
        };
        for name in seamline::policy::PRESETS.iter().map(|preset| preset.name) {
            for persist in [PersistRepairs::Never, PersistRepairs::RealMovesOnly, PersistRepairs::All] {
                let mut session = place.create_with(offering(name, persist)).await;
                session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
                let start = session.before_agent_start(ENVELOPE).await.unwrap();
                assert!(
                    matches!(start, AgentStart::Blocked { repair_offered: true, .. }),
                    "{name} {persist:?} {start:?}"
                );
                session.repair().await.unwrap();
                sent(&mut session).await;
                // The user accepted this error, and no other.
                session.append_all(&[&turn(&["toolu_2"]), ASK]).await.unwrap();
                let start = session.before_agent_start(ENVELOPE).await.unwrap();
                assert!(
                    matches!(start, AgentStart::Blocked { repair_offered: true, .. }),
                    "{name} {persist:?} {start:?}"
                );
            }
        }
    });
}

#[test]
fn an_accepted_repair_is_accepted_after_a_reopen_and_covers_no_later_damage() {
    on_every_store(async |place| {
        let well = r#"{"role":"assistant","content":"well"}"#;
        let mut policy = preset("lossless");
        policy.repair.on_invalid = OnInvalid::Offer;
        policy.session.persist_repairs = PersistRepairs::Never;
        let mut session = place.create_with(policy).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), well, ASK]).await.unwrap();
        let blocked = |start| matches!(start, AgentStart::Blocked { repair_offered: true, .. });
        assert!(blocked(session.before_agent_start(ENVELOPE).await.unwrap()));
        session.repair().await.unwrap();
        sent(&mut session).await;
        let mut session = place.reopen(&session).await;
        sent(&mut session).await;
        // The words of this error are the same, and it is another one.
        session.append_all(&[&turn(&["toolu_2"]), well, ASK]).await.unwrap();
        let errors = session.validate().unwrap().errors;
        assert!(errors.len() == 2 && errors[0] == errors[1], "{errors:?}");
        assert!(blocked(session.before_agent_start(ENVELOPE).await.unwrap()));
        session.repair().await.unwrap();
        sent(&mut session).await;
    });
}

#[test]
fn a_preset_that_blocks_offers_only_a_repair_that_helps() {
    on_every_store(async |place| {
        for (name, helps) in [("clawos", true), ("strict", false)] {
            let mut session = place.create_with(preset(name)).await;
            session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
            assert_eq!(session.session_start().await.unwrap().repair_offered, helps, "{name}");
            let start = session.before_agent_start(ENVELOPE).await.unwrap();
            assert!(
                matches!(start, AgentStart::Blocked { repair_offered, .. } if repair_offered == helps),
                "{start:?}"
            );
            session.repair().await.unwrap();
            let start = session.before_agent_start(ENVELOPE).await.unwrap();
            assert_eq!(matches!(start, AgentStart::Proceed { .. }), helps, "{name}: {start:?}");
        }
    });
}

#[test]
fn a_policy_that_warns_sends_the_conversation_unchanged() {
    on_every_store(async |place| {
        let mut policy = Policy::default();
        policy.repair.on_invalid = OnInvalid::Warn;
        let mut session = place.create_with(policy).await;
        session.append_all(&[ASK, &turn(&["toolu_1"]), ASK]).await.unwrap();
        let body = sent(&mut session).await;
        assert!(body.contains("toolu_1") && !body.contains("tool_result"), "{body}");
    });
}

/// Runs a tool that throws, and says whether the cycle was rolled back.
async fn throws(session: &mut Session) -> bool {
    session.append(ASK).await.unwrap();
    let tool = Tool::doing(|_| Err(ExecutorFailure("it broke".to_owned())));
    session.execute_tool_cycle(&[&turn(&["toolu_1"])], &tool, std::future::pending()).await.unwrap();
    kept(session).len() == 1
}

#[test]
fn x12_clawos_rolls_back_a_cycle_whose_tool_throws_and_the_others_record_it() {
    on_every_store(async |place| {
        for name in SOURCES {
            let mut session = place.create_with(preset(name)).await;
            assert_eq!(throws(&mut session).await, name == "clawos", "{name}");
        }
    });
}

#[test]
fn x6_opal_clawos_and_kilroy_store_repairs_and_llxprt_and_libr_agent_repair_each_request() {
    on_every_store(async |place| {
        for name in SOURCES {
            let mut session = place.create_with(preset(name)).await;
            session.append_all(&[ASK, &results(&["toolu_9"]), &turn(&["toolu_1"]), ASK]).await.unwrap();
            let before = kept(&session);
            if name == "clawos" {
                assert!(matches!(session.before_agent_start(ENVELOPE).await.unwrap(), AgentStart::Blocked { .. }));
                session.repair().await.unwrap();
            }
            let body = sent(&mut session).await;
            assert_eq!(kept(&session) == before, ["llxprt", "libr-agent"].contains(&name), "{name}");
            let has_call = ["opal", "llxprt"].contains(&name);
            assert_eq!(body.contains("toolu_1"), has_call, "{name} closes the call or removes it: {body}");
        }
    });
}

#[test]
fn a_policy_that_could_not_be_read_again_is_refused() {
    on_every_store(async |place| {
        let named = |preset: &str| Policy { preset: preset.to_owned(), ..Policy::default() };
        let mut other_provider = Policy::from_toml("[provider.groq]\nretries_max = 5").unwrap();
        let overrides = other_provider.providers.remove("groq").unwrap();
        other_provider.providers.insert("nowhere".to_owned(), overrides);
        for policy in [named("my policy"), named(""), other_provider] {
            let options = SessionOptions { policy: policy.clone(), ..SessionOptions::default() };
            let id: seamline::store::SessionId = place.name().parse().unwrap();
            let error = Session::create(place.store.clone(), id.clone(), options).await.unwrap_err();
            assert!(matches!(error, SessionError::InvalidPolicy(_)), "{error}");
            assert!(error.to_string().starts_with("cannot store the policy: no p"), "{error}");
            let session = Session::create(place.store.clone(), id, SessionOptions::default()).await.unwrap();
            let options = OpenOptions { take_over: true, policy: Some(policy), ..open_options() };
            let error = Session::open(place.store.clone(), session.id().clone(), options).await.unwrap_err();
            assert!(matches!(error, SessionError::InvalidPolicy(_)), "{error}");
        }
    });
}

#[test]
fn a_provider_has_its_overrides_under_each_of_its_names() {
    futures_executor::block_on(async {
        for table in ["anthropic", "claude", "ANTHROPIC"] {
            let policy = Policy::from_toml(&format!("[provider.{table}]\nretries_max = 7")).unwrap();
            assert!(policy.providers.keys().eq(["anthropic"]), "{table}");
            for provider in ["anthropic", "claude"] {
                let store = std::sync::Arc::new(seamline::store::MemoryStore::new());
                let (provider, policy) = (Some(provider.to_owned()), policy.clone());
                let options = SessionOptions { provider, policy, ..SessionOptions::default() };
                let session = Session::create(store, "s-1".parse().unwrap(), options).await.unwrap();
                assert_eq!(session.effective_policy().guard.retry.retries_max, 7, "{table}");
            }
        }
        let twice = "[provider.anthropic]\nretries_max = 7\n\n[provider.claude]\nverbose = true";
        let error = Policy::from_toml(twice).unwrap_err().to_string();
        let text = "line 4: `[provider.claude]` and `[provider.anthropic]` are both for `anthropic`; keep one table";
        assert_eq!(error, text);
    });
}

#[test]
fn a_rejected_member_stays_out_of_requests_after_a_reopen_and_in_a_fork() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(r#"{"role":"user","content":"hi","mood":"good"}"#).await.unwrap();
        let text = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.mood: Extra inputs are not permitted"}}"#;
        let failure = Failure { status: Some(400), text, ..Failure::default() };
        session.handle_error(&failure).await.unwrap();
        session.append(r#"{"role":"assistant","content":"yes","mood":"fine"}"#).await.unwrap();
        session.append(r#"{"role":"user","content":"so","mood":"bad"}"#).await.unwrap();
        let sent = |session: &Session| String::from_utf8(session.request(ENVELOPE).unwrap().body).unwrap();
        let first = sent(&session);
        assert!(!first.contains("mood"), "{first}");
        let fork = session.fork(place.name().parse().unwrap()).await.unwrap();
        assert_eq!(sent(&fork), first);
        let fork_id = fork.id().clone();
        fork.close().await.unwrap();
        let follower = Follower::open(place.store.clone(), session.id().clone()).await.unwrap();
        assert_eq!(follower.request(ENVELOPE).unwrap().body, first.as_bytes());
        let again = place.reopen(&session).await;
        assert_eq!(sent(&again), first);
        let options = OpenOptions { take_over: true, policy: Some(Policy::default()), ..open_options() };
        let again = Session::open(place.store.clone(), again.id().clone(), options).await.unwrap();
        assert_eq!(sent(&again), first, "a policy of the caller does not make the provider accept it");
        let fork = Session::open(place.store.clone(), fork_id, open_options()).await.unwrap();
        assert_eq!(sent(&fork), first);
    });
}
