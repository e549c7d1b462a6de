//! A member that the provider has rejected by its name is removed; without the rejection it stays.

use seamline::classify::{Failure, MemberFault};
use seamline::{Options, Severity, check, classify, repair};

/// For each dialect a body with an unknown member, and the error that names it.
const REJECTED: [(&str, &str, &str); 5] = [
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
        "bedrock_converse",
        r#"{"messages":[{"role":"user","content":[{"text":"hi"}],"mood":"good"}]}"#,
        r#"{"message":"messages.0.mood: Extra inputs are not permitted"}"#,
    ),
];

#[test]
fn a_member_that_the_provider_has_rejected_is_removed_in_every_dialect() {
    for (dialect, body, text) in REJECTED {
        let mut options = Options { dialect: Some(dialect.to_owned()), ..Options::default() };
        let kept = repair(body.as_bytes(), &options).unwrap();
        assert!(!kept.changed(), "{dialect}: {:?}", kept.actions);
        assert!(kept.found.iter().all(|finding| finding.severity == Severity::Info), "{dialect}: {:?}", kept.found);

        let verdict = classify(&Failure { dialect: Some(dialect), text, ..Failure::default() });
        assert_eq!(verdict.members.first().map(|member| member.fault), Some(MemberFault::Unknown), "{dialect}");
        options.policy.reject_members(&verdict.members);
        assert!(!check(body.as_bytes(), &options).unwrap().accepted(), "{dialect}");
        let repaired = repair(body.as_bytes(), &options).unwrap();
        assert!(repaired.remaining.is_empty(), "{dialect}: {:?}", repaired.remaining);
        let new = String::from_utf8(repaired.body.to_vec()).unwrap();
        assert_eq!(new, body.replace(r#","mood":"good""#, "").replace(r#","mood":"""#, ""), "{dialect}");
        assert!(repaired.dropped.iter().any(|dropped| dropped.source.contains("mood")), "{dialect}");
        assert!(!repair(new.as_bytes(), &options).unwrap().changed(), "{dialect}");
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
        assert!(!repair(body, &options).unwrap().changed(), "{text}");
    }
}
