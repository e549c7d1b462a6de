//! Every break changes the body and returns the texts that it adds.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{WireBreaker, WireDamage};
use crate::{
    Dialect,
    generate::{Broken, Mangled, mangled, style},
    lossless::missing_payloads,
    render,
    strict::{self, ViolationKind},
    text::Style,
    transcript::{Block, Call, CallList, CallResult, Input, Message, Role, Transcript},
};

/// One call with its result, and texts of every role.
fn sample() -> Transcript {
    let call = Call { id: Some("A".into()), name: "search".into(), input: Input::Object(json!({"q": 1})) };
    let mut opening = Message::text(Role::Assistant, "hello");
    opening.call_list = CallList::WhenNeeded;
    let messages = vec![
        Message::text(Role::User, "go"),
        opening,
        Message::text(Role::User, "on"),
        Message::new(Role::Assistant, vec![Block::Call(call)]),
        Message::result(CallResult::new("A", "out")),
        Message::text(Role::Assistant, "done"),
    ];
    Transcript { system: None, messages }
}

fn mangle(breaker: WireBreaker, place: usize) -> Mangled {
    Mangled { broken: Broken::new(sample(), vec![]), wire: vec![WireDamage { breaker, place }] }
}

fn text(dialect: Dialect, breaker: WireBreaker) -> String {
    mangle(breaker, 0).render(dialect, Style::COMPACT).text
}

/// Breaks of a field that the other dialects do not have.
const OPENAI_ONLY: [WireBreaker; 14] = [
    WireBreaker::LegacyCall,
    WireBreaker::LegacyCallBesideEmptyList,
    WireBreaker::LegacyCallBesideCalls,
    WireBreaker::LegacyCallInstead,
    WireBreaker::LegacyCallOfUser,
    WireBreaker::CallListAsText,
    WireBreaker::CallListAsObject,
    WireBreaker::CallListAsWord,
    WireBreaker::RefusalBesideResult,
    WireBreaker::FunctionCallBesideResult,
    WireBreaker::ReasoningBesideResult,
    WireBreaker::Refusal,
    WireBreaker::ForeignPair,
    WireBreaker::BrokenArguments,
];

#[test]
fn every_break_changes_the_text_in_the_dialects_that_have_its_field() {
    for breaker in WireBreaker::ALL {
        let changes = |dialect| text(dialect, breaker) != render::render(dialect, &sample(), Style::COMPACT);
        assert!(changes(Dialect::OpenAiChat), "{breaker:?}");
        for dialect in [Dialect::AnthropicMessages, Dialect::BedrockConverse, Dialect::GeminiGenerate] {
            assert_eq!(changes(dialect), !OPENAI_ONLY.contains(&breaker), "{dialect:?} {breaker:?}");
        }
    }
}

