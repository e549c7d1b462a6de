//! `PAIR003 duplicate-result`

use std::collections::HashMap;

use seamline_model::{BlockIndex, Edit, Fate, Safety, Stage};

use super::displaced_result::travelling_media;
use crate::context::Context;
use crate::policy::DuplicateResult;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds results for calls that another result answers already.
    ///
    /// # Why is this bad?
    /// Providers want exactly one result per call. It happens when a result is stored twice, when a resumed session
    /// replays it, or when an approval is stored as a result of its own.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Delete the old logs."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "rm logs/*.old"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "3 files removed"},
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "approved by the user"}
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
    ///     {"role": "user", "content": "Delete the old logs."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "rm logs/*.old"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "3 files removed"},
    ///         {
    ///           "type": "text",
    ///           "text": "[further output of tool call toolu_01, kept as text: the call has its result already]\napproved by the user"
    ///         }
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: a second result that says the same, or is synthetic, is taken out; one that says something else is kept
    /// as text. Under `duplicate_result = "first"` or `"last"` the other one is taken out, which is unsafe.
    ///
    /// # References
    /// ANT-7, OAC-3, BED-5, GEM-2; cases 6, 7
    PAIR003 "duplicate-result" in Pairing, Error, Safe, each Whole, reach Cycle
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let duplicates = || {
        context.pairing.results.iter().filter_map(|state| match state.fate {
            Fate::Duplicate(call) => Some((call, state.result)),
            _ => None,
        })
    };
    let last: HashMap<BlockIndex, BlockIndex> = duplicates().collect();
    for (call, result) in duplicates() {
        found(context, report, (result, call), last.get(&call) == Some(&result));
    }
}

fn found(context: &Context<'_, '_>, report: &mut Report, (result, call): (BlockIndex, BlockIndex), is_last: bool) {
    let id = context.id(result);
    let kept = context.pairing.call(call).and_then(|state| state.answer).map(|answer| answer.result);
    let same = kept.is_some_and(|kept| says_the_same(context, kept, result));
    let how = if same { "says the same as" } else { "differs from" };
    let message = format!("second result for `{id}` {how} the first");
    let predicts = context.constraints.duplicate_result.render(&context.values(result, id));
    let draft = report.block(context, result, message).call_id(id).predicts(predicts).related(kept);
    let made_up = context.transcript.is_made_up(result);
    match (context.policy.duplicate_result, kept) {
        _ if made_up && !same => {
            draft.fix(Stage::Pairing, Safety::Safe, "take the synthetic one out", vec![Edit::Remove { block: result }]);
        }
        _ if same => {
            draft.fix(Stage::Pairing, Safety::Safe, "take the repetition out", vec![Edit::Remove { block: result }]);
        }
        (DuplicateResult::First, _) => {
            draft.fix(Stage::Pairing, Safety::Unsafe, "take the second out", vec![Edit::Remove { block: result }]);
        }
        (DuplicateResult::Last, Some(kept)) if is_last => {
            let media = travelling_media(context, result);
            let edits = vec![Edit::Remove { block: kept }, Edit::Relocate { result, call, media }];
            draft.fix(Stage::Pairing, Safety::Unsafe, "let it take the place of the first", edits);
        }
        (DuplicateResult::Last, _) => {
            draft.fix(Stage::Pairing, Safety::Unsafe, "take it out", vec![Edit::Remove { block: result }]);
        }
        (DuplicateResult::Best, _) => {
            let heading = format!("[further output of tool call {id}, kept as text: the call has its result already]");
            let edits = vec![Edit::Demote { block: result, heading }];
            draft.fix(Stage::Pairing, Safety::Safe, "keep what it says as text", edits);
        }
    }
}

/// Whether a further result says nothing that the one before it does not say.
fn says_the_same(context: &Context<'_, '_>, one: BlockIndex, other: BlockIndex) -> bool {
    let said =
        |block| context.transcript.result(block).map(|result| (result.failed, context.transcript.text(result.content)));
    said(one) == said(other) && context.transcript.result(other).is_some_and(|result| !result.has_more)
}
