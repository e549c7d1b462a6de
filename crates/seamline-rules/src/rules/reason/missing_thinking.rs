//! `REASON002 missing-thinking`

use seamline_model::{BlockKind, Edit, MessageIndex, Role, Safety, Stage, Thinking, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds open turns with tool calls but without thinking, in a request that switches thinking on.
    ///
    /// # Why is this bad?
    /// Anthropic rejects the request: while tool calls are being answered, the turn must start with thinking. The cause
    /// is a request that switches thinking on in the middle of such a turn, or a converter that drops thinking.
    /// Thinking cannot be synthesised.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "thinking": {"type": "enabled", "budget_tokens": 2000},
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [{"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "ls"}}]
    ///     },
    ///     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "main.rs"}]}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "thinking": {"type":"disabled"},
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [{"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "ls"}}]
    ///     },
    ///     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "main.rs"}]}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Unsafe: thinking is switched off for this request, which changes the model's response. The example is repaired
    /// with `safety = "unsafe"`.
    ///
    /// # References
    /// ANT-26, seen in `opencode#3077`; case 45
    REASON002 "missing-thinking" in Reason, Error, Unsafe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let (Some(error), Thinking::On(setting)) =
        (context.constraints.reasoning.leading, context.transcript.request.thinking)
    else {
        return;
    };
    let Some(first) = open_turn(context) else {
        return;
    };
    let kind = match context.transcript.blocks_of(first).next().map(|(_, block)| &block.kind) {
        Some(BlockKind::Call(_)) => "tool_use",
        _ => "text",
    };
    // The provider said that it accepts the conversation in no other form.
    let safety = if context.policy.is_proved("REASON002") { Safety::Safe } else { Safety::Unsafe };
    let off = Edit::Patch { span: setting, text: "{\"type\":\"disabled\"}".to_owned() };
    report
        .message(context, first, "thinking is on, but the open turn has no thinking".to_owned())
        .predicts(error.render(&Values { message: first.get(), kind, ..Values::default() }))
        .fix(Stage::Bytes, safety, "switch thinking off for this request", vec![off]);
}

/// The first assistant message of the open turn, if the last message holds results and the turn has no thinking.
fn open_turn(context: &Context<'_, '_>) -> Option<MessageIndex> {
    let transcript = context.transcript;
    let count = transcript.messages.len() as u32;
    let last = MessageIndex(count.checked_sub(1)?);
    if !transcript.has_results(last) {
        return None;
    }
    let mut first = None;
    for index in (0..count).rev().map(MessageIndex) {
        match transcript.message(index).role {
            Role::Assistant => {
                let mut blocks = transcript.blocks_of(index);
                if blocks.any(|(_, block)| matches!(block.kind, BlockKind::Reasoning { .. })) {
                    return None;
                }
                first = Some(index);
            }
            _ if transcript.has_results(index) => {}
            _ => break,
        }
    }
    first
}
