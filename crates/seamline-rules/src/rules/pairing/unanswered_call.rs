//! `PAIR001 unanswered-call`

use seamline_model::{
    BlockIndex, Carrier, Cycle, Edit, FactKind, MessageIndex, PairedCall, ResultFate, Safety, Severity, Stage,
};

use crate::context::Context;
use crate::ending::MessageEnding;
use crate::policy::{TrailingCall, UnansweredCall, UnansweredReason};
use crate::rule::{Report, declare_rule};
use crate::rules::naming::list_ids;

declare_rule! {
    /// # What it does
    /// Finds tool calls without a result. There is one finding for each message that makes calls.
    ///
    /// # Why is this bad?
    /// Every provider rejects the whole request, and keeps rejecting it, because each turn sends the history again. The
    /// cause is a run that was aborted, crashed or cut off between a call and its result.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "What is in main.rs?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "tool_use", "id": "toolu_01", "name": "read_file", "input": {"path": "main.rs"}}
    ///       ]
    ///     },
    ///     {"role": "user", "content": "never mind"}
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
    ///     {"role": "user", "content": "What is in main.rs?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "tool_use", "id": "toolu_01", "name": "read_file", "input": {"path": "main.rs"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {
    ///           "type": "tool_result",
    ///           "tool_use_id": "toolu_01",
    ///           "content": "[synthetic] No result was recorded for this tool call. Whether it ran is unknown; check before running it again.",
    ///           "is_error": true
    ///         }
    ///       ]
    ///     },
    ///     {"role": "user", "content": "never mind"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: each call gets a result that is marked synthetic and says what is known: no result was recorded, or, if the
    /// client noted in the message that it ended with an error or was aborted, that the call was cut off or aborted. A call
    /// without a result that repeats another one byte for byte is removed. Under `unanswered_call = "remove_call"` the
    /// call is removed instead, which is unsafe; under `"rollback"` or `"fail"` nothing changes. Under `trailing_call =
    /// "allow_pending"` the calls of the last message may stay open, if none of them has a result.
    ///
    /// # References
    /// ANT-5, OAC-2, OAR-2, OAR-31, BED-4, GEM-2, seen in `claude-code#2697`, `litellm#10083`; cases 1, 2, 3, 14, 24, 25
    PAIR001 "unanswered-call" in Pairing, Error, Safe, each Whole, reach Cycle
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let mut rest = context.pairing.cycles.as_slice();
    while let Some((batch, behind)) = rest.split_at_checked(made_together(context, rest)).filter(|_| !rest.is_empty()) {
        rest = behind;
        let states = |cycle: &Cycle| &context.pairing.calls[cycle.range()];
        if batch.iter().flat_map(states).all(|state| !context.pairing.is_unanswered(state)) {
            continue;
        }
        let has_results = batch.iter().flat_map(states).any(|state| !context.pairing.is_unanswered(state));
        let is_last = batch.last().is_some_and(|cycle| is_last_turn(context, cycle.message));
        let may_be_pending = context.policy.trailing_call == TrailingCall::AllowPending && !has_results && is_last;
        for cycle in batch {
            let open = states(cycle).iter().filter(|state| is_open(context, state));
            let open: Vec<_> = open.map(|state| state.call).collect();
            match open[..] {
                [] => {}
                _ if may_be_pending && context.is_frontier(cycle.message) => report_pending(context, report, open),
                _ => report_cycle(context, report, *cycle, &open),
            }
        }
    }
}

/// Whether nothing follows a message but results that answer no call. A provider takes a result of an earlier call, or an
/// empty message, for the end of the turn.
fn is_last_turn(context: &Context<'_, '_>, message: MessageIndex) -> bool {
    let is_orphan = |block: BlockIndex| {
        let fate = context.pairing.result(block).map(|state| state.fate);
        matches!(fate, Some(ResultFate::Orphan | ResultFate::Ambiguous))
    };
    let mut later = (message.get() as u32 + 1..context.transcript.messages.len() as u32).map(MessageIndex);
    later.all(|index| {
        let mut blocks = context.transcript.message(index).range();
        // A later pass removes an emptied message, but not an item.
        let is_gone = context.constraints.carrier != Carrier::Items;
        (is_gone || !blocks.is_empty()) && blocks.all(|block| is_orphan(BlockIndex(block as u32)))
    })
}

/// Counts the first cycles that belong to one response. If each call is an item, these are the cycles of adjacent items.
fn made_together(context: &Context<'_, '_>, cycles: &[Cycle]) -> usize {
    let are_adjacent = |pair: &&[Cycle]| pair[0].message.next() == pair[1].message;
    match context.constraints.carrier {
        Carrier::Items => 1 + cycles.windows(2).take_while(are_adjacent).count(),
        Carrier::UserBlocks | Carrier::ToolMessages => 1,
    }
}

