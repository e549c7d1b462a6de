//! `SHAPE001 empty-text`

use seamline_model::{
    BlockIndex, BlockKind, Edit, Emptiness, EmptyText, ErrorText, Field, MessageIndex, Parts, Safety, Stage,
};

use super::emptied;
use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds texts that are empty or only white space, also inside tool results.
    ///
    /// # Why is this bad?
    /// Anthropic rejects them, although its own models write them beside tool calls. The cause is such a turn sent back
    /// unchanged, or a tool without output.
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
    ///         {"type": "text", "text": ""},
    ///         {"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "cargo test"}}
    ///       ]
    ///     },
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
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the empty text is removed. A result without other content gets the text `[synthetic] (no output)`.
    ///
    /// # References
    /// ANT-16, ANT-17, BED-8, seen in `litellm#22979`; cases 26, 57
    SHAPE001 "empty-text" in Shape, Error, Safe, each Message, reach Message
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let (error, in_results) = match context.constraints.empty_text {
        EmptyText::Accepted => return,
        EmptyText::Rejected(error) => (error, true),
        EmptyText::RejectedInMessages(error) => (error, false),
    };
    // If the whole message is empty, `empty-message` repairs the message.
    if is_hollow(context, index) {
        return;
    }
    for (block, content) in context.transcript.blocks_of(index) {
        match &content.kind {
            BlockKind::Text(Emptiness::Empty | Emptiness::Blank) if content.slot().field == Field::Content => {
                report_text(context, report, block, error);
            }
            BlockKind::Result(result)
                if in_results && matches!(result.parts, Parts::List(listed) if listed.has_blanks()) =>
            {
                report_result(context, report, block, error);
            }
            _ => {}
        }
    }
}

fn report_text(context: &Context<'_, '_>, report: &mut Report, block: BlockIndex, error: ErrorText) {
    let draft =
        report.block(context, block, "the text is empty".to_owned()).predicts(error.render(&context.values(block, "")));
    match emptied::keep_beside(context, block) {
        Some(edit) => draft.fix(Stage::Finish, Safety::Safe, "keep its other members as text", vec![edit]),
        None => draft.fix(Stage::Finish, Safety::Safe, "remove the empty text", vec![Edit::Remove { block }]),
    };
}

fn report_result(context: &Context<'_, '_>, report: &mut Report, result: BlockIndex, error: ErrorText) {
    let id = context.id(result);
    report
        .block(context, result, format!("tool result for `{id}` has an empty text"))
        .call_id(id)
        .predicts(error.render(&context.values(result, id)))
        .fix(
            Stage::Finish,
            Safety::Safe,
            "remove the empty text",
            vec![Edit::FillResult { result, text: seamline_model::NO_OUTPUT }],
        );
}

/// Whether a message holds only empty text and cache marks.
pub(crate) fn is_hollow(context: &Context<'_, '_>, message: MessageIndex) -> bool {
    let transcript = context.transcript;
    transcript.blocks_of(message).all(|(index, block)| match block.kind {
        BlockKind::Text(Emptiness::Empty | Emptiness::Blank) => true,
        BlockKind::Opaque => transcript.is_cache_point(index),
        _ => false,
    })
}
