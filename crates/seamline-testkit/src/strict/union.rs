//! Calls and results of dialects whose blocks are named by a member, such as `toolUse`.

use serde_json::Value;

use super::{Violation, ViolationKind};

/// The calls and results of one message, each with its key if it has one.
pub(super) struct Turn<'a> {
    pub(super) from_model: bool,
    pub(super) calls: Vec<Option<&'a str>>,
    pub(super) results: Vec<Option<&'a str>>,
}

/// How the provider expects the results of neighbouring messages with calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Neighbours {
    /// One message holds the results of all.
    Together,
    /// Each message with calls has its own message with results.
    Apart,
}

/// Adds every unanswered call, orphan and duplicate result.
pub(super) fn check_pairs(turns: &[Turn], neighbours: Neighbours, violations: &mut Vec<Violation>) {
    let mut index = 0;
    while index < turns.len() {
        let most = if neighbours == Neighbours::Together { usize::MAX } else { 1 };
        let calling = |turn: &&Turn| turn.from_model && !turn.calls.is_empty();
        let end = index + turns[index..].iter().take(most).take_while(calling).count();
        let answers = turns.get(end).filter(|turn| !turn.from_model);
        check_run(turns, index..end, answers.map(|_| end), violations);
        index = if end > index && answers.is_none() { end } else { end + 1 };
    }
}

fn check_run(turns: &[Turn], run: std::ops::Range<usize>, answer: Option<usize>, violations: &mut Vec<Violation>) {
    let mut open: Vec<(usize, &str, bool)> = Vec::new();
    for message in run {
        open.extend(turns[message].calls.iter().flatten().map(|key| (message, *key, false)));
    }
    for key in answer.into_iter().flat_map(|at| turns[at].results.iter().flatten()) {
        let message = answer.unwrap_or_default();
        if let Some(call) = open.iter_mut().find(|(_, id, answered)| id == key && !answered) {
            call.2 = true;
        } else if open.iter().any(|(_, id, _)| id == key) {
            violations.push(Violation { message, kind: ViolationKind::DuplicateResult });
        } else {
            violations.push(Violation { message, kind: ViolationKind::OrphanResult });
        }
    }
    let unanswered = open.iter().filter(|(_, _, answered)| !answered);
    violations
        .extend(unanswered.map(|(message, ..)| Violation { message: *message, kind: ViolationKind::UnansweredCall }));
}

/// The kinds of the violated demands.
pub(super) fn unmet<const N: usize>(demands: [(bool, ViolationKind); N]) -> Vec<ViolationKind> {
    demands.into_iter().filter(|(met, _)| !met).map(|(_, kind)| kind).collect()
}

/// The member of a block under one of these names, if it is an object.
pub(super) fn member<'a>(block: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| block.get(name)).filter(|held| held.is_object())
}
