//! Every short conversation over a small alphabet.
//!
//! Almost every mistake in pairing shows up in a conversation of a few messages, so trying all short ones finds more than
//! random generation.

use serde_json::json;

use crate::{
    Dialect, render,
    text::Style,
    transcript::{Block, Call, CallResult, Input, Message, Role, Transcript},
};

/// One message of the alphabet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The user sends a text.
    UserText,
    /// The assistant sends a text.
    AssistantText,
    /// The assistant calls `A`.
    CallA,
    /// The assistant calls `A` and `B`.
    CallAB,
    /// A result for `A`.
    ResultA,
    /// A result for `B`.
    ResultB,
    /// A result for `Z`, which has no call.
    ResultZ,
}

impl Kind {
    /// The whole alphabet, in a fixed order.
    pub const ALL: [Self; 7] =
        [Self::UserText, Self::AssistantText, Self::CallA, Self::CallAB, Self::ResultA, Self::ResultB, Self::ResultZ];
}

/// Every conversation of one to `max_len` messages, shorter ones first.
pub fn transcripts(max_len: u32) -> impl Iterator<Item = Vec<Kind>> {
    (1..=max_len).flat_map(|len| (0..Kind::ALL.len().pow(len)).map(move |number| spell(number, len)))
}

/// The text of the request body that holds these messages, compact. Each result has a message of its own.
///
/// In dialects with optional ids there are no ids; the tools have the names `A` and `B` instead.
pub fn render(dialect: Dialect, kinds: &[Kind]) -> String {
    let mut transcript = transcript(kinds);
    if dialect.row().has_optional_ids {
        let blocks = transcript.messages.iter_mut().flat_map(|message| &mut message.blocks);
        blocks.for_each(forget_id);
    }
    render::render(dialect, &transcript, Style::COMPACT)
}

/// Replaces the id of a call by the name of its tool.
fn forget_id(block: &mut Block) {
    match block {
        Block::Call(call) => call.name = call.id.take().unwrap_or_default(),
        Block::Result(result) => result.name = result.id.take(),
        _ => {}
    }
}

/// The texts of these messages, each once: `user-0`, `assistant-1`, `result-2` and so on by position.
pub fn payloads(kinds: &[Kind]) -> Vec<String> {
    transcript(kinds).payloads()
}

/// These messages as a transcript.
pub fn transcript(kinds: &[Kind]) -> Transcript {
    let messages = kinds.iter().enumerate().map(|(index, kind)| message(index, *kind)).collect();
    Transcript { system: None, messages }
}

/// The conversation whose letters are the digits of `number`, the first message most significant.
fn spell(number: usize, len: u32) -> Vec<Kind> {
    let base = Kind::ALL.len();
    (0..len).rev().map(|digit| Kind::ALL[number / base.pow(digit) % base]).collect()
}

fn message(index: usize, kind: Kind) -> Message {
    let result = |id: &str| Message::result(CallResult::new(id, format!("result-{index}")));
    match kind {
        Kind::UserText => Message::text(Role::User, format!("user-{index}")),
        Kind::AssistantText => Message::text(Role::Assistant, format!("assistant-{index}")),
        Kind::CallA => Message::new(Role::Assistant, vec![call(index, "A")]),
        Kind::CallAB => Message::new(Role::Assistant, vec![call(index, "A"), call(index, "B")]),
        Kind::ResultA => result("A"),
        Kind::ResultB => result("B"),
        Kind::ResultZ => result("Z"),
    }
}

fn call(index: usize, id: &str) -> Block {
    let input = Input::Object(json!({"step": format!("call-{index}-{id}:")}));
    Block::Call(Call { id: Some(id.into()), name: render::TOOL_NAMES[0].into(), input })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Kind, payloads, render, transcripts};
    use crate::{Dialect, lossless::missing_payloads, strict};

    #[test]
    fn the_count_is_the_number_of_words_over_the_alphabet() {
        let counts = [1, 2, 3, 6].map(|max_len| transcripts(max_len).count());
        assert_eq!(counts, [7, 56, 399, 137_256]);
    }

    #[test]
    fn all_transcripts_differ_and_short_ones_come_first() {
        let all: Vec<_> = transcripts(4).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert!(all.is_sorted_by_key(Vec::len));
        assert_eq!(all[0], [Kind::UserText]);
        assert_eq!(all.last().unwrap(), &[Kind::ResultZ; 4]);
    }

    #[test]
    fn every_body_holds_its_payloads() {
        for kinds in transcripts(4) {
            for dialect in Dialect::ALL {
                let body = serde_json::from_str(&render(dialect, &kinds)).unwrap();
                assert_eq!(missing_payloads(&body, &payloads(&kinds)), Vec::<String>::new(), "{kinds:?}");
            }
        }
    }

    #[test]
    fn the_strict_check_accepts_the_number_counted_by_hand() {
        let accepted = |dialect| {
            let clean = |kinds: &Vec<Kind>| {
                let body = serde_json::from_str(&render(dialect, kinds)).unwrap();
                strict::check(dialect, &body).is_empty()
            };
            transcripts(3).filter(clean).collect::<Vec<_>>()
        };
        let anthropic = accepted(Dialect::AnthropicMessages);
        let openai = accepted(Dialect::OpenAiChat);
        // Text only: 2 + 4 + 8. One cycle of `A`: alone, and with a text before or after it: 1 + 2 + 2.
        assert_eq!(anthropic.len(), 19);
        // The same, and both orders of a batch, whose results need two messages.
        assert_eq!(openai.len(), 21);
        let batch = |first, second| vec![Kind::CallAB, first, second];
        assert!(openai.contains(&batch(Kind::ResultA, Kind::ResultB)));
        assert!(openai.contains(&batch(Kind::ResultB, Kind::ResultA)));
    }

    #[test]
    fn a_body_is_the_same_text_every_time() {
        let kinds = [Kind::UserText, Kind::CallA, Kind::ResultA];
        let expected = concat!(
            r#""messages":[{"role":"user","content":"user-0"},{"role":"assistant","content":[{"type":"tool_use","id":"A","#,
            r#""name":"read_file","input":{"step":"call-1-A:"}}]},{"role":"user","content":[{"type":"tool_result","#,
            r#""tool_use_id":"A","content":"result-2"}]}]}"#,
        );
        assert!(render(Dialect::AnthropicMessages, &kinds).ends_with(expected));
    }
}
