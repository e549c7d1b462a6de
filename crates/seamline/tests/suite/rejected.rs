//! A member that the provider has rejected by its name is removed; without the rejection it stays.

use std::collections::BTreeSet;

use futures_executor::block_on;
use seamline::classify::{Failure, MemberFault};
use seamline::session::{Session, SessionOptions};
use seamline::{Options, Policy, Severity, check, classify, providers, repair};

/// For each dialect a body with an unknown member, and the error that names it.
const REJECTED: [(&str, &str, &str); 6] = [
    (
        "openai_chat",
        r#"{"messages":[{"role":"user","content":"hi","mood":"good"},{"role":"assistant","content":"yes"},{"role":"user","content":"so","mood":""}]}"#,
        r#"{"error":{"message":"Unknown parameter: 'messages[0].mood'.","type":"invalid_request_error","param":"messages[0].mood","code":"unknown_parameter"}}"#,
    ),
    (
        "openai_responses",
        r#"{"input":[{"role":"user","content":"hi","mood":"good"}]}"#,
        r#"{"error":{"message":"Unknown parameter: 'input[0].mood'.","type":"invalid_request_error","param":"input[0].mood","code":"unknown_parameter"}}"#,
    ),
    (
        "anthropic_messages",
        r#"{"messages":[{"role":"user","content":"hi","mood":"good"}]}"#,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.mood: Extra inputs are not permitted"}}"#,
    ),
    (
        "gemini_generate",
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}],"mood":"good"}]}"#,
        r#"{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"mood\" at 'contents[0]': Cannot find field.","status":"INVALID_ARGUMENT"}}"#,
    ),
    (
        "gemini_interactions",
        r#"{"input":[{"type":"user_input","content":[{"type":"text","text":"hi"}],"mood":"good"}]}"#,
        r#"{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"mood\" at 'input[0]': Cannot find field.","status":"INVALID_ARGUMENT"}}"#,
    ),
    (
        "bedrock_converse",
        r#"{"messages":[{"role":"user","content":[{"text":"hi"}],"mood":"good"}]}"#,
        r#"{"message":"messages.0.mood: Extra inputs are not permitted"}"#,
    ),
];

