//! The patterns of all known errors, compiled once and looked for together.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::errors::{FAMILIES, Family};
use crate::known::{Known, Weight};

/// An error that fits a text, before it is known whether it fits best.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) family: &'static Family,
    pub(crate) known: &'static Known,
    /// Its place among all known errors, in the order of families and files.
    pub(crate) index: usize,
}

struct Patterns {
    set: RegexSet,
    candidates: Vec<Candidate>,
    /// Each compiled when it is first needed by itself.
    single: Vec<OnceLock<Option<Regex>>>,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let entries = FAMILIES.iter().flat_map(|&family| family.errors.iter().map(move |known| (family, known)));
    let candidates: Vec<_> =
        entries.enumerate().map(|(index, (family, known))| Candidate { family, known, index }).collect();
    let texts: Vec<_> = candidates.iter().map(|candidate| text(candidate.known)).collect();
    // A test compiles every pattern, so that what is taken here is never the empty set.
    let set = RegexSetBuilder::new(&texts).unicode(false).build().unwrap_or_else(|_| RegexSet::empty());
    let single = candidates.iter().map(|_| OnceLock::new()).collect();
    Patterns { set, candidates, single }
});

/// All errors that fit a text.
pub(crate) fn fitting(text: &str) -> impl Iterator<Item = Candidate> {
    let matched = PATTERNS.set.matches(text.as_bytes());
    PATTERNS.candidates.iter().copied().filter(move |candidate| matched.matched(candidate.index))
}

/// Where in a text an error stands that fits it.
pub(crate) fn find(candidate: Candidate, view: &str) -> Option<Range<usize>> {
    let cell = PATTERNS.single.get(candidate.index)?;
    let regex = cell.get_or_init(|| compile(&text(candidate.known)));
    regex.as_ref()?.find(view.as_bytes()).map(|found| found.range())
}

/// A pattern of ASCII text; `None` if it is not one.
pub(crate) fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).build().ok()
}

/// The pattern as it is looked for.
fn text(known: &Known) -> String {
    match known.weight {
        Weight::Sentence | Weight::Broad | Weight::Wrapper => known.pattern.to_owned(),
        // A word that means something to machines stands by itself: alone, in quotes, or
        // before the colon that ends a title. In the middle of prose it means nothing.
        Weight::Code | Weight::Sort => {
            format!(r#"(?:^ ?|["'(\[<=]|: |- |\. ?)(?:{})(?: ?$|["')\]>,;:]| - )"#, known.pattern)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for (name, known) in crate::all() {
            assert!(compile(&text(known)).is_some(), "{name} {}", known.source);
        }
        assert_eq!(PATTERNS.set.len(), PATTERNS.candidates.len());
    }

    #[test]
    fn a_code_stands_by_itself() {
        let sources = |text: &str| fitting(text).map(|found| found.known.source).collect::<Vec<_>>();
        for text in [
            "insufficient_quota",
            r#"{"code":"insufficient_quota"}"#,
            "{'code': 'insufficient_quota'}",
            "Error: insufficient_quota",
            "An error occurred (insufficient_quota) when calling",
            "insufficient_quota: add credit",
        ] {
            assert_eq!(sources(text), ["OAC-19"], "{text}");
        }
        assert!(sources("the branch insufficient_quota_fix failed").is_empty());
        assert!(sources("we saw insufficient_quota in the log").is_empty());
    }
}
