//! `ORDER001 text-before-results`

use seamline_model::{BlockIndex, BlockKind, Edit, MessageIndex, ResultFate, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages with other blocks before a tool result.
    ///
    /// # Why is this bad?
    /// Tool results must come first in their message. With a text before them, Anthropic responds as if the results
    /// were absent, which is misleading. The cause is a reminder inserted at the front, or two user messages that were
    /// merged.
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
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "text", "text": "<system-reminder>Plan mode is on.</system-reminder>"},
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "fn main() {}"}
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
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "fn main() {}"},
    ///         {"type": "text", "text": "<system-reminder>Plan mode is on.</system-reminder>"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the results move to the front; everything else keeps its order.
    ///
    /// # References
    /// ANT-9, measured in `dsh-plugin-subscriptions#22`; case 11
    ORDER001 "text-before-results" in Order, Error, Safe, each Message, reach Cycle
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let Some(error) = context.constraints.results_first else {
        return;
    };
    if !context.transcript.has.pairs {
        return;
    }
    let Some(late) = first_late_result(context, index) else {
        return;
    };
    let id = context.id(late);
    let asks = index.0.saturating_sub(1) as usize;
    let predicts = error.render(&Values { message: asks, id, ..Values::default() });
    report
        .block(context, late, format!("tool result for `{id}` is not at the start of its message"))
        .call_id(id)
        .predicts(predicts)
        .fix(Stage::Finish, Safety::Safe, "put the results first", vec![Edit::ResultsFirst { message: index }]);
}

/// The first result in its place with other blocks before it. Another rule reports results that are not in their place.
fn first_late_result(context: &Context<'_, '_>, index: MessageIndex) -> Option<BlockIndex> {
    if !context.may_answer(index) {
        return None;
    }
    // The provider may have added a kind of block that comes before results.
    let may_lead = |kind: &BlockKind| matches!(kind, BlockKind::Result(_) | BlockKind::Opaque);
    let blocks = context.transcript.blocks_of(index).skip_while(|(_, block)| may_lead(&block.kind));
    blocks.map(|(block, _)| block).find(|&block| match context.pairing.result(block).map(|state| state.fate) {
        Some(ResultFate::Answers(call)) => context.in_place(call, block),
        _ => false,
    })
}
