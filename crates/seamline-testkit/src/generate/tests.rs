//! Good conversations are accepted, and every break has its effect.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Breaker, Broken, Damage, broken, fit, good, style};
use crate::{
    Dialect,
    lossless::missing_payloads,
    render::render,
    strict::{self, ViolationKind},
    text::Style,
    transcript::{Block, Call, CallResult, Input, Message, Role, Transcript},
};

fn call(id: &str) -> Block {
    Block::Call(Call { id: Some(id.into()), name: "search".into(), input: Input::Object(json!({})) })
}

fn result(id: &str) -> Block {
    Block::Result(CallResult::new(id, format!("out of {id}")))
}

/// Two cycles, of one call and of two.
fn sample() -> Transcript {
    let messages = vec![
        Message::text(Role::User, "go"),
        Message::new(Role::Assistant, vec![call("A")]),
        Message::new(Role::User, vec![result("A")]),
        Message::text(Role::Assistant, "and"),
        Message::new(Role::Assistant, vec![call("B"), call("C")]),
        Message::new(Role::User, vec![result("B"), result("C")]),
        Message::text(Role::Assistant, "done"),
        Message::text(Role::User, "thanks"),
    ];
    Transcript { system: None, messages }
}

/// The violations of a transcript in a dialect.
fn kinds(dialect: Dialect, transcript: &Transcript) -> Vec<ViolationKind> {
    let text = render(dialect, transcript, Style::COMPACT);
    let body = serde_json::from_str(&text).unwrap();
    strict::check(dialect, &body).iter().map(|violation| violation.kind).collect()
}

