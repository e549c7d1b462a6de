//! Switches of the provider within a session, with calls open or not.

use proptest::prelude::*;
use seamline::Options;
use seamline::outline::OutlineKind;
use seamline::session::{OpenOptions, Request, Session, SessionError, ToolCallRef, ToolOutput};
use seamline::store::Effect;
use seamline_testkit::Dialect;

use super::asking::in_dialect;
use super::late_kept::{dialects, paying, refs, spoken};
use super::stores::{Place, kept, memory, on_every_store};

/// The provider that defines each of the [`dialects`], and an envelope for it.
pub(super) fn asked() -> [(&'static str, &'static str); Dialect::ALL.len()] {
    let envelope = |dialect: Dialect| match dialect.name() {
        "anthropic_messages" => {
            r#"{"model":"claude-sonnet-4-5","max_tokens":64,"tools":[{"name":"pay","input_schema":{"type":"object"}}]}"#
        }
        "openai_chat" | "openai_responses" => r#"{"model":"gpt-4o"}"#,
        "bedrock_converse" => {
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"pay","inputSchema":{"json":{"type":"object"}}}}]}}"#
        }
        _ => dialect.envelope(),
    };
    Dialect::ALL.map(|dialect| (dialect.provider(), envelope(dialect)))
}

fn paid(text: &str) -> ToolOutput {
    ToolOutput { output: text.to_owned(), is_error: false }
}

/// The same session in another process, with its cycles open.
async fn taken_over(place: &Place, session: &Session) -> Session {
    let options = OpenOptions { take_over: true, recover: false, ..OpenOptions::default() };
    Session::open(place.store.clone(), session.id().clone(), options).await.unwrap()
}

/// The errors that a provider would return for a request.
pub(super) fn errors(request: &Request, provider: &str) -> Vec<String> {
    let options = Options { provider: Some(provider.to_owned()), ..Options::default() };
    let checked = seamline::check(&request.body, &options).unwrap();
    let wrong = checked.findings.into_iter().filter(|found| found.severity == seamline::Severity::Error);
    wrong.map(|found| format!("{} {}", found.code, found.message)).collect()
}

pub(super) fn text(request: &Request) -> String {
    String::from_utf8(request.body.clone()).unwrap()
}

/// The messages of a request, as its provider has them.
pub(super) fn messages_of(request: &Request, provider: &str) -> Vec<String> {
    let options = Options { provider: Some(provider.to_owned()), ..Options::default() };
    let spans = seamline::outline::message_spans(&request.body, &options).unwrap();
    spans.into_iter().map(|span| String::from_utf8_lossy(&request.body[span]).into_owned()).collect()
}

#[test]
fn a_provider_is_switched_with_an_open_call_between_all_dialects() {
    on_every_store(async |place| {
        for (from, (home, home_envelope)) in dialects().into_iter().zip(asked()) {
            for (to, (provider, envelope)) in dialects().into_iter().zip(asked()).filter(|(to, _)| *to != from) {
                let about = format!("{from} to {to}");
                let mut session = in_dialect(&place, from).await;
                session.append(&spoken(from, "go")).await.unwrap();
                let turn = paying(from, &["hist_tool_a", "hist_tool_b"]);
                let (cycle, _) = session.begin_cycle(&refs(&turn), &|_| Effect::Unsafe).await.unwrap();
                session.before_tool_call(&cycle, &"hist_tool_a".into()).await.unwrap();
                session.before_tool_call(&cycle, &"hist_tool_b".into()).await.unwrap();
                session.finish_call(&cycle, &"hist_tool_a".into(), &paid("PAID-A")).await.unwrap();
                session.switch_provider(provider).await.unwrap();
                let mut session = taken_over(&place, &session).await;
                assert_eq!(session.dialect(), to, "{about}");
                session.append(&spoken(to, "and then")).await.unwrap();
                session.finish_call(&cycle, &"hist_tool_b".into(), &paid("PAID-B")).await.unwrap();
                session.commit_cycle(&cycle).await.unwrap();
                let session = taken_over(&place, &session).await;
                let stored = kept(&session);
                assert_eq!(stored[1..=turn.len()], turn, "{about}");

                let request = session.request(envelope).unwrap();
                assert!(request.sendable, "{about}: {:?}", request.remaining);
                assert_eq!(errors(&request, provider), [""; 0], "{about}: {}", text(&request));
                let body = text(&request);
                for part in ["PAID-A", "PAID-B", "and then"] {
                    assert!(body.contains(part), "{about}: {part}: {body}");
                }
                assert!(!body.contains("hist_tool_") && !body.contains("[synthetic]"), "{about}: {body}");

                let back = session.request_for(home, home_envelope).unwrap();
                assert_eq!(errors(&back, home), [""; 0], "{about}: {}", text(&back));
                assert!(text(&back).contains("and then"), "{about}");
            }
        }
    });
}

