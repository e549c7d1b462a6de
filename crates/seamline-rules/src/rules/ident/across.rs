//! Finds tool call ids that occur again in a later turn.

use std::collections::{HashMap, HashSet};

use seamline_model::{BlockIndex, MessageIndex, Safety, Severity};

use super::rename::rename;
use super::repeated_call_id::make_similar_id;
use crate::context::Context;
use crate::policy::{DuplicateCallId, OnInvalid};
use crate::rule::Report;

/// Finds repetitions across turns, which providers accept and a policy may reject.
pub(super) fn check_across(context: &Context<'_, '_>, report: &mut Report) {
    let renames = context.policy.duplicate_call_id == DuplicateCallId::RenameLater;
    // For each id, the turn of its last call and how many turns have one.
    let mut seen: HashMap<&str, (Option<MessageIndex>, usize)> = HashMap::new();
    let mut given: HashSet<String> = HashSet::new();
    for state in &context.pairing.calls {
        let id = context.id(state.call);
        let group = context.result_message(state.message).or(Some(state.message));
        let Some((last, turns)) = seen.get_mut(id).filter(|_| !id.is_empty()) else {
            seen.insert(id, (group, 1));
            continue;
        };
        if *last == group {
            continue;
        }
        (*last, *turns) = (group, *turns + 1);
        let index = *turns - 1;
        let made = renames
            .then(|| make_similar_id(context, id, index, |made| seen.contains_key(made) || given.contains(made)));
        report_across(context, report, state.call, made.as_deref());
        given.extend(made);
    }
}

/// Reports a call that repeats an id of an earlier turn. The provider accepts it, so without a new id it is an error of
/// the policy alone.
pub(super) fn report_across(context: &Context<'_, '_>, report: &mut Report, call: BlockIndex, made: Option<&str>) {
    let id = context.id(call);
    let message = format!("tool call id `{id}` is already used in an earlier turn");
    let draft = report.block(context, call, message).call_id(id);
    match made {
        Some(made) => draft.severity(severity(context)).fix(
            context.naming_stage(),
            Safety::Safe,
            format!("change the id to `{made}`"),
            rename(context, call, made),
        ),
        None => draft.fix(context.naming_stage(), Safety::DisplayOnly, "give the later call another id", Vec::new()),
    };
}

/// A policy that blocks until the caller repairs demands that ids differ. Others rename, and would not need to.
fn severity(context: &Context<'_, '_>) -> Severity {
    match context.policy.on_invalid {
        OnInvalid::Offer | OnInvalid::Block => Severity::Error,
        OnInvalid::Repair | OnInvalid::Warn => Severity::Warning,
    }
}
