//! Damaged records that stay as they are, because each is a row or a file of its own.

use super::repair::RepairedFile;
use crate::Finding;

/// Takes the fixes off that only lines of a file have.
pub(super) fn unmendable(findings: &mut [Finding]) {
    for finding in findings.iter_mut().filter(|finding| is_line_damage(finding)) {
        finding.fix = None;
    }
}

pub(super) fn without_mending(mut repaired: RepairedFile<'_>) -> RepairedFile<'_> {
    unmendable(&mut repaired.found);
    unmendable(&mut repaired.remaining);
    repaired.actions.retain(|action| !LINES.contains(&action.code));
    repaired
}

/// Whether a finding is about a damaged line.
pub(super) fn is_line_damage(finding: &Finding) -> bool {
    LINES.contains(&finding.code)
}

/// The codes of damaged lines. A row that is not JSON stays as it is: its program may still find parts of it.
const LINES: [&str; 6] = ["FILE001", "FILE002", "FILE003", "FILE004", "FILE005", "FILE006"];