#[test]
fn switching_back_gives_the_original_bytes() {
    on_every_store(async |place| {
        for (from, (home, envelope)) in dialects().into_iter().zip(asked()) {
            for (to, (provider, _)) in dialects().into_iter().zip(asked()).filter(|(to, _)| *to != from) {
                let mut session = in_dialect(&place, from).await;
                session.switch_provider(home).await.unwrap();
                session.append(&spoken(from, "go")).await.unwrap();
                let (cycle, _) =
                    session.begin_cycle(&refs(&paying(from, &["a"])), &|_| Effect::ReadOnly).await.unwrap();
                session.switch_provider(provider).await.unwrap();
                session.finish_call(&cycle, &"a".into(), &paid("PAID")).await.unwrap();
                session.commit_cycle(&cycle).await.unwrap();
                session.append(&spoken(to, "more")).await.unwrap();
                session.switch_provider(home).await.unwrap();
                let session = taken_over(&place, &session).await;
                let (stored, request) = (kept(&session), session.request(envelope).unwrap());
                let sent = messages_of(&request, home);
                let own = stored.len() - 1;
                assert_eq!(sent[..own - 1], stored[..own - 1], "{from}, {to}");
                assert!(text(&request).contains("PAID") && text(&request).contains("more"), "{from}, {to}");
            }
        }
    });
}

#[test]
fn orphans_of_several_turns_and_dialects_are_answered_for_the_current_provider() {
    on_every_store(async |place| {
        for (from, _) in dialects().into_iter().zip(asked()) {
            for (to, (provider, envelope)) in dialects().into_iter().zip(asked()).filter(|(to, _)| *to != from) {
                let about = format!("{from} to {to}");
                let mut session = in_dialect(&place, from).await;
                // One turn with no result, and one with one of two.
                session.append(&spoken(from, "go")).await.unwrap();
                session.append_all(&refs(&paying(from, &["hist_tool_1", "hist_tool_2"]))).await.unwrap();
                session.append(&spoken(from, "again")).await.unwrap();
                let turn = paying(from, &["call_3", "call_4"]);
                let (cycle, _) = session.begin_cycle(&refs(&turn), &|_| Effect::Unsafe).await.unwrap();
                session.before_tool_call(&cycle, &"call_3".into()).await.unwrap();
                session.finish_call(&cycle, &"call_3".into(), &paid("PAID")).await.unwrap();
                session.abort().await.unwrap();
                session.switch_provider(provider).await.unwrap();
                session.append(&spoken(to, "next")).await.unwrap();
                session.append_all(&refs(&paying(to, &["call_3"]))).await.unwrap();
                session.append(&spoken(to, "last")).await.unwrap();
                let before = kept(&session);
                let request = session.request(envelope).unwrap();
                assert!(request.sendable, "{about}: {:?}", request.remaining);
                assert_eq!(errors(&request, provider), [""; 0], "{about}: {}", text(&request));
                let body = text(&request);
                assert!(body.contains("PAID") && !body.contains("hist_tool_"), "{about}: {body}");
                let answered = request.actions.iter().filter(|action| action.code == "PAIR001").count();
                assert_eq!(answered, 3, "{about}: {:?}", request.actions);
                assert_eq!(kept(&session), before, "{about}");
                assert_eq!(session.request(envelope).unwrap(), request, "{about}");
            }
        }
    });
}