/// Whether a call must be answered and is not. The result of a deferred call may come in any later request.
fn is_open(context: &Context<'_, '_>, state: &PairedCall) -> bool {
    context.pairing.is_unanswered(state) && !context.transcript.has_fact(state.call, FactKind::Deferred)
}

/// Notes calls of the last turn that may still be answered.
fn report_pending(context: &Context<'_, '_>, report: &mut Report, open: Vec<BlockIndex>) {
    let ids: Vec<_> = open.iter().map(|&call| context.id(call)).collect();
    let message = format!("{} {} may still be answered", plural(open.len()), list_ids(&ids));
    report.block(context, open[0], message).severity(Severity::Info).call_id(ids[0]).related(open);
}

fn plural(calls: usize) -> &'static str {
    if calls == 1 { "tool call" } else { "tool calls" }
}

fn report_cycle(context: &Context<'_, '_>, report: &mut Report, cycle: Cycle, open: &[BlockIndex]) {
    let ids: Vec<_> = open.iter().map(|&call| context.id(call)).collect();
    let listed = ids.join(", ");
    let first = open[0];
    let trailing = context.is_frontier(cycle.message);
    let plural = plural(open.len());
    let message = format!("no result answers {plural} {}", list_ids(&ids));
    // The next pass of a repair answers the others.
    let first_open = &open[..open.len().min(report.fixes_max)];
    report.is_cut |= first_open.len() < open.len();
    let predicts = context.constraints.unanswered.render(&context.values(first, &listed));
    let draft = report.block(context, first, message).call_id(ids[0]).predicts(predicts).related(open.to_vec());
    let removed = match (trailing, context.policy.trailing_call) {
        (true, TrailingCall::Remove) => true,
        (true, TrailingCall::Close) => false,
        // A turn of which some calls have results is over: the others are unanswered, as before a later message.
        (true, TrailingCall::AllowPending) | (false, _) => match context.policy.unanswered_call {
            UnansweredCall::Synthesize => false,
            UnansweredCall::RemoveCall => true,
            UnansweredCall::Rollback | UnansweredCall::Fail => {
                draft.fix(
                    Stage::Pairing,
                    Safety::DisplayOnly,
                    "leave it to the caller, as the policy demands",
                    Vec::new(),
                );
                return;
            }
        },
    };
    if removed {
        let edits = first_open.iter().map(|&block| Edit::Remove { block }).collect();
        draft.fix(Stage::Pairing, Safety::Unsafe, format!("remove {plural} {}", list_ids(&ids)), edits);
    } else {
        let edits = answer_calls(context, first_open);
        let repeats = edits.iter().filter(|edit| matches!(edit, Edit::Remove { .. })).count();
        let title = match repeats {
            0 => format!("answer {plural} {} with a synthetic result", list_ids(&ids)),
            all if all == edits.len() => format!("remove the repeated {plural} {}", list_ids(&ids)),
            _ => format!("answer {plural} {} and remove repeated calls", list_ids(&ids)),
        };
        draft.fix(Stage::Pairing, Safety::Safe, title, edits);
    }
}

/// The knowledge about the open calls of a message: that of the policy, or what the message says about its ending.
fn reason(context: &Context<'_, '_>, message: MessageIndex) -> UnansweredReason {
    let given = context.policy.unanswered_reason;
    match context.ending_of(message) {
        Some(MessageEnding::Failed) if given == UnansweredReason::Missing => UnansweredReason::Truncated,
        Some(MessageEnding::Aborted) if given == UnansweredReason::Missing => UnansweredReason::Aborted,
        _ => given,
    }
}

/// The edits that answer each call with a synthetic result, or remove a call that repeats an earlier one.
fn answer_calls(context: &Context<'_, '_>, open: &[BlockIndex]) -> Vec<Edit> {
    let message = context.transcript.block(open[0]).message;
    let text = context.policy.synthetic_text.get(reason(context, message));
    let mut seen = std::collections::HashSet::new();
    let first_open = open[0];
    // Calls before the first open one have results; an identical open call repeats them.
    for (block, content) in context.transcript.blocks_of(message) {
        if block >= first_open {
            break;
        }
        if context.transcript.call(block).is_some() {
            seen.insert(context.transcript.text(content.span));
        }
    }
    open.iter()
        .map(|&call| {
            let source = context.transcript.text(context.transcript.block(call).span);
            let has_id = context.constraints.call_id.demanded && !context.id(call).is_empty();
            let repeats = has_id && !seen.insert(source);
            if repeats { Edit::Remove { block: call } } else { Edit::Synthesize { call, text: text.to_owned() } }
        })
        .collect()
}
