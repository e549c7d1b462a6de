//! The catalogue of defects that a stream can have.

use crate::rules::unindent;

#[doc(inline)]
pub use seamline_assemble::{FLAWS, FlawKind};

/// The kind of flaw with this code or name. The code may be in upper or lower case.
///
/// ```
/// let kind = seamline::stream::flaw("stream006").unwrap();
/// assert_eq!(kind.name, "broken-input");
/// assert!(seamline::stream::flaw("PAIR001").is_none());
/// ```
pub fn flaw(code_or_name: &str) -> Option<&'static FlawKind> {
    FLAWS.iter().copied().find(|kind| kind.code.eq_ignore_ascii_case(code_or_name) || kind.name == code_or_name)
}

/// The documentation of a kind of flaw as Markdown.
pub fn flaw_documentation(kind: &FlawKind) -> String {
    unindent(kind.docs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::rule;

    #[test]
    fn a_flaw_is_found_by_code_and_by_name() {
        for known in FLAWS {
            assert_eq!(flaw(&known.code.to_ascii_lowercase()), Some(*known));
            assert_eq!((flaw(known.name), rule(known.name).is_none()), (Some(*known), true));
        }
    }

    #[test]
    fn documentation_starts_at_the_margin() {
        for known in FLAWS {
            assert!(flaw_documentation(known).starts_with("# What it does\n"));
        }
    }
}