/// The kinds of violation that one break at every place of the sample gives, at least once each.
fn kinds_of(dialect: Dialect, breaker: Breaker) -> Vec<ViolationKind> {
    let break_at = |place| Broken::new(fit(dialect, sample()), vec![Damage { breaker, place }]);
    let mut all: Vec<_> = (0..12).flat_map(|place| kinds(dialect, &break_at(place).transcript)).collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn the_sample_is_good() {
    for dialect in Dialect::ALL {
        assert_eq!(kinds(dialect, &fit(dialect, sample())), []);
    }
}

#[test]
fn every_breaker_changes_the_sample_at_every_place() {
    for breaker in Breaker::ALL {
        for place in 0..12 {
            let broken = Broken::new(sample(), vec![Damage { breaker, place }]);
            assert_ne!(broken.transcript, broken.before, "{breaker:?} at {place}");
        }
    }
}

#[test]
fn every_breaker_has_its_violation_in_anthropic() {
    use ViolationKind as K;
    let expected = [
        (Breaker::DropResult, vec![K::UnansweredCall]),
        (Breaker::DropAssistant, vec![K::OrphanResult]),
        (Breaker::RepeatResult, vec![K::DuplicateResult]),
        (Breaker::RepeatResultDiffering, vec![K::DuplicateResult]),
        (Breaker::MoveResultBeforeCall, vec![K::UnansweredCall, K::OrphanResult]),
        (Breaker::DropResultId, vec![K::UnansweredCall, K::BadResultId]),
        (Breaker::DropCallId, vec![K::OrphanResult, K::BadCallId]),
        (Breaker::Steer, vec![K::UnansweredCall, K::OrphanResult]),
        (Breaker::SplitResults, vec![K::UnansweredCall, K::OrphanResult]),
        (Breaker::TextBeforeResults, vec![K::ResultNotLeading]),
        (Breaker::EmptyMessage, vec![K::EmptyContent, K::UnansweredCall, K::OrphanResult]),
        (Breaker::IllegalId, vec![K::BadCallId, K::BadResultId]),
        (Breaker::LongId, vec![]),
        (Breaker::BadToolName, vec![K::BadToolName]),
        (Breaker::NonObjectInput, vec![K::BadInput]),
        (Breaker::EmptyCallList, vec![]),
        (Breaker::CallInWrongRole, vec![K::CallInWrongRole]),
        (Breaker::ResultInWrongRole, vec![K::ResultInWrongRole, K::UnansweredCall]),
        (Breaker::OrphanServerResult, vec![K::OrphanServerResult]),
    ];
    for (breaker, kinds) in expected {
        assert_eq!(kinds_of(Dialect::AnthropicMessages, breaker), kinds, "{breaker:?}");
    }
}

#[test]
fn every_breaker_has_its_violation_in_openai() {
    use ViolationKind as K;
    let expected = [
        (Breaker::DropResult, vec![K::UnansweredCall]),
        (Breaker::DropAssistant, vec![K::OrphanResult]),
        (Breaker::RepeatResultDiffering, vec![K::DuplicateResult]),
        (Breaker::MoveResultBeforeCall, vec![K::UnansweredCall, K::OrphanResult]),
        (Breaker::DropResultId, vec![K::UnansweredCall, K::BadResultId]),
        (Breaker::DropCallId, vec![K::OrphanResult, K::BadCallId]),
        (Breaker::ReuseCallId, vec![K::UnansweredCall, K::DuplicateCallId]),
        (Breaker::Steer, vec![K::UnansweredCall, K::OrphanResult]),
        (Breaker::SplitResults, vec![]),
        (Breaker::TextBeforeResults, vec![K::UnansweredCall, K::OrphanResult]),
        (Breaker::IllegalId, vec![]),
        (Breaker::LongId, vec![K::BadCallId, K::BadResultId]),
        (Breaker::BadToolName, vec![K::BadToolName]),
        (Breaker::NonObjectInput, vec![K::BadInput]),
        (Breaker::EmptyCallList, vec![K::EmptyCallList]),
        (Breaker::CallInWrongRole, vec![K::CallInWrongRole]),
        (Breaker::ResultInWrongRole, vec![K::UnansweredCall]),
        (Breaker::OrphanServerResult, vec![]),
    ];
    for (breaker, kinds) in expected {
        assert_eq!(kinds_of(Dialect::OpenAiChat, breaker), kinds, "{breaker:?}");
    }
}

#[test]
fn every_breaker_has_its_violation_in_responses() {
    use ViolationKind as K;
    let expected = [
        (Breaker::DropResult, vec![K::UnansweredCall]),
        (Breaker::DropAssistant, vec![K::OrphanResult]),
        (Breaker::RepeatResult, vec![K::DuplicateResult]),
        (Breaker::MoveResultLater, vec![]),
        (Breaker::MoveResultBeforeCall, vec![K::UnansweredCall, K::OrphanResult]),
        (Breaker::DropResultId, vec![K::UnansweredCall, K::BadResultId]),
        (Breaker::DropCallId, vec![K::OrphanResult, K::BadCallId]),
        (Breaker::Steer, vec![]),
        (Breaker::SplitResults, vec![]),
        (Breaker::TextBeforeResults, vec![]),
        (Breaker::IllegalId, vec![]),
        (Breaker::LongId, vec![K::BadCallId, K::BadResultId]),
        (Breaker::BadToolName, vec![K::BadToolName]),
        (Breaker::NonObjectInput, vec![K::BadInput]),
        (Breaker::EmptyCallList, vec![]),
        (Breaker::CallInWrongRole, vec![K::UnansweredCall]),
        (Breaker::ResultInWrongRole, vec![]),
        (Breaker::OrphanServerResult, vec![]),
    ];
    for (breaker, kinds) in expected {
        assert_eq!(kinds_of(Dialect::OpenAiResponses, breaker), kinds, "{breaker:?}");
    }
}

#[test]
fn every_breaker_has_its_violation_in_bedrock() {
    use ViolationKind as K;
    let expected = [
        (Breaker::DropAssistant, vec![K::OrphanResult, K::SameRole]),
        (Breaker::DropResultId, vec![K::UnansweredCall, K::BadResultId]),
        (Breaker::ReuseCallId, vec![K::UnansweredCall, K::DuplicateCallId]),
        (Breaker::Steer, vec![K::UnansweredCall, K::OrphanResult, K::SameRole]),
        (Breaker::TextBeforeResults, vec![]),
        (Breaker::IllegalId, vec![K::BadCallId, K::BadResultId]),
        (Breaker::LongId, vec![K::BadCallId, K::BadResultId]),
        (Breaker::BadToolName, vec![K::BadToolName]),
        (Breaker::NonObjectInput, vec![K::BadInput]),
        (Breaker::OrphanServerResult, vec![]),
    ];
    for (breaker, kinds) in expected {
        assert_eq!(kinds_of(Dialect::BedrockConverse, breaker), kinds, "{breaker:?}");
    }
}

#[test]
fn every_breaker_has_its_violation_in_gemini() {
    use ViolationKind as K;
    let expected = [
        (Breaker::DropAssistant, vec![K::OrphanResult, K::BadResultName]),
        (Breaker::RepeatResult, vec![K::DuplicateResult]),
        (Breaker::ReuseCallId, vec![K::UnansweredCall]),
        (Breaker::Steer, vec![K::UnansweredCall, K::OrphanResult]),
        (Breaker::IllegalId, vec![]),
        (Breaker::LongId, vec![]),
        (Breaker::BadToolName, vec![K::BadToolName]),
        (Breaker::NonObjectInput, vec![K::BadInput]),
        (Breaker::EmptyText, vec![]),
        (Breaker::EmptyMessage, vec![K::EmptyContent, K::UnansweredCall, K::OrphanResult]),
    ];
    for (breaker, kinds) in expected {
        assert_eq!(kinds_of(Dialect::GeminiGenerate, breaker), kinds, "{breaker:?}");
    }
}

#[test]
fn every_breaker_has_its_violation_in_interactions() {
    use ViolationKind as K;
    let expected = [
        (Breaker::DropResult, vec![K::UnansweredCall]),
        (Breaker::DropAssistant, vec![K::OrphanResult, K::BadResultName]),
        (Breaker::RepeatResult, vec![K::DuplicateResult]),
        (Breaker::MoveResultLater, vec![]),
        (Breaker::MoveResultBeforeCall, vec![K::UnansweredCall, K::OrphanResult, K::BadResultName]),
        (Breaker::DropResultId, vec![K::UnansweredCall, K::BadResultId, K::BadResultName]),
        (Breaker::DropCallId, vec![K::OrphanResult, K::BadCallId, K::BadResultName]),
        (Breaker::Steer, vec![]),
        (Breaker::IllegalId, vec![]),
        (Breaker::LongId, vec![]),
        (Breaker::BadToolName, vec![K::BadToolName]),
        (Breaker::NonObjectInput, vec![K::BadInput]),
        (Breaker::CallInWrongRole, vec![K::UnansweredCall]),
        (Breaker::OrphanServerResult, vec![]),
    ];
    for (breaker, kinds) in expected {
        assert_eq!(kinds_of(Dialect::GeminiInteractions, breaker), kinds, "{breaker:?}");
    }
}

#[test]
fn the_remaining_breakers_break_something() {
    use ViolationKind as K;
    let finds = |breaker, kind| kinds_of(Dialect::AnthropicMessages, breaker).contains(&kind);
    assert!(finds(Breaker::MoveResultLater, K::OrphanResult));
    assert!(finds(Breaker::MoveResultEarlier, K::OrphanResult));
    assert!(finds(Breaker::SwapResultId, K::OrphanResult));
    assert!(finds(Breaker::ReuseCallId, K::DuplicateCallId));
    assert!(finds(Breaker::EmptyText, K::EmptyText));
}

#[test]
fn breaking_an_empty_conversation_does_not_panic() {
    for breaker in Breaker::ALL {
        for messages in [Vec::new(), vec![Message::text(Role::Assistant, "hi")]] {
            let mut transcript = Transcript { system: None, messages };
            breaker.apply(&mut transcript, 3);
        }
    }
}

fn body(dialect: Dialect, transcript: &Transcript, style: Style) -> Value {
    serde_json::from_str(&render(dialect, transcript, style)).unwrap()
}

proptest! {
    #[test]
    fn good_conversations_are_accepted_in_every_dialect_and_style(transcript in good(), style in style()) {
        for dialect in Dialect::ALL {
            let transcript = fit(dialect, transcript.clone());
            prop_assert_eq!(strict::check(dialect, &body(dialect, &transcript, style)), vec![]);
        }
    }

    #[test]
    fn every_body_holds_its_payloads(broken in broken(), style in style()) {
        let payloads = broken.transcript.payloads();
        for dialect in Dialect::ALL {
            let missing = missing_payloads(&body(dialect, &broken.transcript, style), &payloads);
            prop_assert_eq!(missing, Vec::<String>::new());
        }
    }

    #[test]
    fn no_payload_of_a_good_conversation_is_part_of_another(transcript in good()) {
        let payloads = transcript.payloads();
        for (index, payload) in payloads.iter().enumerate() {
            let holders = payloads.iter().filter(|other| other.contains(payload.as_str())).count();
            prop_assert_eq!(holders, 1, "{} {}", index, payload);
        }
    }
}