#[test]
fn a_result_of_another_dialect_answers_the_call() {
    on_every_store(async |place| {
        let mut session = in_dialect(&place, "openai_chat").await;
        session.append(&spoken("openai_chat", "go")).await.unwrap();
        session.append_all(&refs(&paying("openai_chat", &["call_1"]))).await.unwrap();
        let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"PAID"}]}"#;
        session.append_as("anthropic", result).await.unwrap();
        assert_eq!(session.dialect(), "openai_chat");
        for (provider, envelope) in asked() {
            let request = session.request_for(provider, envelope).unwrap();
            assert_eq!(errors(&request, provider), [""; 0], "{provider}: {}", text(&request));
            assert!(request.actions.iter().all(|action| !action.synthetic), "{provider}: {:?}", request.actions);
            assert!(text(&request).contains("PAID"), "{provider}");
        }
        // A cut between both would separate them.
        let range = session.before_compaction(0..2).await.unwrap();
        assert_eq!(range, 0..1);
    });
}

/// The ids of the results in a request.
fn result_ids(request: &Request, provider: &str) -> Vec<String> {
    let options = Options { provider: Some(provider.to_owned()), ..Options::default() };
    let outline = seamline::outline(&request.body, &options, 0..usize::MAX).unwrap();
    let blocks = outline.into_iter().flat_map(|message| message.blocks);
    blocks.filter(|block| block.kind == OutlineKind::Result).filter_map(|result| result.id).collect()
}

#[test]
fn results_under_the_ids_of_a_request_answer_the_stored_calls() {
    on_every_store(async |place| {
        for ids in [["call_1", "call_2"], ["functions.f:0", "functions.f:1"], ["hist_tool_a", "hist_tool_b"]] {
            for provider in ["mistral", "anthropic"] {
                let mut session = in_dialect(&place, "openai_chat").await;
                session.append(&spoken("openai_chat", "go")).await.unwrap();
                session.append_all(&refs(&paying("openai_chat", &ids))).await.unwrap();
                session.switch_provider(provider).await.unwrap();
                let sent = result_ids(&session.request(envelope_of(provider)).unwrap(), provider);
                assert_eq!(sent.len(), 2);
                for (number, id) in sent.iter().enumerate() {
                    let result = match provider {
                        "anthropic" => format!(
                            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"PAID {number}"}}]}}"#
                        ),
                        _ => format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"PAID {number}"}}"#),
                    };
                    session.append(&result).await.unwrap();
                }
                for asked in [provider, "gemini", "openai", "mistral"] {
                    let request = session.request_for(asked, envelope_of(asked)).unwrap();
                    assert_eq!(errors(&request, asked), [""; 0], "{ids:?} {provider} {asked}: {}", text(&request));
                    assert!(request.actions.iter().all(|action| !action.synthetic), "{ids:?} {provider} {asked}");
                    assert_eq!(result_ids(&request, asked).len(), 2, "{ids:?} {provider} {asked}: {}", text(&request));
                    assert!(!text(&request).contains("hist_tool_"), "{}", text(&request));
                }
            }
        }
    });
}

fn envelope_of(provider: &str) -> &'static str {
    match provider {
        "anthropic" => {
            r#"{"model":"claude-sonnet-4-5","max_tokens":64,"tools":[{"name":"pay","input_schema":{"type":"object"}}]}"#
        }
        "mistral" => r#"{"model":"mistral-large-latest"}"#,
        "openai" => r#"{"model":"gpt-4o"}"#,
        _ => "{}",
    }
}

