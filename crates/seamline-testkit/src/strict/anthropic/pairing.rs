//! Calls and their results, which must be in the next message.
//!
//! Adjacent assistant messages are one run, from the first with a call to the last with a call: Anthropic merges
//! consecutive messages of a role (ANT-11), and it accepted recorded requests with such runs.

use serde_json::Value;

use crate::strict::{Violation, ViolationKind, wire};

/// Adds every unanswered call, orphan, duplicate and misplaced result.
pub(super) fn check(messages: &[Value], violations: &mut Vec<Violation>) {
    let mut index = 0;
    while index < messages.len() {
        let end = run_end(messages, index);
        if end == index {
            check_orphans(messages, index, violations);
            index += 1;
            continue;
        }
        let calls = calls_of(messages, index..end);
        check_unique(&calls, violations);
        if messages.get(end).is_some_and(|next| wire::role(next) == "user") {
            check_answers(calls, messages, end, violations);
            index = end + 1;
        } else {
            violations.extend(calls.iter().map(Call::unanswered));
            index = end;
        }
    }
}

struct Call<'a> {
    message: usize,
    id: &'a str,
    answered: bool,
}

impl Call<'_> {
    fn unanswered(&self) -> Violation {
        Violation { message: self.message, kind: ViolationKind::UnansweredCall }
    }
}

fn run_end(messages: &[Value], start: usize) -> usize {
    let calls = |message: &Value| wire::blocks(message).iter().any(|block| wire::kind(block) == "tool_use");
    let said = messages[start..].iter().take_while(|message| wire::role(message) == "assistant").count();
    if said == 0 || !calls(&messages[start]) {
        return start;
    }
    let last = messages[start..start + said].iter().rposition(calls);
    last.map_or(start, |last| start + last + 1)
}

/// Calls without an id are skipped: no result can answer them, and their shape is already a violation.
fn calls_of(messages: &[Value], run: std::ops::Range<usize>) -> Vec<Call<'_>> {
    run.flat_map(|message| wire::blocks(&messages[message]).iter().map(move |block| (message, block)))
        .filter(|(_, block)| wire::kind(block) == "tool_use")
        .filter_map(|(message, block)| Some(Call { message, id: wire::string(block, "id")?, answered: false }))
        .collect()
}

/// ANT-8, among the calls that are open together.
fn check_unique(calls: &[Call], violations: &mut Vec<Violation>) {
    for (index, call) in calls.iter().enumerate() {
        if calls[..index].iter().any(|earlier| earlier.id == call.id) {
            violations.push(Violation { message: call.message, kind: ViolationKind::DuplicateCallId });
        }
    }
}

/// ANT-5, ANT-6, ANT-7, ANT-9.
fn check_answers(mut calls: Vec<Call>, messages: &[Value], at: usize, violations: &mut Vec<Violation>) {
    for id in result_ids(&messages[at]) {
        if let Some(call) = calls.iter_mut().find(|call| call.id == id && !call.answered) {
            call.answered = true;
        } else if calls.iter().any(|call| call.id == id) {
            violations.push(Violation { message: at, kind: ViolationKind::DuplicateResult });
        } else {
            violations.push(Violation { message: at, kind: ViolationKind::OrphanResult });
        }
    }
    if !results_lead(&messages[at]) {
        violations.push(Violation { message: at, kind: ViolationKind::ResultNotLeading });
    }
    violations.extend(calls.iter().filter(|call| !call.answered).map(Call::unanswered));
}

/// ANT-6, if no call is open. For results outside of a user message the violation is the wrong role.
fn check_orphans(messages: &[Value], at: usize, violations: &mut Vec<Violation>) {
    if wire::role(&messages[at]) == "user" {
        let orphan = Violation { message: at, kind: ViolationKind::OrphanResult };
        violations.extend(result_ids(&messages[at]).map(|_| orphan));
    }
}

fn result_ids(message: &Value) -> impl Iterator<Item = &str> {
    let results = wire::blocks(message).iter().filter(|block| wire::kind(block) == "tool_result");
    results.filter_map(|block| wire::string(block, "tool_use_id"))
}

fn results_lead(message: &Value) -> bool {
    let is_result = |block: &&Value| wire::kind(block) == "tool_result";
    // A block of another type that names a call may be a result, too.
    let may_lead = |block: &&Value| is_result(block) || wire::string(block, "tool_use_id").is_some();
    !wire::blocks(message).iter().skip_while(may_lead).any(|block| is_result(&block))
}
