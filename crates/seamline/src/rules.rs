//! The catalogue of rules.
//!
//! ```
//! use seamline::rules;
//!
//! let rule = rules::rule("pair001").unwrap();
//! assert_eq!((rule.name, rule.group), ("unanswered-call", rules::Group::Pairing));
//! assert!(rules::documentation(rule).contains("# Why is this bad?"));
//! assert!(rules::rule("no-such-rule").is_none());
//! ```

/// The catalogue of rules.
#[doc(inline)]
pub use seamline_rules::ALL as RULES;

#[doc(inline)]
pub use seamline_rules::{Group, Rule};

/// The rule with this code or name. The code may be in upper or lower case.
pub fn rule(code_or_name: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code.eq_ignore_ascii_case(code_or_name) || rule.name == code_or_name)
}

/// The codes of the rules whose findings this crate treats in a special way.
pub(crate) mod codes {
    pub(crate) const UNANSWERED_CALL: &str = "PAIR001";
    pub(crate) const ORPHAN_RESULT: &str = "PAIR002";
    pub(crate) const DISPLACED_RESULT: &str = "PAIR004";
    pub(crate) const MISADDRESSED_RESULT: &str = "PAIR005";
    pub(crate) const REPEATED_CALL_ID: &str = "IDENT003";
    pub(crate) const CONSECUTIVE_ROLES: &str = "SHAPE003";
    pub(crate) const UNEXPECTED_ROLE: &str = "ORDER003";
    pub(crate) const UNSIGNED_CALL: &str = "REASON007";
}

/// The documentation of a rule as Markdown.
pub fn documentation(rule: &Rule) -> String {
    unindent(rule.docs)
}

/// Removes the blank that a doc comment has after its slashes.
pub(crate) fn unindent(docs: &str) -> String {
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
    }

    #[test]
    fn a_named_code_is_that_of_the_rule_of_that_name() {
        let named = [
            (codes::UNANSWERED_CALL, "unanswered-call"),
            (codes::ORPHAN_RESULT, "orphan-result"),
            (codes::DISPLACED_RESULT, "displaced-result"),
            (codes::MISADDRESSED_RESULT, "misaddressed-result"),
            (codes::REPEATED_CALL_ID, "repeated-call-id"),
            (codes::CONSECUTIVE_ROLES, "consecutive-roles"),
            (codes::UNEXPECTED_ROLE, "unexpected-role"),
            (codes::UNSIGNED_CALL, "unsigned-call"),
        ];
        for (code, name) in named {
            assert_eq!(rule(code).map(|rule| rule.name), Some(name));
        }
    }

    #[test]
    fn documentation_starts_at_the_margin() {
        for known in RULES {
            assert!(documentation(known).starts_with("# What it does\n"));
        }
    }
}
