//! `REASON001 unsigned-thinking`

use seamline_model::{BlockKind, Edit, MessageIndex, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds thinking blocks without the provider's signature.
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
    /// it is empty.
    ///
    /// # References
    /// ANT-23, ANT-25; cases 32, 47
    REASON001 "unsigned-thinking" in Reason, Error, Safe, each Message, reach Message
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
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
