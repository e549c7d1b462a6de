//! The signs of content filters and refusals in responses: data, one file per family of providers. Error texts are in
//! `errors/`.

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

/// A place in a response that shows a filter.
#[derive(Debug)]
pub(crate) struct Sign {
    /// The source of the sign.
    pub(crate) source: &'static str,
    /// Its path in the response; `*` is every element of a list and every member of an object.
    pub(crate) at: &'static str,
    /// The value that shows a filter.
    pub(crate) is: Is,
    /// The part that was filtered.
    pub(crate) part: FilteredPart,
    /// Where the category of the content is.
    pub(crate) category: Beside,
    /// Where the provider's sentence about it is.
    pub(crate) said: Beside,
    /// Whether a retry may pass: the filter checked the sampled response and not the request.
    pub(crate) may_pass: bool,
}

/// The value of a sign.
#[derive(Debug)]
pub(crate) enum Is {
    /// A stop reason of any provider with this meaning.
    Stop(Stop),
    /// One of the listed words.
    Word(&'static [&'static str]),
    /// Any word except these and the empty one.
    AnyWordBut(&'static [&'static str]),
    /// One of the listed numbers.
    Number(&'static [i64]),
    /// The value `true`.
    True,
}

/// A place relative to a sign.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Beside {
    /// The response does not have it.
    Nowhere,
    /// The value of the sign itself.
    Itself,
    /// The name of the object that holds the sign.
    Name,
    /// Another member of the object that holds the sign.
    Member(&'static str),
    /// The value at this path of the response.
    At(&'static str),
}

/// The signs of all families. An earlier one is more specific than a later one.
pub(crate) const FAMILIES: [&[Sign]; 11] = [
    anthropic::SIGNS,
    azure::SIGNS,
    openrouter::SIGNS,
    gemini::SIGNS,
    bedrock::SIGNS,
    minimax::SIGNS,
    zhipu::SIGNS,
    cohere::SIGNS,
    // The signs of all compatible servers.
    openai_chat::SIGNS,
    openai_responses::SIGNS,
    foreign::SIGNS,
];

/// Makes a sign without a category and a sentence.
const fn sign(source: &'static str, at: &'static str, is: Is, part: FilteredPart) -> Sign {
    Sign { source, at, is, part, category: Beside::Nowhere, said: Beside::Nowhere, may_pass: false }
}
