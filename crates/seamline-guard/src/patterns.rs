//! The patterns of all known errors, compiled once and searched together.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::errors::{FAMILIES, Family};
use crate::known::{Known, Weight};

/// A known error that fits a text, perhaps among others.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) family: &'static Family,
    pub(crate) known: &'static Known,
    /// Its index among all known errors, in the order of families and files.
    pub(crate) index: usize,
}

struct Patterns {
    set: RegexSet,
    candidates: Vec<Candidate>,
    /// The single patterns, each compiled on first use.
    single: Vec<OnceLock<Option<Regex>>>,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let entries = FAMILIES.iter().flat_map(|&family| family.errors.iter().map(move |known| (family, known)));
    let candidates: Vec<_> =
        entries.enumerate().map(|(index, (family, known))| Candidate { family, known, index }).collect();
    let texts: Vec<_> = candidates.iter().map(|candidate| text(candidate.known)).collect();
    // A test compiles every pattern, so the empty set is never used.
    let set = RegexSetBuilder::new(&texts).unicode(false).build().unwrap_or_else(|_| RegexSet::empty());
    let single = candidates.iter().map(|_| OnceLock::new()).collect();
    Patterns { set, candidates, single }
});

/// Returns all known errors that fit a text.
pub(crate) fn fitting(text: &str) -> impl Iterator<Item = Candidate> {
    let matched = PATTERNS.set.matches(text.as_bytes());
    PATTERNS.candidates.iter().copied().filter(move |candidate| matched.matched(candidate.index))
}

/// Finds a known error in a text that it fits.
pub(crate) fn find(candidate: Candidate, view: &str) -> Option<Range<usize>> {
    let cell = PATTERNS.single.get(candidate.index)?;
    let regex = cell.get_or_init(|| compile(&text(candidate.known)));
    regex.as_ref()?.find(view.as_bytes()).map(|found| found.range())
}

/// Compiles a pattern of ASCII text; `None` if it is not valid.
pub(crate) fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).build().ok()
}

/// Returns the regular expression of a known error.
fn text(known: &Known) -> String {
    match known.weight {
        Weight::Sentence | Weight::Broad | Weight::Wrapper => known.pattern.to_owned(),
        // A code counts only by itself: alone, in quotes, or before the colon of a title. In prose it means nothing.
        Weight::Code | Weight::Sort => {
            format!(r#"(?:^ ?|["'(\[<=]|: |- |\. ?)(?:{})(?: ?$|["')\]>,;:]| - )"#, known.pattern)
        }
        Weight::Plain => {
            let pattern = known.pattern;
            let said = format!(r"(?:(?:{BEFORE}|{TALK}):? )*(?:{pattern})(?:,? \(?(?:{AFTER}|{TALK})\)?)*\.?");
            format!(r#"(?i)(?:{BEGINS}{said}{ENDS}|^ ?["']+{said}["']+ ?$)"#)
        }
    }
}

/// Where a whole statement can begin: at the start of the text, of a string, of an element of a page, or after a title.
const BEGINS: &str = r#"(?:^ ?|[\[{(,:=] ?[bu]?["']+|>|: |- |\()"#;
/// Where a whole statement can end.
const ENDS: &str = r#"(?: ?$|["']+ ?(?:$|[,}\])])|<|:(?: [^\d ]|$)|;|\)| - | at [\w.<>]+ \(|\. )"#;
/// The words of programs about failed connections. A sentence with any other word counts as prose.
const TALK: &str = r#"the|a|an|this|your|our|error|exception|failed|failure|unexpected(?:ly)?|unknown|internal|os error|i/o|io|tcp|tls|ssl|dns|https?(?:/[\d.]+)?|http2|h2|api|client|server|upstream|gateway|proxy|backend|host|remote|peer|end|socket|connection|connect|stream|sse|chunk(?:ed)?|response|request|call|operation|fetch|query|message|body|headers?|content|data|bytes|events?|read(?:ing)?|writ(?:e|ing)|send(?:ing)?|sent|receiv(?:e|ed|ing)|recv|handshake|network|transport|session|idle|model|provider|status|code|url|size|line|context|by|from|of|on|in|for|with|without|while|when|before|after|during|because|until|and|or|not|awaiting|wait(?:ing)?|closed?|closing|reset|refused|abort(?:ed)?|cancell?ed|terminat(?:ed|ion)|(?:dis)?connect(?:ed|ing|ion)?|dropped|lost|ended|(?:in)?complete(?:d|ly)?|completion|exceeded|expired|time-?out|timed|out|time|seconds?|secs?|minutes?|milliseconds?|ms|deadline|temporarily|[\d.:]+(?:m?s|m)?|[\w-]+(?:\.[\w-]+)+(?::\d+)?|(?:https?|wss?)://[^"' ]*"#;
/// More such words that come before the failure.
const BEFORE: &str = "is|was|were|has|have|been|due|to|getaddrinfo|syscall|caused|fatal";
/// More such words that come after the failure.
const AFTER: &str = "please|try|retry|again|later|reason|errno:?|id|name|resolution|temporary";

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
    fn a_code_counts_only_by_itself() {
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

    #[test]
    fn words_of_prose_count_only_as_a_whole_statement() {
        let is_known = |text: &str| fitting(text).any(|found| found.known.weight == Weight::Plain);
        for text in [
            "socket hang up",
            "Error: read ECONNRESET at TLSWrap.onStreamRead (node:internal/stream_base_commons:217:20)",
            "TypeError: terminated",
            r#"{"message":"Request timed out."}"#,
            "APIConnectionError('Connection error.')",
            "The request timed out after 600 seconds. Please try again later.",
            "net/http: request canceled (Client.Timeout exceeded while awaiting headers)",
            "('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
            "<h1>Bad Gateway</h1>",
        ] {
            assert!(is_known(text), "{text}");
        }
        for text in [
            "The connection closed while the filter was being replaced.",
            "timeout: 30",
            r#"{"timeout":30}"#,
            "the timeout is 30 seconds",
            "\"terminated\" is what the report says",
            "he called a timeout",
        ] {
            assert!(!is_known(text), "{text}");
        }
    }
}
