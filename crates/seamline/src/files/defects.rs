//! The catalogue of defects that a session file can have.

use seamline_files::session::Weight;

use crate::Severity;
use crate::rules::unindent;

#[doc(inline)]
pub use seamline_files::session::{DEFECTS, DefectKind};

/// The kind of defect with this code or name. The code may be in upper or lower case.
///
/// ```
/// let kind = seamline::files::defect("file001").unwrap();
/// assert_eq!((kind.name, seamline::files::defect("glued-records")), ("glued-records", Some(kind)));
/// assert!(seamline::files::defect("PAIR001").is_none());
/// ```
pub fn defect(code_or_name: &str) -> Option<&'static DefectKind> {
    DEFECTS.iter().copied().find(|kind| kind.code.eq_ignore_ascii_case(code_or_name) || kind.name == code_or_name)
}

/// The severity of a kind of defect.
///
/// ```
/// let kind = seamline::files::defect("FILE001").unwrap();
/// assert_eq!(seamline::files::defect_severity(kind), seamline::Severity::Error);
/// ```
pub fn defect_severity(kind: &DefectKind) -> Severity {
    match kind.weight {
        Weight::Error => Severity::Error,
        Weight::Warning => Severity::Warning,
        Weight::Note => Severity::Info,
    }
}

/// The documentation of a kind of defect as Markdown.
///
/// ```
/// let kind = seamline::files::defect("FILE001").unwrap();
/// assert!(seamline::files::defect_documentation(kind).contains("# Why is this bad?"));
/// ```
pub fn defect_documentation(kind: &DefectKind) -> String {
    unindent(kind.docs)
}

/// Describes a kind of defect in one sentence.
///
/// ```
/// let kind = seamline::files::defect("FILE003").unwrap();
/// assert_eq!(seamline::files::defect_summary(kind), "Reports a run of NUL bytes.");
/// ```
pub fn defect_summary(kind: &DefectKind) -> String {
    let said = kind.docs.lines().map(str::trim).skip_while(|line| line.is_empty() || line.starts_with('#'));
    let text = said.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    match text.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::rule;
    use crate::stream::flaw;

    #[test]
    fn a_defect_is_found_by_code_and_by_name_and_by_no_other_catalogue() {
        for known in DEFECTS {
            assert_eq!(defect(&known.code.to_ascii_lowercase()), Some(*known));
            assert_eq!(defect(known.name), Some(*known));
            assert!(rule(known.name).is_none() && flaw(known.name).is_none(), "{}", known.name);
        }
    }
}