#[test]
fn a_member_that_the_provider_has_rejected_is_removed_in_every_dialect() {
    let dialects: BTreeSet<&str> = REJECTED.iter().map(|(dialect, ..)| *dialect).collect();
    assert_eq!(dialects, providers::dialect_names().into_iter().collect());
    for (dialect, body, text) in REJECTED {
        let mut options = Options { dialect: Some(dialect.to_owned()), ..Options::default() };
        let kept = repair(body.as_bytes(), &options).unwrap();
        assert!(!kept.is_changed(), "{dialect}: {:?}", kept.actions);
        assert!(kept.found.iter().all(|finding| finding.severity == Severity::Info), "{dialect}: {:?}", kept.found);

        let verdict = classify(&Failure { dialect: Some(dialect), text, ..Failure::default() });
        assert_eq!(verdict.members.first().map(|member| member.fault), Some(MemberFault::Unknown), "{dialect}");
        options.policy.reject_members(&verdict.members);
        assert!(!check(body.as_bytes(), &options).unwrap().is_accepted(), "{dialect}");
        let repaired = repair(body.as_bytes(), &options).unwrap();
        assert!(repaired.remaining.is_empty(), "{dialect}: {:?}", repaired.remaining);
        let new = String::from_utf8(repaired.body.to_vec()).unwrap();
        assert_eq!(new, body.replace(r#","mood":"good""#, "").replace(r#","mood":"""#, ""), "{dialect}");
        assert!(repaired.dropped.iter().any(|dropped| dropped.source.contains("mood")), "{dialect}");
        assert!(!repair(new.as_bytes(), &options).unwrap().is_changed(), "{dialect}");
    }
}

#[test]
fn an_error_about_another_member_or_a_setting_removes_nothing() {
    let body = br#"{"messages":[{"role":"user","content":"hi","mood":"good"}]}"#;
    for text in [
        "Unknown parameter: 'messages[0].tone'.",
        "Unknown parameter: 'mood'.",
        "Missing required parameter: 'messages[0].mood'.",
    ] {
        let mut options = Options { dialect: Some("openai_chat".to_owned()), ..Options::default() };
        options.policy.reject_members(&classify(&Failure { text, ..Failure::default() }).members);
        assert!(!repair(body, &options).unwrap().is_changed(), "{text}");
    }
}

const CHAT: &str = r#"{"model":"gpt-5","messages":[{"role":"user","content":[{"type":"text","text":"a","fut":1}],"mm":2},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","foo":1,"function":{"name":"f","arguments":"{}","bar":2}}]},{"role":"tool","tool_call_id":"c1","content":"ok"}],"top":1,"tools":[{"type":"function","tx":1,"function":{"name":"f","parameters":{},"fx":1}}]}"#;
const MESSAGES: &str = r#"{"model":"claude-sonnet-4-5","max_tokens":5,"messages":[{"role":"user","content":[{"type":"text","text":"a","fut":1}],"mm":2},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{},"uu":1}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"z","in":1}],"rr":1}]}],"top":1,"tools":[{"name":"f","input_schema":{"type":"object"},"tx":1}],"system":[{"type":"text","text":"s","sx":1}]}"#;
const RESPONSES: &str = r#"{"model":"gpt-5","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a","fut":1}],"mm":1},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}","xx":1},{"type":"function_call_output","call_id":"c1","output":"o","yy":1},{"type":"future_item","zz":1}]}"#;
const GEMINI: &str = r#"{"contents":[{"role":"user","parts":[{"text":"a","fut":1}],"mm":1},{"role":"model","parts":[{"functionCall":{"name":"f","args":{},"foo":1}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{},"bar":1}}]}]}"#;

/// A body with unknown members, the error that names one of them, and the text that goes.
fn places() -> Vec<(&'static str, String, &'static str)> {
    let chat = |place: &str| format!("Unknown parameter: '{place}'.");
    let pydantic = |place: &str| format!("{place}: Extra inputs are not permitted");
    let proto = |key: &str, place: &str| {
        format!("Invalid JSON payload received. Unknown name \"{key}\" at '{place}': Cannot find field.")
    };
    vec![
        (CHAT, chat("messages[0].content[0].fut"), r#","fut":1"#),
        (CHAT, chat("messages[0].mm"), r#","mm":2"#),
        (CHAT, chat("messages[1].tool_calls[0].foo"), r#","foo":1"#),
        (CHAT, chat("messages[1].tool_calls[0].function.bar"), r#","bar":2"#),
        (CHAT, chat("top"), r#","top":1"#),
        (CHAT, chat("tools[0].tx"), r#","tx":1"#),
        (CHAT, chat("tools[0].function.fx"), r#","fx":1"#),
        (MESSAGES, pydantic("messages.0.content.0.text.fut"), r#","fut":1"#),
        (MESSAGES, pydantic("messages.0.mm"), r#","mm":2"#),
        (MESSAGES, pydantic("messages.1.content.0.tool_use.uu"), r#","uu":1"#),
        (MESSAGES, pydantic("messages.2.content.0.tool_result.rr"), r#","rr":1"#),
        (MESSAGES, pydantic("messages.2.content.0.tool_result.content.0.text.in"), r#","in":1"#),
        (MESSAGES, pydantic("top"), r#","top":1"#),
        (MESSAGES, pydantic("tools.0.custom.tx"), r#","tx":1"#),
        (MESSAGES, pydantic("system.0.sx"), r#","sx":1"#),
        (RESPONSES, chat("input[0].content[0].fut"), r#","fut":1"#),
        (RESPONSES, chat("input[0].mm"), r#","mm":1"#),
        (RESPONSES, chat("input[1].xx"), r#","xx":1"#),
        (RESPONSES, chat("input[2].yy"), r#","yy":1"#),
        (RESPONSES, chat("input[3].zz"), r#","zz":1"#),
        (GEMINI, proto("fut", "contents[0].parts[0]"), r#","fut":1"#),
        (GEMINI, proto("mm", "contents[0]"), r#","mm":1"#),
        (GEMINI, proto("foo", "contents[1].parts[0].function_call"), r#","foo":1"#),
        (GEMINI, proto("bar", "contents[2].parts[0].function_response"), r#","bar":1"#),
    ]
}

#[test]
fn a_rejected_member_is_removed_from_every_place_that_an_error_can_name() {
    for (body, text, gone) in places() {
        for preset in [Policy::default(), Policy::preset("clawos").unwrap()] {
            let mut options = Options { policy: preset, ..Options::default() };
            let members = classify(&Failure { status: Some(400), text: &text, ..Failure::default() }).members;
            options.policy.reject_members(&members);
            let repaired = repair(body.as_bytes(), &options).unwrap();
            let new = String::from_utf8(repaired.body.to_vec()).unwrap();
            assert_eq!(new, body.replace(gone, ""), "{text}");
            assert!(repaired.dropped.iter().any(|dropped| gone.contains(&dropped.source)), "{text}");
            assert!(!repair(new.as_bytes(), &options).unwrap().is_changed(), "{text}");
        }
    }
}

#[test]
fn neighbouring_rejected_members_go_together() {
    let body = br#"{"messages":[{"a":1,"b":2,"role":"user","content":"hi"}],"a":1,"b":2}"#;
    let text = "Unrecognized request arguments supplied: a, b";
    let mut options = Options { dialect: Some("openai_chat".to_owned()), ..Options::default() };
    options.policy.reject_members(&classify(&Failure { text, ..Failure::default() }).members);
    let repaired = repair(body, &options).unwrap();
    assert_eq!(&*repaired.body, br#"{"messages":[{"a":1,"b":2,"role":"user","content":"hi"}]}"#);
}

#[test]
fn members_that_the_request_needs_stay() {
    for place in
        ["messages[0].role", "messages[1].tool_calls[0].id", "messages[1].tool_calls[0].function.name", "model"]
    {
        let text = format!("Unknown parameter: '{place}'.");
        let mut options = Options::default();
        options.policy.reject_members(&classify(&Failure { text: &text, ..Failure::default() }).members);
        assert!(!repair(CHAT.as_bytes(), &options).unwrap().is_changed(), "{place}");
    }
}

#[test]
fn a_session_removes_a_member_that_the_provider_named() {
    block_on(async {
        let store = seamline::open_store("memory:").await.unwrap();
        let options = SessionOptions { dialect: Some("openai_chat".to_owned()), ..SessionOptions::default() };
        let mut session = Session::create(store, "s-1".parse().unwrap(), options).await.unwrap();
        for message in [
            r#"{"role":"user","content":"go"}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","foo":1,"function":{"name":"f","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"c1","content":"ok"}"#,
        ] {
            session.append(message).await.unwrap();
        }
        let body = |session: &mut Session| String::from_utf8(session.request("{}").unwrap().body).unwrap();
        assert!(body(&mut session).contains("foo"));
        // The request had a system message before those of the session.
        let text = "Unknown parameter: 'messages[2].tool_calls[0].foo'.";
        session.handle_error(&Failure { status: Some(400), text, ..Failure::default() }).await.unwrap();
        assert!(!body(&mut session).contains("foo"), "{}", body(&mut session));
    });
}