#[test]
fn a_late_result_is_written_in_the_dialect_of_its_call() {
    on_every_store(async |place| {
        for (from, (home, envelope)) in dialects().into_iter().zip(asked()) {
            for (to, (provider, asked)) in dialects().into_iter().zip(asked()).filter(|(to, _)| *to != from) {
                let about = format!("{from} to {to}");
                let mut session = in_dialect(&place, from).await;
                session.append(&spoken(from, "go")).await.unwrap();
                let (cycle, _) = session.begin_cycle(&refs(&paying(from, &["a"])), &|_| Effect::Unsafe).await.unwrap();
                session.before_tool_call(&cycle, &"a".into()).await.unwrap();
                session.abort().await.unwrap();
                session.append_all(&refs(&paying(from, &["b"]))).await.unwrap();
                session.switch_provider(provider).await.unwrap();
                session.append(&spoken(to, "next")).await.unwrap();
                for id in ["a", "b"] {
                    let call = ToolCallRef { id: id.into(), name: "pay" };
                    let output = paid(&format!("PAID-{id}"));
                    assert!(session.add_late_result(&call, &output).await.unwrap(), "{about}: {id}");
                    assert!(!session.add_late_result(&call, &output).await.unwrap(), "{about}: {id}");
                }
                let mut session = taken_over(&place, &session).await;
                for request in [session.request(asked).unwrap(), session.request_for(home, envelope).unwrap()] {
                    let body = text(&request);
                    assert!(body.contains("PAID-a") && body.contains("PAID-b"), "{about}: {body}");
                    assert!(!body.contains("[synthetic]"), "{about}: {body}");
                }
                session.undo_repair().await.unwrap();
                assert!(!kept(&session).concat().contains("PAID-b"), "{about}");
            }
        }
    });
}

