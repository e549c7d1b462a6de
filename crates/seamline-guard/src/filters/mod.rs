//! Where content filters and refusals show in an answer, one file per family of providers:
//! data, no code. What they say instead of an answer is in `errors/`.

mod anthropic;
mod azure;
mod bedrock;
mod cohere;
mod foreign;
mod gemini;
mod minimax;
mod openai_chat;
mod openai_responses;
mod openrouter;
mod zhipu;

use seamline_model::Stop;

use crate::filter::FilteredPart;

/// One place in an answer where a filter shows.
#[derive(Debug)]
pub(crate) struct Sign {
    /// Where it is known from.
    pub(crate) source: &'static str,
    /// Where it stands in the answer; `*` is every element of a list and every member of an object.
    pub(crate) at: &'static str,
    /// What stands there when something was filtered.
    pub(crate) is: Is,
    /// What was filtered.
    pub(crate) part: FilteredPart,
    /// Where the sort of content stands that was filtered.
    pub(crate) category: Beside,
    /// Where the provider's sentence about it stands.
    pub(crate) said: Beside,
    /// Whether another answer to the same request may pass: the filter looked at what was
    /// sampled, and not at what was asked.
    pub(crate) may_pass: bool,
}

/// What stands in an answer.
#[derive(Debug)]
pub(crate) enum Is {
    /// A word that means this where an answer ends, whoever says it.
    Stop(Stop),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any word but these and the empty one.
    AnyWordBut(&'static [&'static str]),
    /// One of these numbers.
    Number(&'static [i64]),
    /// `true`.
    True,
}

/// Where something stands, seen from a sign.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Beside {
    /// Nowhere.
    Nowhere,
    /// It is the sign itself.
    Itself,
    /// It is the name of the object that the sign is a member of.
    Name,
    /// It is another member of the object that the sign is a member of.
    Member(&'static str),
    /// It stands at this place of the answer.
    At(&'static str),
}

/// All of them. An earlier one says more than a later one.
pub(crate) const FAMILIES: [&[Sign]; 11] = [
    anthropic::SIGNS,
    azure::SIGNS,
    openrouter::SIGNS,
    gemini::SIGNS,
    bedrock::SIGNS,
    minimax::SIGNS,
    zhipu::SIGNS,
    cohere::SIGNS,
    // What all compatible servers have.
    openai_chat::SIGNS,
    openai_responses::SIGNS,
    foreign::SIGNS,
];

/// A sign that says nothing but what was filtered.
const fn sign(source: &'static str, at: &'static str, is: Is, part: FilteredPart) -> Sign {
    Sign { source, at, is, part, category: Beside::Nowhere, said: Beside::Nowhere, may_pass: false }
}
