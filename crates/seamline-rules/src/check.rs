//! Running every rule.

use std::sync::LazyLock;

use seamline_model::{Constraints, Finding, Transcript};

use crate::RepairPolicy;
use crate::context::Context;
use crate::rule::{Check, EachCall, EachIrregularity, EachMessage, EachResult, Report, Rule, Whole};
use crate::rules::ALL;

/// Everything that is wrong with a transcript, in the order of the transcript.
///
/// Rules about one thing at a time are run together over it, and the calls and results of
/// a message right after the message: a long conversation goes through memory once and
/// not once per rule.
pub fn check(transcript: &Transcript<'_>, constraints: &Constraints, policy: &RepairPolicy) -> Vec<Finding> {
    let context = Context::new(transcript, constraints, policy);
    let mut report = Report::default();
    /// Runs the rules of one kind over one thing.
    macro_rules! run {
        ($kind:ident $(, $thing:expr)?) => {
            for (rule, check) in &RULES.$kind {
                report.enter(rule);
                check(&context, $($thing,)? &mut report);
            }
        };
    }
    let mut calls = context.pairing.calls.iter().peekable();
    let mut results = context.pairing.results.iter().peekable();
    for (index, message) in transcript.enumerate() {
        run!(message, index);
        while let Some(call) = calls.next_if(|state| state.call.0 < message.end_block) {
            run!(call, call);
        }
        while let Some(result) = results.next_if(|state| state.result.0 < message.end_block) {
            run!(result, result);
        }
    }
    for irregularity in &transcript.irregularities {
        run!(irregularity, irregularity);
    }
    run!(whole);
    report.findings.sort_by_key(|finding| (finding.place.message, finding.place.span.start, finding.code));
    report.findings
}

/// The rules by what they look at, each with its code.
#[derive(Default)]
struct Rules {
    message: Vec<(&'static Rule, EachMessage)>,
    call: Vec<(&'static Rule, EachCall)>,
    result: Vec<(&'static Rule, EachResult)>,
    irregularity: Vec<(&'static Rule, EachIrregularity)>,
    whole: Vec<(&'static Rule, Whole)>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let mut rules = Rules::default();
    for &rule in ALL {
        match rule.check {
            Check::Message(check) => rules.message.push((rule, check)),
            Check::Call(check) => rules.call.push((rule, check)),
            Check::Result(check) => rules.result.push((rule, check)),
            Check::Irregularity(check) => rules.irregularity.push((rule, check)),
            Check::Whole(check) => rules.whole.push((rule, check)),
        }
    }
    rules
});
