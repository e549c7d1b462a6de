//! Reads reasoning, for which every server has another name (CMP-11).

use std::borrow::Cow;

use seamline_model::{Addition, Piece};

use super::{Reader, places};
use crate::frames::{Sink, add, add_text, words, words_of};
use crate::json::{Kind, Value};

/// The members that reasoning comes in, those first that count before others. The last is a list.
pub(in super::super) const MEMBERS: [&str; 6] =
    ["reasoning_content", "reasoning", "reasoning_text", "thinking", "tool_plan", DETAILS];

/// The member that holds details of reasoning, which are sent back unchanged.
pub(in super::super) const DETAILS: &str = "reasoning_details";

/// The members of one message that may hold reasoning.
#[derive(Default)]
pub(super) struct Reasoning<'d, 'a>([Option<Value<'d, 'a>>; MEMBERS.len()]);

impl<'d, 'a> Reasoning<'d, 'a> {
    /// Notes a member if it holds reasoning, and says whether it does.
    pub(super) fn takes(&mut self, name: &str, value: Value<'d, 'a>) -> bool {
        let Some(at) = MEMBERS.iter().position(|member| *member == name) else {
            return false;
        };
        let is_list = *name == *DETAILS && value.is(Kind::Array);
        let takes = is_list || value.is(Kind::String) || value.is(Kind::Null);
        if takes {
            self.0[at] = Some(value);
        }
        takes
    }
}

impl Reader {
    /// Takes the reasoning of one message. Servers that send it under two names repeat it, so only the first that is not
    /// empty counts.
    pub(super) fn reasoning(&mut self, reasoning: &Reasoning<'_, '_>, is_whole: bool, sink: Sink<'_>) {
        for details in reasoning.0.iter().flatten().filter(|value| value.is(Kind::Array)) {
            self.details(*details, is_whole, sink);
        }
        let told = reasoning.0.iter().zip(0..).find_map(|(value, at)| Some(((*value)?, text((*value)?)?, at)));
        let Some((value, text, at)) = told else { return };
        let place = places::REASONING + at;
        self.begin(place, Piece::Reasoning, sink);
        match value.kind() {
            Kind::String => add_text(sink, place, value, is_whole),
            _ if is_whole => add(sink, place, Addition::WholeText(&text)),
            _ => add(sink, place, Addition::Text(&text)),
        }
    }

    /// Keeps the details as they are, besides what they say.
    fn details(&mut self, details: Value<'_, '_>, is_whole: bool, sink: Sink<'_>) {
        if details.elements().next().is_some() {
            self.member(DETAILS, details, is_whole, sink);
        }
    }
}

/// Reads the text of a member: a string, or the texts in a list of details.
fn text<'a>(value: Value<'_, 'a>) -> Option<Cow<'a, str>> {
    if value.is(Kind::String) {
        return words(value);
    }
    let mut texts = value
        .elements()
        .filter_map(Value::object)
        .filter_map(|detail| words_of(detail, "text").or_else(|| words_of(detail, "summary")));
    let first = texts.next()?;
    Some(texts.fold(first, |all, text| all + text))
}
