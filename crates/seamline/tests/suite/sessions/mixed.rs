//! Requests for other dialects and providers neither harm a healthy conversation nor change what is stored.

use futures_util::FutureExt;
use seamline::Policy;
use seamline::providers;
use seamline::repair::ActionKind;
use seamline::session::{AgentStart, PersistRepairs, Session, SessionOptions, SessionPolicy, TurnEnd};

use super::asking::in_dialect;
use super::faulty::{Fault, Faulty};
use super::late_kept::{dialects, paying, refs, spoken};
use super::stores::{kept, memory, open_options};
use super::switching::{asked, errors, messages_of, text};
use super::written;

/// The envelope of each dialect's usual provider.
fn envelope(dialect: &str) -> &'static str {
    let asked = dialects().into_iter().zip(asked()).find(|(name, _)| *name == dialect);
    asked.map(|(_, (_, envelope))| envelope).unwrap()
}

/// A result of a call of `pay`.
fn result(dialect: &str, id: &str, said: &str) -> String {
    match dialect {
        "gemini_generate" => format!(
            r#"{{"role":"user","parts":[{{"functionResponse":{{"id":"{id}","name":"pay","response":{{"output":"{said}"}}}}}}]}}"#
        ),
        "bedrock_converse" => format!(
            r#"{{"role":"user","content":[{{"toolResult":{{"toolUseId":"{id}","content":[{{"text":"{said}"}}],"status":"success"}}}}]}}"#
        ),
        "openai_chat" => format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{said}"}}"#),
        "openai_responses" => format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"{said}"}}"#),
        "anthropic_messages" => {
            format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{said}"}}]}}"#)
        }
        other => written::result(other, "pay", id, said),
    }
}