#[test]
fn a_session_of_several_dialects_can_be_checked_forked_and_reset() {
    on_every_store(async |place| {
        let mut session = in_dialect(&place, "openai_chat").await;
        session.append(r#"{"role":"system","content":"Be brief."}"#).await.unwrap();
        session.append(&spoken("openai_chat", "go")).await.unwrap();
        session.append_all(&refs(&paying("openai_chat", &["call_1"]))).await.unwrap();
        session.switch_provider("anthropic").await.unwrap();
        session.append(&spoken("anthropic_messages", "next")).await.unwrap();
        assert!(session.check().unwrap().findings.iter().any(|found| found.code == "PAIR001"));
        assert_eq!(session.validate().unwrap().incomplete_ids, ["call_1"]);
        let before = kept(&session);
        assert!(session.repair().await.unwrap().id.is_none());
        assert_eq!(kept(&session), before, "the messages keep their bytes");

        let envelope = r#"{"model":"claude-sonnet-4-5","max_tokens":64}"#;
        let request = session.request(envelope).unwrap();
        assert!(text(&request).contains(r#""system":"Be brief.""#), "{}", text(&request));
        let own = r#"{"model":"claude-sonnet-4-5","max_tokens":64,"system":"Be kind."}"#;
        let with_own = text(&session.request(own).unwrap());
        assert!(with_own.contains("Be brief.") && with_own.contains("Be kind."), "{with_own}");

        let fork = session.fork(place.name().parse().unwrap()).await.unwrap();
        assert_eq!((fork.dialect(), kept(&fork)), ("anthropic_messages", before));
        assert_eq!(fork.request(envelope).unwrap(), request);

        let range = session.before_compaction(0..3).await.unwrap();
        let summary = spoken("anthropic_messages", "SUMMARY");
        session.finish_compaction(range, &[&summary]).await.unwrap();
        let session = taken_over(&place, &session).await;
        assert!(text(&session.request(envelope).unwrap()).contains("SUMMARY"));
    });
}

#[test]
fn a_system_prompt_is_where_each_dialect_has_it() {
    futures_executor::block_on(async {
        let place = memory();
        let mut session = in_dialect(&place, "openai_chat").await;
        session.append(r#"{"role":"system","content":"Be brief."}"#).await.unwrap();
        session.append(&spoken("openai_chat", "go")).await.unwrap();
        let prompts = [
            ("anthropic", r#""system":"Be brief.""#),
            ("openai", r#""messages":[{"role":"system","content":"Be brief."}"#),
            ("openai-responses", r#""instructions":"Be brief.""#),
            ("gemini", r#""systemInstruction":{"parts":[{"text":"Be brief."}]}"#),
            ("bedrock", r#""system":[{"text":"Be brief."}]"#),
        ];
        for (provider, envelope) in asked() {
            let prompt = prompts.iter().find(|(name, _)| *name == provider).map_or("Be brief.", |(_, prompt)| prompt);
            let body = text(&session.request_for(provider, envelope).unwrap());
            assert!(body.contains(prompt) && body.matches("Be brief.").count() == 1, "{provider}: {body}");
        }
    });
}

#[test]
fn a_late_result_replaces_a_synthetic_one_of_another_dialect() {
    futures_executor::block_on(async {
        for (from, (provider, _)) in dialects().into_iter().zip(asked()) {
            for (to, (name, _)) in dialects().into_iter().zip(asked()).filter(|(to, _)| *to != from) {
                let about = format!("{from}, answered in {to}");
                let place = memory();
                let mut session = in_dialect(&place, from).await;
                session.append(&spoken(from, "go")).await.unwrap();
                session.append_all(&refs(&paying(from, &["call_1"]))).await.unwrap();
                // The host answers the call itself, in the other dialect.
                let mut other = in_dialect(&place, to).await;
                other.append(&spoken(to, "go")).await.unwrap();
                let turn = paying(to, &["call_1"]);
                other.begin_cycle(&refs(&turn), &|_| Effect::Unsafe).await.unwrap();
                other.abort().await.unwrap();
                session.append_as(name, kept(&other).last().unwrap()).await.unwrap();

                let call = ToolCallRef { id: "call_1".into(), name: "pay" };
                assert!(session.add_late_result(&call, &paid("PAID")).await.unwrap(), "{about}: {:?}", kept(&session));
                assert!(!session.add_late_result(&call, &paid("PAID")).await.unwrap(), "{about}");
                for (asked, envelope) in asked() {
                    let request = session.request_for(asked, envelope).unwrap();
                    let body = text(&request);
                    assert_eq!(errors(&request, asked), [""; 0], "{about}, for {asked}: {body}");
                    assert!(body.contains("PAID") && !body.contains("[synthetic]"), "{about}, for {asked}: {body}");
                }
                assert_eq!(session.state().switch, None, "{about}: {provider}");
            }
        }
    });
}

#[test]
fn an_unknown_name_switches_nothing() {
    on_every_store(async |place| {
        let mut session = in_dialect(&place, "openai_chat").await;
        let before = session.state().clone();
        assert!(matches!(session.switch_provider("nowhere").await, Err(SessionError::Conversation(_))));
        assert!(matches!(session.append_as("nowhere", "{}").await, Err(SessionError::Conversation(_))));
        assert!(matches!(session.request_for("nowhere", "{}"), Err(SessionError::Conversation(_))));
        session.switch_provider("openai_chat").await.unwrap();
        assert_eq!(*session.state(), before, "it speaks that dialect already");
    });
}

/// A step of a session.
#[derive(Debug, Clone)]
enum Step {
    Switch(usize),
    Say,
    /// A turn with a call whose result arrives.
    Cycle(usize),
    /// A turn with a call that never gets a result, and a message after it.
    Orphan(usize),
    /// A message of another dialect.
    Foreign(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..Dialect::ALL.len()).prop_map(Step::Switch),
        2 => Just(Step::Say),
        2 => (0..4_usize).prop_map(Step::Cycle),
        1 => (0..4_usize).prop_map(Step::Orphan),
        1 => (0..Dialect::ALL.len()).prop_map(Step::Foreign),
    ]
}

/// Ids that repeat, that clients make up, and that look like those of providers.
const IDS: [&str; 4] = ["hist_tool_x", "call_1", "toolu_x", "a.b:c"];

async fn take(session: &mut Session, step: &Step, number: usize) {
    let dialect = session.dialect();
    let say = |text: &str| spoken(dialect, &format!("{text}-{number}"));
    match step {
        Step::Switch(to) => session.switch_provider(asked()[*to].0).await.unwrap(),
        Step::Say => session.append(&say("say")).await.unwrap(),
        Step::Cycle(id) => {
            let turn = paying(dialect, &[IDS[*id]]);
            let (cycle, calls) = session.begin_cycle(&refs(&turn), &|_| Effect::ReadOnly).await.unwrap();
            session.finish_call(&cycle, &calls[0].id, &paid(&format!("PAID-{number}"))).await.unwrap();
            session.commit_cycle(&cycle).await.unwrap();
            session.append(&say("then")).await.unwrap();
        }
        Step::Orphan(id) => {
            session.append_all(&refs(&paying(dialect, &[IDS[*id]]))).await.unwrap();
            session.append(&say("never mind")).await.unwrap();
        }
        Step::Foreign(of) => {
            let (name, message) = (asked()[*of].0, spoken(dialects()[*of], &format!("foreign-{number}")));
            session.append_as(name, &message).await.unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn later_messages_never_change_how_earlier_ones_are_sent(steps in prop::collection::vec(step(), 1..9)) {
        futures_executor::block_on(async {
            let place = memory();
            let mut session = in_dialect(&place, "openai_chat").await;
            session.append(&spoken("openai_chat", "go")).await.unwrap();
            let mut before: Vec<Vec<String>> = vec![Vec::new(); asked().len()];
            for (number, step) in steps.iter().enumerate() {
                take(&mut session, step, number).await;
                for ((provider, envelope), earlier) in asked().into_iter().zip(&mut before) {
                    let request = session.request_for(provider, envelope).unwrap();
                    let about = format!("{provider} after {step:?}: {}", text(&request));
                    assert_eq!(errors(&request, provider), [""; 0], "{about}");
                    let body = text(&request);
                    assert!(!body.contains("hist_tool_"), "{about}");
                    for part in kept(&session).iter().flat_map(|message| said_in(message)) {
                        assert!(body.contains(&part), "{part}: {about}");
                    }
                    let sent = messages_of(&request, provider);
                    // The last message may be joined with the next one of the same role.
                    let stable = earlier.len().saturating_sub(1);
                    assert_eq!(sent.get(..stable), earlier.get(..stable), "{about}");
                    assert_eq!(session.request_for(provider, envelope).unwrap(), request);
                    *earlier = sent;
                }
                // The session keeps the rendering for its own provider, and the request is the same without it.
                let switch = session.state().switch.clone();
                let current = switch.and_then(|to| to.provider).unwrap_or(session.dialect().to_owned());
                let envelope = asked()[dialects().iter().position(|name| *name == session.dialect()).unwrap()].1;
                let fresh = session.request_for(&current, envelope).unwrap();
                assert_eq!(session.request(envelope).unwrap(), fresh, "{current} after {step:?}");
            }
            let own = kept(&session);
            assert_eq!(kept(&taken_over(&place, &session).await), own);
        });
    }
}

/// The texts of a message that its request must have.
fn said_in(message: &str) -> Vec<String> {
    let words = message.split('"').filter(|word| {
        ["say-", "then-", "never mind-", "foreign-", "PAID-"].iter().any(|start| word.starts_with(start))
    });
    words.map(str::to_owned).collect()
}

#[test]
fn a_system_prompt_goes_into_an_envelope_that_ends_in_an_object() {
    futures_executor::block_on(async {
        let place = memory();
        let mut session = in_dialect(&place, "openai_chat").await;
        session.append(r#"{"role":"system","content":"Be brief."}"#).await.unwrap();
        session.append(r#"{"role":"user","content":"hello"}"#).await.unwrap();
        let envelope = r#"{"model":"claude-sonnet-4-5","max_tokens":64,"metadata":{"user_id":"u"}}"#;
        let request = session.request_for("anthropic", envelope).unwrap();
        let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!((&body["metadata"]["user_id"], &body["system"]), (&"u".into(), &"Be brief.".into()));
        assert_eq!(body["messages"].as_array().map(Vec::len), Some(1));
    });
}
