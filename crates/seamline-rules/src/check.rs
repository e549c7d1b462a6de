//! Runs every rule.

use std::sync::LazyLock;

use seamline_model::{Constraints, Transcript};

use crate::RepairPolicy;
use crate::context::Context;
use crate::found::{Found, LISTED_MAX};
use crate::rule::{Check, EachCall, EachIrregularity, EachMessage, EachResult, Report, Rule, Whole};
use crate::rules::ALL;
use crate::settled::{More, Settled};
use crate::unknown::Unknown;

/// Finds all violations of a transcript, in its order.
pub fn check(transcript: &Transcript<'_>, constraints: &Constraints, policy: &RepairPolicy) -> Found {
    found(run(&Context::new(transcript, constraints, policy)))
}

/// Finds all violations of a transcript without checking settled messages; the result is the same as that of [`check`].
/// Settles what it can for the next check, which must be for the same provider, policy and request. Messages may be
/// added and removed between the two, but those that [`Settled::needs`] stay.
pub fn check_on(
    transcript: &Transcript<'_>,
    constraints: &Constraints,
    policy: &RepairPolicy,
    settled: &mut Settled,
) -> Found {
    let (found, more) = behind(transcript, constraints, policy, settled).unwrap_or_else(|| {
        settled.clear();
        let context = Context::new(transcript, constraints, policy);
        let report = run(&context);
        let more = settled.more(&context, &report);
        (found(report), more)
    });
    if let Some(more) = more {
        settled.extend(more);
    }
    debug_assert_eq!(found, check(transcript, constraints, policy), "a check of all messages finds something else");
    found
}

/// Checks the messages after the settled ones. Returns `None` when it needs more of those than is kept.
fn behind(
    transcript: &Transcript<'_>,
    constraints: &Constraints,
    policy: &RepairPolicy,
    settled: &Settled,
) -> Option<(Found, Option<More>)> {
    if settled.needs() == 0 || settled.needs() > transcript.messages.len() {
        return None;
    }
    let context = Context::behind(transcript, constraints, policy, settled)?;
    let mut report = run(&context);
    // With many findings, those of settled messages decide which ones are listed.
    let is_long = report.findings.len() + settled.findings().len() > LISTED_MAX as usize;
    if context.asks_whole() || report.repeats_ids || is_long {
        return None;
    }
    let more = settled.more(&context, &report);
    report.findings.splice(0..0, settled.findings().iter().cloned());
    Some((found(report), more))
}

/// The findings of a report.
fn found(report: Report) -> Found {
    let Report { findings, rest, is_cut, tallies, .. } = report;
    Found { findings, rest, is_cut }.sorted(&tallies)
}

/// Runs the rules over the messages to check.
///
/// Rules about one thing at a time run together over it, and the calls and results of a message right after the
/// message: a long conversation passes through memory once and not once per rule. No rule about messages looks at one
/// that a provider may have added since; its neighbours are messages beside something unknown.
fn run(context: &Context<'_, '_>) -> Report {
    let mut report = Report::new(context);
    /// Runs the rules of one kind over one thing.
    macro_rules! run {
        ($kind:ident $(, $thing:expr)?) => {
            for (rule, check) in &RULES.$kind {
                report.enter(rule);
                check(context, $($thing,)? &mut report);
            }
        };
    }
    let mut calls = context.pairing.calls.iter().peekable();
    let mut results = context.pairing.results.iter().peekable();
    for (index, message) in context.messages() {
        if !message.is_unknown {
            run!(message, index);
        }
        while let Some(call) = calls.next_if(|state| state.call.0 < message.end_block) {
            run!(call, call);
        }
        while let Some(result) = results.next_if(|state| state.result.0 < message.end_block) {
            run!(result, result);
        }
    }
    for irregularity in &context.transcript.irregularities {
        let is_checked = irregularity.message.is_none_or(|message| message >= context.first());
        if is_checked && !report.unknown.excuses(irregularity) {
            run!(irregularity, irregularity);
        }
    }
    run!(whole);
    report.count();
    Unknown::drop_fixes(context.transcript, &mut report);
    report
}

/// The rules by their subject, each with its code.
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
