//! `PAIR003 duplicate-result`

use std::collections::HashMap;

use seamline_model::{BlockIndex, Edit, ResultFate, Safety, Stage, label};

use super::displaced_result::travelling_media;
use crate::context::Context;
use crate::policy::DuplicateResult;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool results for tool calls that already have a result.
    ///
    /// # Why is this bad?
    /// Providers accept exactly one result per tool call. The cause is a result that was stored twice, replayed by a
    /// resumed session, or an approval that was stored as a separate result.
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
    ///           "text": "[begin 65f3bde595d6010a: further output of tool call toolu_01, kept as text: the call already has a result]\napproved by the user\n[end 65f3bde595d6010a]"
    ///         }
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: a second result is removed if it has the same content or is synthetic; otherwise it is kept as text. Under
    /// `duplicate_result = "first"` or `"last"` the other result is removed, which is unsafe.
    ///
    /// # References
    /// ANT-7, OAC-3, BED-5, GEM-2; cases 6, 7
    PAIR003 "duplicate-result" in Pairing, Error, Safe, each Whole, reach Cycle
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let duplicates = || {
        context.pairing.results.iter().filter_map(|state| match state.fate {
            ResultFate::Duplicate(call) => Some((call, state.result)),
            _ => None,
        })
    };
    let last: HashMap<BlockIndex, BlockIndex> = duplicates().collect();
    for (call, result) in duplicates() {
        report_duplicate(context, report, (result, call), last.get(&call) == Some(&result));
    }
}

fn report_duplicate(
    context: &Context<'_, '_>,
    report: &mut Report,
    (result, call): (BlockIndex, BlockIndex),
    is_last: bool,
) {
    let id = context.id(result);
    let kept = context.pairing.call(call).and_then(|state| state.matched).map(|matched| matched.result);
    let same = kept.is_some_and(|kept| has_same_content(context, kept, result));
    let how = if same { "repeats" } else { "differs from" };
    let message = format!("second tool result for `{id}` {how} the first");
    let predicts = context.constraints.duplicate_result.render(&context.values(result, id));
    let draft = report.block(context, result, message).call_id(id).predicts(predicts).related(kept);
    let made_up = context.transcript.is_made_up(result);
    match (context.policy.duplicate_result, kept) {
        _ if made_up && !same => {
            draft.fix(
                Stage::Pairing,
                Safety::Safe,
                "remove the synthetic result",
                vec![Edit::Remove { block: result }],
            );
        }
        _ if same => {
            draft.fix(Stage::Pairing, Safety::Safe, "remove the repeated result", vec![Edit::Remove { block: result }]);
        }
        (DuplicateResult::First, _) => {
            draft.fix(Stage::Pairing, Safety::Unsafe, "remove the second result", vec![Edit::Remove { block: result }]);
        }
        (DuplicateResult::Last, Some(kept)) if is_last => {
            let media = travelling_media(context, result);
            let edits = vec![Edit::Remove { block: kept }, Edit::Relocate { result, call, media }];
            draft.fix(Stage::Pairing, Safety::Unsafe, "replace the first result with it", edits);
        }
        (DuplicateResult::Last, _) => {
            draft.fix(Stage::Pairing, Safety::Unsafe, "remove the result", vec![Edit::Remove { block: result }]);
        }
        (DuplicateResult::Best, _) => {
            let heading =
                format!("further output of tool call {}, kept as text: the call already has a result", label(id));
            let edits = vec![Edit::Demote { block: result, heading }];
            draft.fix(Stage::Pairing, Safety::Safe, "keep its content as text", edits);
        }
    }
}

/// Whether a further result adds nothing to the first one.
fn has_same_content(context: &Context<'_, '_>, one: BlockIndex, other: BlockIndex) -> bool {
    let said =
        |block| context.transcript.result(block).map(|result| (result.failed, context.transcript.text(result.content)));
    said(one) == said(other) && context.transcript.result(other).is_some_and(|result| !result.has_more)
}