#[test]
fn every_break_writes_its_text() {
    use WireBreaker as B;
    for (breaker, written) in [
        (
            B::LegacyCall,
            r#""content":"hello","tool_use":{"id":"legacy_0","name":"search","input":{"step":"call-l0:"}}}"#,
        ),
        (B::LegacyCallBesideEmptyList, r#""tool_calls":[],"tool_use":{"id":"legacy_0","#),
        (B::LegacyCallBesideCalls, r#""arguments":"{\"q\":1}"}}],"tool_use":{"id":"legacy_0","#),
        (
            B::LegacyCallInstead,
            r#"{"role":"assistant","content":null,"tool_use":{"id":"A","name":"search","input":{"q":1}}}"#,
        ),
        (B::LegacyCallOfUser, r#"{"role":"user","content":"go","tool_use":{"id":"legacy_0","#),
        (B::CallListAsText, r#""tool_calls":"[{\"type\":\"function\",\"id\":\"A\","#),
        (B::CallListAsObject, r#""tool_calls":{"type":"function","id":"A","#),
        (B::CallListAsWord, r#""tool_calls":"none""#),
        (B::ForeignCallKey, r#""call_id":"A""#),
        (B::ForeignResultKey, r#""toolCallId":"A""#),
        (B::NullContent, r#"{"role":"user","content":null}"#),
        (B::NumberContent, r#"{"role":"user","content":90210000}"#),
        (B::ObjectContent, r#"{"role":"user","content":{"code":0,"stdout":"object-0: held."}}"#),
        (B::NullOutput, r#"{"role":"tool","tool_call_id":"A","content":null}"#),
        (B::NumberOutput, r#"{"role":"tool","tool_call_id":"A","content":90210000}"#),
        (B::RefusalBesideResult, r#""content":"out","refusal":"aside-0: RefusalBesideResult."}"#),
        (B::RepeatedContent, r#""content":"ignored-0: draft.","content":"go""#),
        (B::RepeatedResultId, r#""tool_call_id":"ignored_0","tool_call_id":"A""#),
        (B::RepeatedRole, r#"{"role":"user","role":"user","content":"go"}"#),
        (B::EscapedKeys, r#""\u0072\u006f\u006c\u0065":"user""#),
        (B::LoneSurrogate, r#""content":"go\ud83d""#),
        (B::ByteOrderMark, "\u{feff}{"),
        (B::ForeignInput, r#""function":{"name":"search","args":"{\"q\":1}"}"#),
        (B::ForeignPair, r#""content":[{"type":"tool_use","id":"A","name":"search","input":{"q":1}}]"#),
        (B::BrokenArguments, r#""arguments":"{'step': 'broken-0: argument.'}""#),
        (B::WordsElsewhere, r#"{"role":"user","text":"go"}"#),
        (B::WordlessText, r#"{"role":"user","content":[{"text":"go"},{"type":"text","text":70310000}]}"#),
        (B::ForeignRole, r#"{"role":"human","content":"go"}"#),
        (B::ManyMembers, r#""content":"go","x_0":"","x_1":"","x_10":"""#),
    ] {
        let text = text(Dialect::OpenAiChat, breaker);
        assert!(text.contains(written), "{breaker:?}: {text}");
    }
}

#[test]
fn replaced_texts_are_not_expected_and_added_ones_are() {
    let payloads = |breaker| mangle(breaker, 0).render(Dialect::OpenAiChat, Style::COMPACT).payloads;
    assert_eq!(payloads(WireBreaker::NullContent), ["hello", "on", "out", "done"]);
    assert_eq!(payloads(WireBreaker::ObjectOutput), ["go", "hello", "on", "done", "object-0: held."]);
    assert_eq!(payloads(WireBreaker::Refusal), ["go", "hello", "on", "out", "done", "aside-0: Refusal."]);
    assert_eq!(payloads(WireBreaker::LoneSurrogate), ["go", "hello", "on", "out", "done"]);
}

#[test]
fn the_strict_check_rejects_unreadable_parts() {
    use ViolationKind as K;
    for (breaker, kind) in [
        (WireBreaker::CallListAsText, K::BadCallList),
        (WireBreaker::CallListAsWord, K::BadCallList),
        (WireBreaker::ForeignCallKey, K::BadCallId),
        (WireBreaker::ForeignResultKey, K::BadResultId),
        (WireBreaker::NumberContent, K::BadContent),
        (WireBreaker::ObjectOutput, K::BadResultContent),
        (WireBreaker::ImageInResult, K::BadResultContent),
    ] {
        let body: Value = serde_json::from_str(&text(Dialect::OpenAiChat, breaker)).unwrap();
        let kinds: Vec<_> = strict::check(Dialect::OpenAiChat, &body).iter().map(|violation| violation.kind).collect();
        assert!(kinds.contains(&kind), "{breaker:?}: {kinds:?}");
    }
}

proptest! {
    #[test]
    fn every_mangled_body_holds_its_payloads(mangled in mangled(), style in style()) {
        for dialect in Dialect::ALL {
            let body = mangled.render(dialect, style);
            // `serde_json` refuses half a character and a byte order mark.
            let Ok(read) = serde_json::from_str::<Value>(&body.text) else { continue };
            prop_assert_eq!(missing_payloads(&read, &body.payloads), Vec::<String>::new(), "{}", body.text);
        }
    }
}
