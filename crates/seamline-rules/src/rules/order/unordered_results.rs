//! `ORDER002 unordered-results`

use std::collections::HashMap;

use seamline_model::{BlockIndex, Edit, PairedCall, Safety, Severity, Stage, Uniqueness};

use super::super::pairing::displaced_result::travelling_media;
use crate::context::Context;
use crate::policy::ResultOrder;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool results that are not in the order of their calls: under `result_order = "call_order"`, as in the
    /// example, and where calls of one message share an id.
    ///
    /// # Why is this bad?
    /// No provider is known to reject it if ids identify the calls. But some models go by position, and a prompt cache needs
    /// the same order every time. If several calls have one id, which Gemini allows, only the order tells which result is
    /// whose; then it is an error.
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
    ///         {"type": "tool_use", "id": "toolu_01", "name": "read_file", "input": {"path": "a.txt"}},
    ///         {"type": "tool_use", "id": "toolu_02", "name": "read_file", "input": {"path": "b.txt"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_02", "content": "beta"},
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "alpha"}
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
    ///         {"type": "tool_use", "id": "toolu_01", "name": "read_file", "input": {"path": "a.txt"}},
    ///         {"type": "tool_use", "id": "toolu_02", "name": "read_file", "input": {"path": "b.txt"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "alpha"},
    ///         {"type": "tool_result", "tool_use_id": "toolu_02", "content": "beta"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the results are reordered.
    ///
    /// # References
    /// OAC-2, GEM-8; case 11
    ORDER002 "unordered-results" in Order, Warning, Safe, each Whole, reach Cycle
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let wants_order = context.policy.result_order == ResultOrder::CallOrder;
    // Where ids may repeat, the provider pairs the calls and results of one id in their order.
    let may_repeat =
        matches!(context.constraints.unique_ids, Uniqueness::Nowhere) && context.transcript.has.neighbouring_ids;
    if !wants_order && !may_repeat {
        return;
    }
    for cycle in &context.pairing.cycles {
        let states = &context.pairing.calls[cycle.range()];
        let pairs: Vec<_> = states.iter().filter_map(|state| Some((state.call, state.matched?.result))).collect();
        // While a result is displaced, the order is unknown.
        if pairs.is_sorted_by_key(|(_, result)| *result) || !are_in_place(context, states) {
            continue;
        }
        let is_crossed = may_repeat && is_crossed(context, &pairs);
        if !wants_order && !is_crossed {
            continue;
        }
        let edits = pairs
            .iter()
            .map(|&(call, result)| Edit::Relocate { result, call, media: travelling_media(context, result) })
            .collect();
        report
            .block(context, pairs[0].0, "tool results are not in the order of their calls".to_owned())
            .severity(if is_crossed { Severity::Error } else { Severity::Warning })
            .fix(Stage::Finish, Safety::Safe, "put the results in the order of their calls", edits);
    }
}

fn are_in_place(context: &Context<'_, '_>, states: &[PairedCall]) -> bool {
    states.iter().all(|state| state.matched.is_some_and(|matched| context.in_place(state.call, matched.result)))
}

/// Whether the results of calls with one id are in another order than the calls. Only the names of the tools can show
/// it, so each of these results must name the tool of its call.
fn is_crossed(context: &Context<'_, '_>, pairs: &[(BlockIndex, BlockIndex)]) -> bool {
    /// The results of calls with one id.
    struct Seen {
        last: BlockIndex,
        is_crossed: bool,
        is_proven: bool,
    }
    let transcript = context.transcript;
    let mut seen: HashMap<&str, Seen> = HashMap::new();
    for &(call, result) in pairs.iter().filter(|(_, result)| !context.is_named_by_tool(*result)) {
        let called = transcript.call(call).and_then(|call| call.tool);
        let is_proven = called.is_some() && called == transcript.result(result).and_then(|result| result.tool);
        let one = seen.entry(context.id(call)).or_insert(Seen { last: result, is_crossed: false, is_proven: true });
        one.is_crossed |= result < one.last;
        one.is_proven &= is_proven;
        one.last = result;
    }
    seen.values().any(|one| one.is_crossed && one.is_proven)
}
