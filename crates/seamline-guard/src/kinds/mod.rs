//! What can go wrong, by name: what it means and what to do about it. Which provider says it
//! in which words is in `errors/`.

pub(crate) mod content;
pub(crate) mod pairing;
pub(crate) mod reasoning;
pub(crate) mod service;
pub(crate) mod shape;

/// What an error asks of whoever got it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The conversation breaks the provider's grammar: repair it, check it, and send it once
    /// more. The same bytes get the same error.
    Corruption,
    /// The moment was wrong: send the same bytes again, later.
    Transient,
    /// The account, the request's settings or something unknown: a person has to look.
    Fatal,
    /// The content was refused: the same content is refused again.
    Filter,
    /// The conversation is too long: make it shorter.
    Overflow,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 5] = [Self::Corruption, Self::Transient, Self::Fatal, Self::Filter, Self::Overflow];

    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Corruption => "corruption",
            Self::Transient => "transient",
            Self::Fatal => "fatal",
            Self::Filter => "filter",
            Self::Overflow => "overflow",
        }
    }
}

/// One thing that can go wrong, whoever says it.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// Our name for it, such as `unanswered-call`.
    pub name: &'static str,
    /// What it asks of whoever got it.
    pub class: Class,
    /// Codes of the rules that find it in a body, the likeliest first.
    pub rules: &'static [&'static str],
    /// What it means, in a sentence.
    pub meaning: &'static str,
    /// What to do, in a sentence.
    pub advice: &'static str,
}

/// What to do about a conversation that a repair can put right.
const REPAIR: &str = "repair the conversation and send it once more; the same bytes get the same error";

const fn corruption(
    name: &'static str,
    rules: &'static [&'static str],
    meaning: &'static str,
    advice: &'static str,
) -> Kind {
    Kind { name, class: Class::Corruption, rules, meaning, advice }
}

const fn transient(name: &'static str, meaning: &'static str, advice: &'static str) -> Kind {
    Kind { name, class: Class::Transient, rules: &[], meaning, advice }
}

const fn fatal(name: &'static str, meaning: &'static str, advice: &'static str) -> Kind {
    Kind { name, class: Class::Fatal, rules: &[], meaning, advice }
}
