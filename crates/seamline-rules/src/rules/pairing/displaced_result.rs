//! `PAIR004 displaced-result`

use seamline_model::{BlockIndex, BlockKind, Edit, PairedCall, Safety, Stage};

use crate::context::Context;
use crate::policy::Displaced;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool results that are not right after the message with their tool call.
    ///
    /// # Why is this bad?
    /// Providers look for tool results in one place only. If other messages come between, they reject the request as if
    /// there were no result. The cause is a user who types while tools run, an inserted notice, a background tool that
    /// finishes late, or messages stored out of order.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Run the tests."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "cargo test"}}
    ///       ]
    ///     },
    ///     {"role": "user", "content": "and format the code"},
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "12 passed"}
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
    ///     {"role": "user", "content": "Run the tests."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "cargo test"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "12 passed"}
    ///       ]
    ///     },
    ///     {"role": "user", "content": "and format the code"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the result moves to its call, together with the images and the cache mark right after it; the messages between follow. Under
    /// `displaced = "remove_pair"` or `"remove_result"` it is removed, which is unsafe.
    ///
    /// # References
    /// ANT-5, OAC-2, OAR-27, BED-4, GEM-2; cases 8, 9, 10
    PAIR004 "displaced-result" in Pairing, Error, Safe, each Call, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &PairedCall, report: &mut Report) {
    let Some(matched) = state.matched else { return };
    if !is_placed(context, state, matched.result) && !is_split(context, state, matched.result) {
        report_displaced(context, report, state, matched.result);
    }
}

fn report_displaced(context: &Context<'_, '_>, report: &mut Report, state: &PairedCall, result: BlockIndex) {
    let id = context.id(state.call);
    let asks = state.message.get();
    let message = if result < state.call {
        format!("tool result for `{id}` comes before its call in message {asks}")
    } else {
        format!("tool result for `{id}` is not right after its call in message {asks}")
    };
    let text = match context.constraints.pairs.adjacent {
        _ if result < state.call => context.constraints.orphan,
        Some(text) => text,
        None => context.constraints.unanswered,
    };
    let values = if result < state.call { context.values(result, id) } else { context.values(state.call, id) };
    let draft = report.block(context, result, message).call_id(id).predicts(text.render(&values)).related([state.call]);
    match context.policy.displaced {
        Displaced::Relocate => {
            let media = travelling_media(context, result);
            let edits = vec![Edit::Relocate { result, call: state.call, media }];
            draft.fix(Stage::Pairing, Safety::Safe, "move the result to its call", edits);
        }
        Displaced::RemovePair => {
            let edits = vec![Edit::Remove { block: state.call }, Edit::Remove { block: result }];
            draft.fix(Stage::Pairing, Safety::Unsafe, "remove the call and the result", edits);
        }
        Displaced::RemoveResult => {
            draft.fix(Stage::Pairing, Safety::Unsafe, "remove the result", vec![Edit::Remove { block: result }]);
        }
    }
}

/// Whether a result need not be moved. Another rule reports blocks in a message of the wrong role.
pub(super) fn is_placed(context: &Context<'_, '_>, state: &PairedCall, result: BlockIndex) -> bool {
    let holder = context.transcript.block(result).message;
    !context.may_call(state.message) || !context.may_answer(holder) || context.in_place(state.call, result)
}

/// Whether a result is only in a second message of results.
pub(super) fn is_split(context: &Context<'_, '_>, state: &PairedCall, result: BlockIndex) -> bool {
    let Some(place) = context.result_message(state.message) else {
        return false;
    };
    let holder = context.transcript.block(result).message;
    // Only the next message is checked, so that the cost is constant.
    context.constraints.one_result_message
        && context.may_answer(place)
        && context.transcript.has_results(place)
        && holder == place.next()
        && context.holds_only_results(place)
}

/// The media and the cache mark right after a result, which belong to it.
pub(crate) fn travelling_media(context: &Context<'_, '_>, result: BlockIndex) -> Vec<BlockIndex> {
    let transcript = context.transcript;
    let message = transcript.message(transcript.block(result).message);
    let belongs = |&block: &BlockIndex| {
        matches!(transcript.block(block).kind, BlockKind::Media) || transcript.is_cache_point(block)
    };
    (result.0 + 1..message.end_block).map(BlockIndex).take_while(belongs).collect()
}
