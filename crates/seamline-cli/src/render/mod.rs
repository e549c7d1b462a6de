//! The output of commands, by format.

pub(crate) mod align;
pub(crate) mod conversation;
pub(crate) mod conversion;
pub(crate) mod diff;
pub(crate) mod diff_rows;
mod diff_steps;
pub(crate) mod doctor;
pub(crate) mod ending;
pub(crate) mod excerpt;
pub(crate) mod fields;
pub(crate) mod file;
pub(crate) mod findings;
pub(crate) mod github;
pub(crate) mod hunks;
pub(crate) mod incidents;
pub(crate) mod json;
pub(crate) mod line_changes;
pub(crate) mod lines;
pub(crate) mod markdown;
pub(crate) mod proxy;
pub(crate) mod record;
pub(crate) mod repair;
pub(crate) mod response;
pub(crate) mod salvage;
pub(crate) mod sarif;
pub(crate) mod series;
pub(crate) mod session;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod verdict;
pub(crate) mod watch;

use record::Record;
use seamline::{Finding, Options};

/// One body that was checked.
#[derive(Clone, Copy)]
pub(crate) struct Examined<'a> {
    /// The name of the body in output.
    pub(crate) label: &'a str,
    /// The bytes of the body.
    pub(crate) body: &'a [u8],
    /// The options of the check.
    pub(crate) options: &'a Options,
    /// The findings of the check.
    pub(crate) findings: &'a [Finding],
    /// How the places of findings are named.
    pub(crate) places: Places<'a>,
}

/// How the places of findings are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Places<'a> {
    /// By line and column of the body.
    Body,
    /// By the name of the conversation: the body was joined from stored messages.
    Joined,
    /// By the line of the session file whose conversation the body is.
    File,
    /// By the record of the session whose conversation the body is: the record of line 1 is the first one.
    Records(&'a [Record]),
}

/// Makes the note about calls that may still be answered a warning: a provider rejects the body as it is. In a session the
/// results may come, so that it stays a note there.
pub(crate) fn warn_of_open_calls(findings: &mut [Finding]) {
    for finding in findings.iter_mut().filter(|finding| finding.code == "PAIR001") {
        finding.severity = finding.severity.max(seamline::Severity::Warning);
    }
}

/// How many findings there are, by severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) infos: usize,
}

impl Counts {
    pub(crate) fn of(findings: &[Finding]) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            let count = match finding.severity {
                seamline::Severity::Error => &mut counts.errors,
                seamline::Severity::Warning => &mut counts.warnings,
                seamline::Severity::Info => &mut counts.infos,
            };
            *count += 1 + finding.more;
        }
        counts
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.infos += other.infos;
    }

    /// Whether there are warnings or errors; infos do not count.
    pub(crate) fn is_wrong(self) -> bool {
        self.errors + self.warnings > 0
    }
}
