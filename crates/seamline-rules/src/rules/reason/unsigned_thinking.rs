//! `REASON001 unsigned-thinking`

use seamline_model::{BlockKind, Edit, ItemKind, MessageIndex, Safety, Stage};

use super::removal;
use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds thinking blocks without the provider's signature, and reasoning that the provider has rejected in an error:
    /// with a signature that is not valid, with encrypted content of another account, or bound to another conversation.
    ///
    /// # Why is this bad?
    /// Anthropic rejects the whole request. The cause is a stream that ended before the signature, a client that stores
    /// only the text, or thinking of another model. A signature cannot be synthesised.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "What is 6 times 7?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": [{"type": "thinking", "thinking": "Six sevens."}, {"type": "text", "text": "42"}]
    ///     },
    ///     {"role": "user", "content": "Thanks."}
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
    ///     {"role": "user", "content": "What is 6 times 7?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {
    ///           "type": "text",
    ///           "text": "[begin 4fe32dca423e3901: thinking without a signature, kept as text]\nSix sevens.\n[end 4fe32dca423e3901]"
    ///         },
    ///         {"type": "text", "text": "42"}
    ///       ]
    ///     },
    ///     {"role": "user", "content": "Thanks."}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the thinking is kept as text, under a line that says what it is. A signed block is never changed, even if
    /// it is empty, until the provider rejects it (`seamline fix --after-error`). Then it is removed and is in the report,
    /// with all later reasoning, and the ids of the items that depend on it; the provider accepts the conversation in no
    /// other form.
    ///
    /// # References
    /// ANT-23, ANT-25; cases 32, 47
    REASON001 "unsigned-thinking" in Reason, Error, Safe, each Message, reach Message
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    if context.transcript.has.reasoning {
        check_rejected(context, index, report);
    }
    let Some(error) = context.constraints.reasoning.unsigned.filter(|_| context.transcript.has.reasoning) else {
        return;
    };
    for (block, content) in context.transcript.blocks_of(index) {
        if !matches!(content.kind, BlockKind::Reasoning { signed: false }) {
            continue;
        }
        let heading = seamline_model::UNSIGNED_THINKING.to_owned();
        report
            .block(context, block, "thinking has no signature".to_owned())
            .predicts(error.render(&context.values(block, "")))
            .fix(Stage::Form, Safety::Safe, "keep it as text", vec![Edit::Demote { block, heading }]);
    }
}

/// Finds the reasoning of a message that the provider has rejected.
fn check_rejected(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    for (block, content) in context.transcript.blocks_of(index) {
        if !matches!(content.kind, BlockKind::Reasoning { .. }) || !context.is_rejected(content) {
            continue;
        }
        let is_item = context.transcript.item(index).is_some_and(|item| item.kind == ItemKind::Reasoning);
        let edits = if is_item {
            removal::remove_reasoning(context, index, "the provider rejected it")
        } else {
            vec![Edit::Remove { block }]
        };
        report.block(context, block, "the provider has rejected this reasoning".to_owned()).fix(
            Stage::Form,
            Safety::Safe,
            "remove it",
            edits,
        );
    }
}
