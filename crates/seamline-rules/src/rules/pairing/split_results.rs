//! `PAIR007 split-results`

use seamline_model::{Edit, PairedCall, Safety, Stage};

use super::displaced_result::{is_placed, is_split, travelling_media};
use crate::context::Context;
use crate::policy::Displaced;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds results of one cycle that are spread over several messages.
    ///
    /// # Why is this bad?
    /// Where tool results are blocks of a user message, all results of a cycle must be in the message right after it;
    /// for the provider the others are missing. The cause is a client that appends a message for every tool that
    /// finishes.
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
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "alpha"}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_02", "content": "beta"}
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
    /// Safe: the results move into the first message. Under `displaced = "remove_pair"` or `"remove_result"` they are
    /// removed, which is unsafe.
    ///
    /// # References
    /// ANT-5, BED-4, GEM-2; case 21
    PAIR007 "split-results" in Pairing, Error, Safe, each Call, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &PairedCall, report: &mut Report) {
    if !context.constraints.one_result_message {
        return;
    }
    let Some(matched) = state.matched else { return };
    let result = matched.result;
    if is_placed(context, state, result) || !is_split(context, state, result) {
        return;
    }
    let id = context.id(state.call);
    let message = format!("tool result for `{id}` is not in the same message as the other results");
    let predicts = context.constraints.unanswered.render(&context.values(state.call, id));
    let draft = report.block(context, result, message).call_id(id).predicts(predicts).related([state.call]);
    let (safety, edits) = match context.policy.displaced {
        Displaced::Relocate => {
            let media = travelling_media(context, result);
            (Safety::Safe, vec![Edit::Relocate { result, call: state.call, media }])
        }
        Displaced::RemovePair => {
            (Safety::Unsafe, vec![Edit::Remove { block: state.call }, Edit::Remove { block: result }])
        }
        Displaced::RemoveResult => (Safety::Unsafe, vec![Edit::Remove { block: result }]),
    };
    draft.fix(Stage::Pairing, safety, "move the results of the cycle into one message", edits);
}
