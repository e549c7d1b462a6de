//! `IDENT003 repeated-call-id`

use std::collections::HashSet;

use seamline_model::{BlockIndex, Carrier, Cycle, Edit, MessageIndex, PairedCall, Role, Safety, Uniqueness};

use super::across::check_across;
use super::open_calls::check_open;
use super::rename::rename;
use crate::context::Context;
use crate::ids;
use crate::policy::DuplicateCallId;
use crate::rule::{Report, declare_rule};
use crate::settled::{has_distant_ids, repeats_settled_call};

declare_rule! {
    /// # What it does
    /// Finds tool calls that have the id of an earlier tool call in the same message. Adjacent assistant messages that
    /// are answered together count as one message.
    ///
    /// # Why is this bad?
    /// Providers reject the whole request, because a tool result cannot say which of the calls it answers. The cause is
    /// a model that uses the tool name as the id, a client that writes one call into two fields, or a client that reads
    /// a stream of snapshots as deltas. An id that repeats in a later turn is normal and is not changed.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Read a.txt and b.txt."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "tool_use", "id": "read_file", "name": "read_file", "input": {"path": "a.txt"}},
    ///         {"type": "tool_use", "id": "read_file", "name": "read_file", "input": {"path": "b.txt"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "read_file", "content": "alpha"},
    ///         {"type": "tool_result", "tool_use_id": "read_file", "content": "beta"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Read a.txt and b.txt."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "tool_use", "id": "read_file", "name": "read_file", "input": {"path": "a.txt"}},
    ///         {"type": "tool_use", "id": "read_file__2", "name": "read_file", "input": {"path": "b.txt"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "read_file", "content": "alpha"},
    ///         {"type": "tool_result", "tool_use_id": "read_file__2", "content": "beta"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the later call and its result get another id; results with the same id answer their calls in order. Under
    /// `duplicate_call_id = "drop_later"` the repair removes the later call and its result, which is unsafe. Under
    /// `"rename_later"` a call of a later turn that repeats an id gets another one as well. Under `"error"` the rule reports
    /// such a call and does not change it.
    ///
    /// # References
    /// ANT-8, KIM-2, MIS-5, seen in `claude-code#20700`; cases 13, 15
    IDENT003 "repeated-call-id" in Ident, Error, Safe, each Whole, reach Ids
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    if matches!(context.constraints.unique_ids, Uniqueness::Nowhere) {
        return;
    }
    let far = has_distant_ids(context);
    if far && repeats_settled_call(context) {
        return context.ask_whole();
    }
    if context.constraints.carrier == Carrier::Items {
        check_open(context, report);
        return;
    }
    let whole_request = matches!(context.constraints.unique_ids, Uniqueness::Request(_));
    if !far && !context.transcript.has.neighbouring_ids {
        return;
    }
    let cycles = &context.pairing.cycles;
    let mut start = 0;
    while start < cycles.len() {
        let end = if whole_request { cycles.len() } else { group_end(context, start) };
        let calls = cycles[start].first_call as usize..cycles[end - 1].end_call as usize;
        if calls.len() > 1 {
            check_group(context, report, &context.pairing.calls[calls]);
        }
        start = end;
    }
    if far && !whole_request {
        check_across(context, report);
    }
}

/// One past the last cycle that is answered together with the one at `start`.
fn group_end(context: &Context<'_, '_>, start: usize) -> usize {
    let cycles = &context.pairing.cycles;
    let place = |cycle: &Cycle| context.result_message(cycle.message);
    let first = place(&cycles[start]);
    let together = cycles[start..].windows(2).take_while(|pair| {
        first.is_some() && place(&pair[1]) == first && !has_unknown_between(context, &pair[0], &pair[1])
    });
    start + 1 + together.count()
}

/// Whether a message of an unknown role is between two cycles. It may answer the calls of the first one.
fn has_unknown_between(context: &Context<'_, '_>, before: &Cycle, after: &Cycle) -> bool {
    let mut between = (before.message.0 + 1..after.message.0).map(MessageIndex);
    between.any(|index| context.transcript.message(index).role == Role::Unknown)
}

/// The highest number of calls compared pair by pair, which is faster than hashing.
pub(super) const PAIRWISE_MAX: usize = 8;

fn check_group(context: &Context<'_, '_>, report: &mut Report, states: &[PairedCall]) {
    let id = |state: &PairedCall| context.call_id(state.call);
    let differ = |(at, state)| states[..at].iter().all(|earlier| id(earlier) != id(state));
    if states.len() <= PAIRWISE_MAX && states.iter().enumerate().all(differ) {
        return;
    }
    let all: HashSet<&str> = states.iter().map(|state| context.id(state.call)).collect();
    if all.len() == states.len() {
        return;
    }
    let mut seen: HashSet<&str> = HashSet::new();
    for (index, state) in states.iter().enumerate() {
        let id = context.id(state.call);
        if !id.is_empty() && !seen.insert(id) {
            let made = make_similar_id(context, id, index, |made| all.contains(made));
            report_id(context, report, state.call, &made);
        }
    }
}

/// Makes an id similar to `id` that is not taken.
pub(super) fn make_similar_id(
    context: &Context<'_, '_>,
    id: &str,
    index: usize,
    taken: impl Fn(&str) -> bool,
) -> String {
    let demand = &context.constraints.call_id;
    let plain = format!("{id}__{}", index + 1);
    if ids::is_legal(demand, &plain) && !taken(&plain) { plain } else { ids::make_id(demand, &plain, taken) }
}

pub(super) fn report_id(context: &Context<'_, '_>, report: &mut Report, call: BlockIndex, made: &str) {
    let id = context.id(call);
    let predicts = context.constraints.unique_ids.error().render(&context.values(call, id));
    let draft = report
        .block(context, call, format!("tool call id `{id}` is already used by an earlier call"))
        .call_id(id)
        .predicts(predicts);
    match context.policy.duplicate_call_id {
        DuplicateCallId::AllowPositional | DuplicateCallId::RenameLater | DuplicateCallId::Error => {
            draft.fix(
                context.naming_stage(),
                Safety::Safe,
                format!("change the id to `{made}`"),
                rename(context, call, made),
            );
        }
        DuplicateCallId::DropLater => {
            let matched = context.pairing.call(call).and_then(|state| state.matched).map(|matched| matched.result);
            let edits = std::iter::once(call).chain(matched).map(|block| Edit::Remove { block }).collect();
            draft.fix(context.naming_stage(), Safety::Unsafe, "remove the later tool call", edits);
        }
    }
}
