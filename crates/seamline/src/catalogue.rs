//! The catalogues of rules and stream flaws, by code or name.

use crate::{FLAWS, FlawKind};

/// The catalogue of rules.
///
/// ```
/// assert!(seamline::RULES.iter().any(|rule| rule.code == "PAIR001"));
/// ```
#[doc(inline)]
pub use seamline_rules::ALL as RULES;

/// One rule of the catalogue.
///
/// ```
/// let rule: &seamline::Rule = seamline::rule("PAIR001").unwrap();
/// println!("{} {}: {}", rule.code, rule.name, rule.summary());
/// ```
#[doc(inline)]
pub use seamline_rules::Rule;

/// The group that a rule belongs to.
///
/// ```
/// assert_eq!(seamline::rule("PAIR001").unwrap().group, seamline::Group::Pairing);
/// ```
#[doc(inline)]
pub use seamline_rules::Group;

/// Finds the rule with this code or name; the code in any case.
///
/// ```
/// let rule = seamline::rule("pair001").unwrap();
/// assert_eq!(rule.name, "unanswered-call");
/// assert!(seamline::rule("no-such-rule").is_none());
/// ```
pub fn rule(code_or_name: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code.eq_ignore_ascii_case(code_or_name) || rule.name == code_or_name)
}

/// Finds the kind of stream flaw with this code or name; the code in any case.
///
/// ```
/// let kind = seamline::flaw("stream006").unwrap();
/// assert_eq!(kind.name, "broken-input");
/// assert!(seamline::flaw("PAIR001").is_none());
/// ```
pub fn flaw(code_or_name: &str) -> Option<&'static FlawKind> {
    FLAWS.iter().copied().find(|kind| kind.code.eq_ignore_ascii_case(code_or_name) || kind.name == code_or_name)
}

/// Returns the documentation of a rule as Markdown.
///
/// ```
/// let rule = seamline::rule("unanswered-call").unwrap();
/// assert!(seamline::documentation(rule).contains("# Why is this bad?"));
/// ```
pub fn documentation(rule: &Rule) -> String {
    unindented(rule.docs)
}

/// Returns the documentation of a kind of flaw as Markdown.
///
/// ```
/// let kind = seamline::flaw("two-inputs").unwrap();
/// assert!(seamline::flaw_documentation(kind).contains("# How it is handled"));
/// ```
pub fn flaw_documentation(kind: &FlawKind) -> String {
    unindented(kind.docs)
}

/// Removes the space that a doc comment keeps after its slashes.
fn unindented(docs: &str) -> String {
    let lines: Vec<_> = docs.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_found_by_code_and_by_name() {
        for known in RULES {
            let lower = known.code.to_ascii_lowercase();
            assert_eq!(rule(&lower).map(|rule| rule.code), Some(known.code));
            assert_eq!(rule(known.name).map(|rule| rule.code), Some(known.code));
        }
        assert!(rule("PAIR999").is_none());
        for known in FLAWS {
            assert_eq!(flaw(&known.code.to_ascii_lowercase()), Some(*known));
            assert_eq!((flaw(known.name), rule(known.name).is_none()), (Some(*known), true));
        }
    }

    #[test]
    fn documentation_starts_at_the_margin() {
        for known in RULES {
            assert!(documentation(known).starts_with("# What it does\n"));
        }
        for known in FLAWS {
            assert!(flaw_documentation(known).starts_with("# What it does\n"));
        }
    }
}
