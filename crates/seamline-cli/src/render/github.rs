//! Workflow commands, which GitHub shows as annotations of lines.

use std::fmt::Write as _;

use super::lines::Lines;
use super::{Examined, Places};
use crate::failure::Failure;
use crate::screen;

/// The findings of one body.
pub(crate) fn document(examined: &Examined<'_>) -> String {
    let lines = Lines::new(examined.body);
    let mut out = String::new();
    for finding in examined.findings {
        let level = match finding.severity {
            seamline::Severity::Error => "error",
            seamline::Severity::Warning => "warning",
            seamline::Severity::Info => "notice",
        };
        let position = lines.position(finding.span.start);
        let place = match (examined.places, finding.line) {
            (Places::Body | Places::Joined, _) => format!(",line={},col={}", position.line, position.column),
            (Places::File, Some(line)) => format!(",line={line}"),
            (Places::File, None) | (Places::Records(_), _) => String::new(),
        };
        let mut message = finding.message.clone();
        if !finding.pointer.is_empty() {
            let _ = write!(message, " ({})", finding.pointer);
        }
        if let Some(predicts) = &finding.predicts {
            let _ = write!(message, "\nthe provider would return: {predicts}");
        }
        if let Some(fix) = &finding.fix {
            let _ = write!(message, "\nfix ({}): {}", fix.safety.as_str(), fix.title);
        }
        let _ = writeln!(
            out,
            "::{level} file={}{place},title={}::{}",
            property(examined.file_of(finding)),
            property(&format!("{} {}", finding.code, finding.name)),
            data(&message)
        );
    }
    out
}

/// A body that could not be read.
pub(crate) fn failed(label: &str, failure: &Failure) -> String {
    format!("::error file={},title=seamline::{}\n", property(label), data(&failure.message))
}

/// Escapes text for the place after the second pair of colons. A terminal must not obey what a body contains.
fn data(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(|line| screen::printable(line).replace('%', "%25")).collect();
    lines.join("%0A")
}

/// Escapes text for the value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_the_workflow_command() {
        let failure = Failure::new("100% wrong\n::error::me");
        assert_eq!(
            failed("a,b:c%\n.json", &failure),
            "::error file=a%2Cb%3Ac%25%0A.json,title=seamline::100%25 wrong%0A::error::me\n"
        );
    }

    #[test]
    fn a_terminal_obeys_nothing_of_a_body() {
        let said = failed("a\u{1b}[2J.json", &Failure::new("\u{1b}]0;owned\u{7}\r\u{9b}31m\u{202e}"));
        assert_eq!(said, "::error file=a␛[2J.json,title=seamline::␛]0;owned␇␍\u{fffd}31m\u{fffd}\n");
    }
}
