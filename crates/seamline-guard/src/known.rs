//! A known error text.

use crate::errors;
use crate::kinds::Kind;

/// A known error text of a provider.
///
/// If several fit a text, the one with the most weight is used. If their weight is equal, one of the provider's own family
/// is used, then one of its dialect, then any other; within a family, the first one in its file.
#[derive(Debug, PartialEq, Eq)]
pub struct Known {
    /// The source of the text, such as `ANT-6`.
    pub source: &'static str,
    /// The usual status of the error; 200 inside streams and complete responses.
    pub usual_status: Option<u16>,
    /// The kind of the error.
    pub kind: &'static Kind,
    pub(crate) weight: Weight,
    pub(crate) pattern: &'static str,
    /// Whether the error is permanent, so that it does not match where the provider says when to retry.
    pub(crate) is_final: bool,
}

/// How specific an error text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// Words of a program that forwards another error; the inner error says more.
    Wrapper,
    /// Words of many programs that also occur in prose: they count only if the text says nothing else.
    Plain,
    /// Words that many programs use.
    Broad,
    /// A machine-readable word for several causes, such as `rate_limit_error`.
    Sort,
    /// A machine-readable word for one cause.
    Code,
    /// The provider's own sentence about one cause.
    Sentence,
}

impl Known {
    /// Whether the text names one cause, and not a group of causes.
    pub fn is_specific(&self) -> bool {
        self.weight >= Weight::Code
    }

    /// Makes the error permanent: it matches only if the provider does not say when to retry. Google uses OpenAI's text
    /// for an account without credit for a limit per minute too, and then says how long to wait.
    pub(crate) const fn for_good(self) -> Self {
        Self { is_final: true, ..self }
    }
}

/// Returns every known error with the name of its family of providers.
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

/// Makes an error with a code. `pattern` is one word, or several separated by `|`; `patterns.rs` says where a code may
/// occur.
pub(crate) const fn code(source: &'static str, usual_status: u16, kind: &'static Kind, pattern: &'static str) -> Known {
    Known { source, usual_status: Some(usual_status), kind, weight: Weight::Code, pattern, is_final: false }
}

/// Makes an error like [`code`], with a word for several causes.
pub(crate) const fn sort(source: &'static str, usual_status: u16, kind: &'static Kind, pattern: &'static str) -> Known {
    Known { source, usual_status: Some(usual_status), kind, weight: Weight::Sort, pattern, is_final: false }
}

/// Makes an error that counts only if the status does not contradict it.
pub(crate) const fn broad(source: &'static str, kind: &'static Kind, pattern: &'static str) -> Known {
    Known { source, usual_status: None, kind, weight: Weight::Broad, pattern, is_final: false }
}

/// Makes an error like [`broad`], with words that also occur in prose. They count only if the text says nothing else; see
/// `patterns.rs`.
pub(crate) const fn plain(source: &'static str, kind: &'static Kind, pattern: &'static str) -> Known {
    Known { source, usual_status: None, kind, weight: Weight::Plain, pattern, is_final: false }
}

/// Makes an error like [`broad`] that is at best a guess.
pub(crate) const fn wrapper(source: &'static str, kind: &'static Kind, pattern: &'static str) -> Known {
    Known { source, usual_status: None, kind, weight: Weight::Wrapper, pattern, is_final: false }
}
