//! The findings of a check: listed up to a limit, then counted.

use seamline_model::{Fix, Place, RuleFinding, Severity};

/// The most findings of one rule and severity that are listed. The others are counted, so that a damaged body cannot
/// claim much more memory than it has bytes.
pub const LISTED_MAX: u32 = 100;

/// The fixes of counted findings of one rule that one pass of a repair applies at most, and the bytes that a body has
/// for each further one. The next passes apply the others.
const FIXES_FREE: usize = 2048;
const FIX_BYTES: usize = 512;

/// The findings of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The listed findings, in the order of the transcript.
    pub findings: Vec<RuleFinding>,
    /// The fixes of counted findings.
    pub(crate) rest: Vec<CountedFix>,
    /// Whether some fixes are left to the next pass of a repair.
    pub(crate) is_cut: bool,
}

/// The fix of a finding that is not listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CountedFix {
    pub(crate) code: &'static str,
    pub(crate) place: Place,
    pub(crate) fix: Fix,
}

impl Found {
    /// Findings that are all listed, in the order of the transcript.
    pub(crate) fn sorted(mut self, tallies: &[Tally]) -> Self {
        self.findings.sort_by_key(|finding| (finding.place.message, finding.place.span.start, finding.code));
        for tally in tallies.iter().filter(|tally| tally.more > 0) {
            let is_last = |finding: &&mut RuleFinding| tally.counts(finding.code, finding.severity);
            if let Some(last) = self.findings.iter_mut().rev().find(is_last) {
                last.more = tally.more;
            }
        }
        self
    }
}

/// How many fixes of one rule a pass applies at most to a body of so many bytes.
pub(crate) fn fixes_max(bytes: usize) -> usize {
    FIXES_FREE + bytes / FIX_BYTES
}

/// The number of findings of one rule and severity.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    code: &'static str,
    severity: Severity,
    pub(crate) listed: u32,
    pub(crate) more: u32,
    pub(crate) fixes: usize,
}

impl Tally {
    pub(crate) fn new(code: &'static str, severity: Severity) -> Self {
        Self { code, severity, listed: 0, more: 0, fixes: 0 }
    }

    pub(crate) fn counts(&self, code: &str, severity: Severity) -> bool {
        self.code == code && self.severity == severity
    }
}
