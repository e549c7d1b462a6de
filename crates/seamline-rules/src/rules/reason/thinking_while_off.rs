//! `REASON009 thinking-while-off`

use seamline_model::{BlockKind, Edit, MessageIndex, Role, Safety, Stage, Thinking};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds thinking in a last assistant message, in a request that switches thinking off.
    ///
    /// # Why is this bad?
    /// The model continues a last assistant message. With thinking off, that message must not begin with thinking. The
    /// cause is a run that was cut off and is resumed by a request with other settings.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "thinking": {"type": "disabled"},
    ///   "messages": [
    ///     {"role": "user", "content": "What is 6 times 7?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "thinking", "thinking": "Six sevens.", "signature": "c2lnbmF0dXJl"},
    ///         {"type": "text", "text": "It is"}
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
    ///   "thinking": {"type": "disabled"},
    ///   "messages": [
    ///     {"role": "user", "content": "What is 6 times 7?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "text", "text": "It is"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Unsafe: the thinking is removed, and is in the report. The example is repaired with `safety = "unsafe"`.
    ///
    /// # References
    /// Case 49, seen in `forgecode#1853`
    REASON009 "thinking-while-off" in Reason, Error, Unsafe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let transcript = context.transcript;
    let Some(error) = context.constraints.reasoning.ending.filter(|_| transcript.has.reasoning) else {
        return;
    };
    let last = MessageIndex(transcript.messages.len().saturating_sub(1) as u32);
    let ends = transcript.messages.last().is_some_and(|message| message.role == Role::Assistant);
    // Calls get answered after the message, so that it is no longer the last one.
    if transcript.request.thinking != Thinking::Off || !ends || transcript.has_calls(last) {
        return;
    }
    for (block, content) in transcript.blocks_of(last) {
        if matches!(content.kind, BlockKind::Reasoning { .. }) {
            report
                .block(context, block, "thinking in the last message, but the request switches thinking off".to_owned())
                .predicts(error.render(&context.values(block, "")))
                .fix(Stage::Form, Safety::Unsafe, "remove the thinking", vec![Edit::Remove { block }]);
        }
    }
}
