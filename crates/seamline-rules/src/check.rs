//! Running every rule.

use seamline_model::{Constraints, Finding, Transcript};

use crate::Policy;
use crate::context::Context;
use crate::rule::{Check, Report};
use crate::rules::ALL;

/// Everything that is wrong with a transcript, in the order of the transcript.
///
/// Rules about one thing at a time are run together over it: a long conversation goes
/// through memory once per kind of thing and not once per rule.
pub fn check(transcript: &Transcript<'_>, constraints: &Constraints, policy: &Policy) -> Vec<Finding> {
    let context = Context::new(transcript, constraints, policy);
    let mut report = Report::default();
    /// Runs the rules of one kind over each of `$things`.
    macro_rules! run_over {
        ($kind:ident, $things:expr) => {
            let rules: Vec<_> = ALL
                .iter()
                .filter_map(|rule| match rule.check {
                    Check::$kind(check) => Some((*rule, check)),
                    _ => None,
                })
                .collect();
            for thing in $things {
                for (rule, check) in &rules {
                    report.enter(rule);
                    check(&context, thing, &mut report);
                }
            }
        };
    }
    run_over!(Message, transcript.enumerate().map(|(index, _)| index));
    run_over!(Call, &context.pairing.calls);
    run_over!(Result, &context.pairing.results);
    run_over!(Irregularity, &transcript.irregularities);
    for rule in ALL {
        if let Check::Whole(check) = rule.check {
            report.enter(rule);
            check(&context, &mut report);
        }
    }
    report.findings.sort_by_key(|finding| (finding.place.message, finding.place.span.start, finding.code));
    report.findings
}
