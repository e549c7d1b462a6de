//! The part of `repeated-call-id` for dialects whose results may come anywhere after their call.

use std::collections::HashMap;

use seamline_model::{BlockIndex, MessageIndex, PairedCall};

use super::across::report_across;
use super::repeated_call_id::{PAIRWISE_MAX, make_similar_id, report_id};
use crate::context::Context;
use crate::policy::DuplicateCallId;
use crate::rule::Report;

/// Finds repetitions where results may come anywhere after their call: two calls with the same id cannot be told apart
/// while both are open. A call without a result gets one right after it.
pub(super) fn check_open(context: &Context<'_, '_>, report: &mut Report) {
    let renames = context.policy.duplicate_call_id == DuplicateCallId::RenameLater;
    if !renames && open_ids_differ(context) {
        return;
    }
    // For each id, the number of calls with it and the last result of one of them.
    let mut known: HashMap<&str, (usize, BlockIndex)> = HashMap::new();
    for state in &context.pairing.calls {
        let id = context.id(state.call);
        let closed = closed_at(state);
        let Some((count, last)) = known.get_mut(id).filter(|_| !id.is_empty()) else {
            known.insert(id, (1, closed));
            continue;
        };
        *count += 1;
        let is_closed = *last < state.call;
        if is_closed && !renames || repeats_item(context, state) {
            *last = closed.max(*last);
            continue;
        }
        let number = *count - 1;
        let made = make_similar_id(context, id, number, |made| known.contains_key(made));
        if is_closed {
            report_across(context, report, state.call, Some(&made));
        } else {
            report_id(context, report, state.call, &made);
        }
    }
}

/// Whether only a few calls are open at the same time and their ids differ. This is faster than remembering every id.
fn open_ids_differ(context: &Context<'_, '_>) -> bool {
    let mut open: Vec<&PairedCall> = Vec::new();
    for state in &context.pairing.calls {
        open.retain(|earlier| closed_at(earlier) >= state.call);
        let id = context.call_id(state.call);
        if open.len() > PAIRWISE_MAX || open.iter().any(|earlier| context.call_id(earlier.call) == id) {
            return false;
        }
        open.push(state);
    }
    true
}

/// The position after which a call is no longer open.
fn closed_at(state: &PairedCall) -> BlockIndex {
    state.matched.map_or(state.call, |matched| matched.result.max(state.call))
}

/// Whether a call is an item that repeats the previous item byte for byte under the provider's own id; `repeated-item`
/// reports it.
fn repeats_item(context: &Context<'_, '_>, state: &PairedCall) -> bool {
    let item = |index| context.transcript.item(index).and_then(|item| item.id.as_ref());
    let source = |index| context.transcript.text(context.transcript.message(index).span);
    let Some(before) = state.message.0.checked_sub(1).map(MessageIndex) else { return false };
    context.constraints.repeated_item.is_some()
        && item(state.message).is_some()
        && source(before) == source(state.message)
}
