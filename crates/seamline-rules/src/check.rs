//! Running every rule.

use seamline_model::{Constraints, Finding, Transcript};

use crate::context::Context;
use crate::rule::{Check, Report};
use crate::rules::ALL;
use crate::{Policy, Rule};

/// Everything that is wrong with a transcript, in the order of the transcript.
pub fn check(transcript: &Transcript<'_>, constraints: &Constraints, policy: &Policy) -> Vec<Finding> {
    let context = Context::new(transcript, constraints, policy);
    let mut report = Report::new(ALL[0]);
    let run = |select: fn(&Check) -> bool| -> Vec<&'static Rule> {
        ALL.iter().copied().filter(|rule| select(&rule.check)).collect()
    };
    let messages = run(|check| matches!(check, Check::Message(_)));
    for (index, _) in transcript.enumerate() {
        for rule in &messages {
            report.enter(rule);
            if let Check::Message(check) = rule.check {
                check(&context, index, &mut report);
            }
        }
    }
    let calls = run(|check| matches!(check, Check::Call(_)));
    for state in &context.pairing.calls {
        for rule in &calls {
            report.enter(rule);
            if let Check::Call(check) = rule.check {
                check(&context, state, &mut report);
            }
        }
    }
    let results = run(|check| matches!(check, Check::Result(_)));
    for state in &context.pairing.results {
        for rule in &results {
            report.enter(rule);
            if let Check::Result(check) = rule.check {
                check(&context, state, &mut report);
            }
        }
    }
    for rule in ALL {
        if let Check::Whole(check) = rule.check {
            report.enter(rule);
            check(&context, &mut report);
        }
    }
    report.findings.sort_by_key(|finding| (finding.place.message, finding.place.span.start, finding.code));
    report.findings
}
