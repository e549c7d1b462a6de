//! The kinds of errors: their meaning and what to do. The texts of each provider are in `errors/`.

pub(crate) mod content;
pub(crate) mod pairing;
pub(crate) mod reasoning;
pub(crate) mod service;
pub(crate) mod shape;

/// The class of an error: what the caller has to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The conversation breaks the provider's grammar: repair it, check it, and send it once. The same bytes get the same
    /// error.
    Corruption,
    /// The failure is temporary: send the same bytes again later.
    Transient,
    /// The account, a setting of the request or an unknown cause: a person has to act.
    Fatal,
    /// A filter blocked the content: it blocks the same content again.
    Filter,
    /// The conversation is too long: shorten it.
    Overflow,
}

impl Class {
    /// All classes, in order.
    pub const ALL: [Self; 5] = [Self::Corruption, Self::Transient, Self::Fatal, Self::Filter, Self::Overflow];

    /// Returns its name in output.
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

/// A kind of error, the same for all providers.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// The name of the kind, such as `unanswered-call`.
    pub name: &'static str,
    /// The class of the error, which says how the caller reacts to it.
    pub class: Class,
    /// The codes of the rules that find it in a body, the likeliest first.
    pub rules: &'static [&'static str],
    /// The meaning of the error, in a sentence.
    pub meaning: &'static str,
    /// The advice to the caller, in a sentence.
    pub advice: &'static str,
    /// Whether the provider rejects the reasoning in the message that the error names and in all later ones; in all
    /// messages where it names none.
    pub rejects_reasoning: bool,
    /// The codes of the rules whose demand the error proves, also where the provider is not known to have it.
    pub proves: &'static [&'static str],
}

impl Kind {
    /// A kind without words, whose fields others take over.
    const PLAIN: Self = Self {
        name: "",
        class: Class::Fatal,
        rules: &[],
        meaning: "",
        advice: "",
        rejects_reasoning: false,
        proves: &[],
    };

    /// The same kind, which also says that the provider rejects reasoning. Without it, a turn with calls may lack the
    /// reasoning that thinking demands.
    const fn rejecting_reasoning(self) -> Self {
        Self { rejects_reasoning: true, proves: &["REASON002"], ..self }
    }

    /// The same kind, which also proves the demand that its rules are about.
    const fn proving(self) -> Self {
        Self { proves: self.rules, ..self }
    }
}

/// The advice for a conversation that a repair can fix.
const REPAIR: &str = "repair the conversation and send it again; the same bytes get the same error";

const fn corruption(
    name: &'static str,
    rules: &'static [&'static str],
    meaning: &'static str,
    advice: &'static str,
) -> Kind {
    Kind { name, class: Class::Corruption, rules, meaning, advice, ..Kind::PLAIN }
}

const fn transient(name: &'static str, meaning: &'static str, advice: &'static str) -> Kind {
    Kind { name, class: Class::Transient, meaning, advice, ..Kind::PLAIN }
}

const fn fatal(name: &'static str, meaning: &'static str, advice: &'static str) -> Kind {
    Kind { name, meaning, advice, ..Kind::PLAIN }
}
