//! Running every rule.

use seamline_model::{Constraints, Finding, Transcript};

use crate::context::Context;
use crate::rule::Report;
use crate::rules::ALL;
use crate::{Policy, Rule};

/// Everything that is wrong with a transcript, in the order of the transcript.
pub fn check(transcript: &Transcript<'_>, constraints: &Constraints, policy: &Policy) -> Vec<Finding> {
    let context = Context::new(transcript, constraints, policy);
    let first: &'static Rule = ALL[0];
    let mut report = Report::new(first);
    for rule in ALL {
        report.enter(rule);
        (rule.check)(&context, &mut report);
    }
    report.findings.sort_by_key(|finding| (finding.place.message, finding.place.span.start));
    report.findings
}