#[test]
fn a_result_that_a_repair_of_its_own_dialect_pairs_is_the_result_of_its_call_everywhere() {
    let ask = r#"{"role":"user","content":"hi"}"#;
    let call = &paying("openai_chat", &["c1"])[0];
    let blocks = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"PAID"}]}"#;
    let legacy = r#"{"role":"assistant","content":null,"function_call":{"name":"pay","arguments":"{}"}}"#;
    let cases = [
        [ask, legacy, r#"{"role":"function","name":"pay","content":"PAID"}"#],
        [ask, call, blocks],
        [ask, call, r#"{"role":"tool","tool_call_id":"WRONG","content":"PAID"}"#],
    ];
    futures_executor::block_on(async {
        for case in cases {
            let place = memory();
            let mut session = in_dialect(&place, "openai_chat").await;
            for message in case {
                session.append(message).await.unwrap();
            }
            session.append(r#"{"role":"user","content":"next"}"#).await.unwrap();
            for (provider, envelope) in asked() {
                let request = session.request_for(provider, envelope).unwrap();
                let about = format!("{provider}: {}", text(&request));
                assert_eq!(errors(&request, provider), [""; 0], "{about}");
                assert!(
                    !text(&request).contains("[synthetic]") && text(&request).matches("PAID").count() == 1,
                    "{about}"
                );
                assert!(!text(&request).contains("tool_use_id\\\""), "a block became text: {about}");
            }
        }
    });
}

#[test]
fn a_request_lists_the_repairs_of_messages_in_their_own_dialect() {
    futures_executor::block_on(async {
        let place = memory();
        let mut session = in_dialect(&place, "anthropic_messages").await;
        session.append(&spoken("anthropic_messages", "go")).await.unwrap();
        session.append_as("openai", &paying("openai_chat", &["c1"])[0]).await.unwrap();
        session.append_as("openai", &result("openai_chat", "WRONG", "PAID")).await.unwrap();
        let envelope = envelope("anthropic_messages");
        let first = session.request(envelope).unwrap();
        assert!(first.sendable && text(&first).contains("PAID"), "{}", text(&first));
        let action = first.actions.first().unwrap();
        let listed = (action.code, action.action, action.pointer.as_deref());
        assert_eq!(listed, ("PAIR005", ActionKind::Readdress, Some("/messages/2")), "{:?}", first.actions);
        assert_eq!(session.request(envelope).unwrap(), first, "the kept rendering lists it, too");
    });
}

#[test]
fn words_in_the_shape_of_another_dialect_reach_every_provider() {
    let shapes = [
        r#"{"role":"user","content":"WORDS"}"#,
        r#"{"role":"user","parts":[{"text":"WORDS"}]}"#,
        r#"{"role":"user","content":[{"text":"WORDS"}]}"#,
        r#"{"role":"user","content":[{"type":"input_text","text":"WORDS"}]}"#,
    ];
    futures_executor::block_on(async {
        for (dialect, shape) in dialects().into_iter().flat_map(|dialect| shapes.map(|shape| (dialect, shape))) {
            let place = memory();
            let mut session = in_dialect(&place, dialect).await;
            if session.append(shape).await.is_err() {
                continue;
            }
            for (provider, envelope) in asked() {
                let request = session.request_for(provider, envelope).unwrap();
                let about = format!("{dialect}, {shape}, for {provider}: {}", text(&request));
                assert_eq!(errors(&request, provider), [""; 0], "{about}");
                assert!(text(&request).contains(r#""WORDS""#), "{about}");
            }
        }
    });
}

/// Words in an odd shape between a call and its result of another dialect.
#[test]
fn odd_words_between_a_call_and_its_result_of_another_dialect_stay() {
    futures_executor::block_on(async {
        let place = memory();
        let mut session = in_dialect(&place, "openai_chat").await;
        session.append(&spoken("openai_chat", "go")).await.unwrap();
        session.append_all(&refs(&paying("openai_chat", &["c1"]))).await.unwrap();
        session.append(r#"{"role":"user","parts":[{"text":"WORDS"}]}"#).await.unwrap();
        session.append_as("anthropic", &result("anthropic_messages", "c1", "PAID")).await.unwrap();
        for (provider, envelope) in asked() {
            let request = session.request_for(provider, envelope).unwrap();
            let body = text(&request);
            assert!(
                body.contains("WORDS") && body.contains("PAID") && !body.contains("[synthetic]"),
                "{provider}: {body}"
            );
        }
    });
}

/// A session of a provider with two cycles.
async fn with_cycles(provider: &str, policy: Policy) -> Session {
    let options =
        SessionOptions { dialect: None, provider: Some(provider.to_owned()), policy, ..SessionOptions::default() };
    let place = memory();
    let mut session = Session::create(place.store.clone(), place.name().parse().unwrap(), options).await.unwrap();
    let dialect = session.dialect();
    session.append(&spoken(dialect, "go")).await.unwrap();
    for id in ["call_long_id_1", "call_B0"] {
        session.append_all(&refs(&paying(dialect, &[id]))).await.unwrap();
        session.append(&result(dialect, id, "PAID")).await.unwrap();
        session.append(&spoken(dialect, "again")).await.unwrap();
        session.append(&spoken(dialect, "and again")).await.unwrap();
    }
    session
}

#[test]
fn a_switch_within_a_dialect_and_back_gives_the_original_bytes() {
    futures_executor::block_on(async {
        for provider in providers::ALL {
            let home = providers::ALL.iter().find(|other| other.fallback && other.dialect == provider.dialect).unwrap();
            let mut session = with_cycles(home.name, Policy::default()).await;
            let envelope = envelope(provider.dialect);
            // The repair for the demands of every provider of the dialect is stored before the switch.
            session.repair().await.unwrap();
            let before = kept(&session);
            let request = session.request(envelope).unwrap();
            session.switch_provider(provider.name).await.unwrap();
            let started = session.before_agent_start(envelope).await.unwrap();
            assert!(matches!(started, AgentStart::Proceed { .. }), "{}: {started:?}", provider.name);
            session.repair().await.unwrap();
            session.switch_provider(home.name).await.unwrap();
            assert_eq!(kept(&session), before, "{}", provider.name);
            assert_eq!(session.request(envelope).unwrap(), request, "{}", provider.name);
        }
    });
}

#[test]
fn only_real_moves_are_stored_unless_the_policy_stores_all() {
    futures_executor::block_on(async {
        for (persist, makes_up) in [(PersistRepairs::RealMovesOnly, false), (PersistRepairs::All, true)] {
            let config = SessionPolicy { persist_repairs: persist, ..SessionPolicy::default() };
            let mut session = with_cycles("mistral", Policy { session: config, ..Policy::default() }).await;
            let result = session.repair().await.unwrap();
            assert_eq!(result.id.is_some(), makes_up, "{persist:?}: {:?}", result.repairs);
            assert_eq!(kept(&session).concat().contains("[synthetic]"), makes_up, "{persist:?}");
            // A result before its call is moved, and nothing is made up around it.
            session.append(&result_before_call()).await.unwrap();
            session.append_all(&refs(&paying("openai_chat", &["abcdef123"]))).await.unwrap();
            session.append(&spoken("openai_chat", "next")).await.unwrap();
            let result = session.repair().await.unwrap();
            assert!(result.id.is_some(), "{persist:?}");
            assert_eq!(kept(&session).concat().contains("[synthetic]"), makes_up, "{persist:?}");
        }
    });
}

fn result_before_call() -> String {
    result("openai_chat", "abcdef123", "EARLY")
}

#[test]
fn a_system_prompt_of_the_envelope_is_recognised_in_both_spellings() {
    futures_executor::block_on(async {
        let place = memory();
        let mut session = in_dialect(&place, "openai_chat").await;
        session.append(r#"{"role":"system","content":"Be brief."}"#).await.unwrap();
        session.append(&spoken("openai_chat", "go")).await.unwrap();
        for member in ["system_instruction", "systemInstruction"] {
            let envelope = format!(r#"{{"{member}":{{"parts":[{{"text":"Be kind."}}]}}}}"#);
            let body = text(&session.request_for("gemini", &envelope).unwrap());
            let members = body.matches("system_instruction").count() + body.matches("systemInstruction").count();
            assert!(members == 1 && body.contains("Be kind.") && body.contains("Be brief."), "{body}");
        }
    });
}

/// The requests for all providers begin with the messages of the ones before.
fn assert_grows(session: &Session, before: &mut [Vec<String>], about: &str) {
    for ((provider, envelope), earlier) in asked().into_iter().zip(before) {
        let sent = messages_of(&session.request_for(provider, envelope).unwrap(), provider);
        let stable = earlier.len().saturating_sub(1);
        assert_eq!(sent.get(..stable), earlier.get(..stable), "{provider}, {about}");
        *earlier = sent;
    }
}

#[test]
fn a_later_message_does_not_change_how_open_calls_are_sent() {
    futures_executor::block_on(async {
        for dialect in dialects() {
            let place = memory();
            let mut session = in_dialect(&place, dialect).await;
            let mut before = vec![Vec::new(); asked().len()];
            session.append(&spoken(dialect, "go")).await.unwrap();
            let mut calls = paying(dialect, &["call_1"]);
            calls.extend(paying(dialect, &["call_2"]));
            session.append_all(&refs(&calls)).await.unwrap();
            assert_grows(&session, &mut before, &format!("{dialect}, open"));
            let mut cycle = paying(dialect, &["call_3"]);
            cycle.push(result(dialect, "call_3", "PAID"));
            session.append_all(&refs(&cycle)).await.unwrap();
            assert_grows(&session, &mut before, &format!("{dialect}, a cycle"));
            session.append(&spoken(dialect, "next")).await.unwrap();
            assert_grows(&session, &mut before, &format!("{dialect}, a message"));
        }
    });
}

#[test]
fn a_message_after_a_dropped_switch_is_of_the_dialect_that_it_is_stored_in() {
    futures_executor::block_on(async {
        let gemini = r#"{"role":"model","parts":[{"text":"ANSWER"}]}"#;
        for step in 0..3 {
            let place = memory();
            let made = in_dialect(&place, "gemini_generate").await;
            let silent = Faulty::new(place.store.clone(), Fault::Silent { at: 1, kept: true });
            let options = seamline::session::OpenOptions { take_over: true, ..open_options() };
            let mut session = Session::open(silent, made.id().clone(), options).await.unwrap();
            session.append(&spoken("gemini_generate", "hi")).await.unwrap();
            assert!(session.switch_provider("anthropic").now_or_never().is_none(), "the switch was not dropped");
            assert_eq!(session.dialect(), "gemini_generate");
            let _ = match step {
                0 => session.append(gemini).await,
                1 => session.append_as("gemini", gemini).await,
                _ => session.agent_end(TurnEnd::Messages(&[gemini])).await.map(drop),
            };
            assert_eq!(session.dialect(), "anthropic_messages", "{step}");
            for (provider, envelope) in asked() {
                let request = session.request_for(provider, envelope).unwrap();
                assert!(text(&request).contains(r#""ANSWER""#), "{step}, {provider}: {}", text(&request));
            }
            let own = session.entries().last().and_then(|entry| entry.dialect.clone());
            assert_eq!(own.is_none(), step == 1, "{step}");
        }
    });
}

#[test]
fn the_layout_of_a_later_message_does_not_change_earlier_ones() {
    futures_executor::block_on(async {
        for dialect in dialects() {
            let place = memory();
            let mut session = in_dialect(&place, dialect).await;
            session.append(&spoken(dialect, "go")).await.unwrap();
            session.append_all(&refs(&paying(dialect, &["call_1", "call_2"]))).await.unwrap();
            let mut before = vec![Vec::new(); asked().len()];
            session.append(&spoken(dialect, "never mind")).await.unwrap();
            assert_grows(&session, &mut before, dialect);
            let spaced = spoken(dialect, "later").replace("\":", "\" : ").replace(",\"", ", \"");
            session.append(&spaced).await.unwrap();
            assert_grows(&session, &mut before, dialect);
            session.append(&spaced).await.unwrap();
            assert_grows(&session, &mut before, dialect);
        }
    });
}

#[test]
fn a_fork_of_a_repaired_session_sends_the_same() {
    futures_executor::block_on(async {
        let place = memory();
        let mut session = in_dialect(&place, "openai_chat").await;
        session.append(&spoken("openai_chat", "go")).await.unwrap();
        // The repair rewrites both calls and both results, so one record holds two cycles with one id.
        for said in ["PAID", "PAID AGAIN"] {
            let call = r#"{"role":"assistant","content":"","tool_use":{"id":"call_1","name":"pay","input":{}}}"#;
            session.append(call).await.unwrap();
            session.append(&result("anthropic_messages", "call_1", said)).await.unwrap();
        }
        assert!(session.repair().await.unwrap().id.is_some());
        let fork = session.fork(place.name().parse().unwrap()).await.unwrap();
        assert_eq!(kept(&fork), kept(&session));
        for (provider, envelope) in asked() {
            let (one, other) = (session.request_for(provider, envelope), fork.request_for(provider, envelope));
            assert_eq!(text(&one.unwrap()), text(&other.unwrap()), "{provider}");
        }
    });
}

#[test]
fn a_late_result_behind_messages_of_another_dialect_is_rendered_with_its_call() {
    futures_executor::block_on(async {
        let place = memory();
        let mut session = in_dialect(&place, "bedrock_converse").await;
        session.append(&spoken("bedrock_converse", "go")).await.unwrap();
        session.append_all(&refs(&paying("bedrock_converse", &["c7"]))).await.unwrap();
        session.append_as("anthropic", &spoken("anthropic_messages", "between")).await.unwrap();
        let envelope = envelope("bedrock_converse");
        session.request(envelope).unwrap();
        session.append(&result("bedrock_converse", "c7", "PAID")).await.unwrap();
        let request = session.request(envelope).unwrap();
        assert_eq!(request, session.request_for("bedrock_converse", envelope).unwrap());
        assert!(text(&request).contains("PAID") && !text(&request).contains("[synthetic]"), "{}", text(&request));
    });
}
