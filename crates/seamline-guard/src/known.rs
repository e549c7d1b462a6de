//! One error a provider is known to answer with.

use crate::errors;
use crate::kinds::Kind;

/// One error a provider is known to answer with.
///
/// When several fit a text, the one with the most weight counts; of equal weight one of the
/// provider's own family, then one of the dialect's, then one of any other; of one family
/// the one that stands first in its file.
#[derive(Debug, PartialEq, Eq)]
pub struct Known {
    /// Where it is known from, such as `ANT-6`.
    pub source: &'static str,
    /// The status it usually comes with; 200 inside streams and finished answers.
    pub usual_status: Option<u16>,
    /// What it means.
    pub kind: &'static Kind,
    pub(crate) weight: Weight,
    pub(crate) pattern: &'static str,
    /// Whether what it says holds for good, so that it is not meant where the provider says when
    /// to come back.
    pub(crate) is_final: bool,
}

/// How much an error text says about its cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// Words of a program that hands another's error on; what it wraps says more.
    Wrapper,
    /// Words of many programs and of people too: they count only where nothing else is said.
    Plain,
    /// Words of many programs.
    Broad,
    /// A machine-readable word for a whole sort of causes, such as `rate_limit_error`.
    Sort,
    /// A machine-readable word for one cause.
    Code,
    /// The provider's own sentence about one cause.
    Sentence,
}

impl Known {
    /// Whether the text says what is wrong in the provider's own words, rather than with a
    /// word that covers many causes.
    pub fn is_specific(&self) -> bool {
        self.weight >= Weight::Code
    }

    /// The same where the provider does not say when to come back. Google says of a limit per
    /// minute what OpenAI says of an account without credit, and then says how long to wait.
    pub(crate) const fn for_good(self) -> Self {
        Self { is_final: true, ..self }
    }
}

/// Every known error, with the name of the family of providers it is known from.
pub fn all() -> impl Iterator<Item = (&'static str, &'static Known)> {
    errors::FAMILIES.iter().flat_map(|family| family.errors.iter().map(|known| (family.name, known)))
}

pub(crate) const fn sentence(
    source: &'static str,
    usual_status: u16,
    kind: &'static Kind,
    pattern: &'static str,
) -> Known {
    Known { source, usual_status: Some(usual_status), kind, weight: Weight::Sentence, pattern, is_final: false }
}

/// `pattern` is a word or several with `|` between them; where such a word may stand is the
/// same for all, see `patterns.rs`.
pub(crate) const fn code(source: &'static str, usual_status: u16, kind: &'static Kind, pattern: &'static str) -> Known {
    Known { source, usual_status: Some(usual_status), kind, weight: Weight::Code, pattern, is_final: false }
}

/// As [`code`], for a word that covers many causes.
pub(crate) const fn sort(source: &'static str, usual_status: u16, kind: &'static Kind, pattern: &'static str) -> Known {
    Known { source, usual_status: Some(usual_status), kind, weight: Weight::Sort, pattern, is_final: false }
}

/// Counts only where the status does not say otherwise.
pub(crate) const fn broad(source: &'static str, kind: &'static Kind, pattern: &'static str) -> Known {
    Known { source, usual_status: None, kind, weight: Weight::Broad, pattern, is_final: false }
}

/// As [`broad`], for words that people say as well. They count where they are all that is said;
/// where that may stand is the same for all, see `patterns.rs`.
pub(crate) const fn plain(source: &'static str, kind: &'static Kind, pattern: &'static str) -> Known {
    Known { source, usual_status: None, kind, weight: Weight::Plain, pattern, is_final: false }
}

/// As [`broad`], and a guess at best.
pub(crate) const fn wrapper(source: &'static str, kind: &'static Kind, pattern: &'static str) -> Known {
    Known { source, usual_status: None, kind, weight: Weight::Wrapper, pattern, is_final: false }
}
