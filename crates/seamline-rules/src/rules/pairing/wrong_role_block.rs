//! `PAIR010 wrong-role-block`

use seamline_model::{BlockIndex, BlockKind, Edit, MessageIndex, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool calls in messages of another role than assistant, and tool results in messages that cannot hold them.
    ///
    /// # Why is this bad?
    /// Providers reject blocks in the wrong role. The cause is messages merged across a notice, or a cancelled call
    /// that was written with the wrong role.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Run the tests."},
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "text", "text": "Stop!"},
    ///         {"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "cargo test"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {
    ///           "type": "tool_result",
    ///           "tool_use_id": "toolu_01",
    ///           "content": "cancelled by the user",
    ///           "is_error": true
    ///         }
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
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "text", "text": "Stop!"}
    ///       ]
    ///     },
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "cargo test"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {
    ///           "type": "tool_result",
    ///           "tool_use_id": "toolu_01",
    ///           "content": "cancelled by the user",
    ///           "is_error": true
    ///         }
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the message is split so that every block is in a message of its role, in the same order; nothing is lost.
    ///
    /// # References
    /// ANT-10, OAC-1, seen in `llxprt-code#917`; case 20
    PAIR010 "wrong-role-block" in Pairing, Error, Safe, each Message, reach Message
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    if !context.transcript.has.pairs && !context.transcript.has.server_pairs {
        return;
    }
    let (may_call, may_answer) = (context.may_call(index), context.may_answer(index));
    let wrong = context.transcript.blocks_of(index).find(|(_, block)| match block.kind {
        BlockKind::Call(_) | BlockKind::ServerCall(_) => !may_call,
        BlockKind::Result(_) => !may_answer,
        _ => false,
    });
    if let Some((block, _)) = wrong {
        report_block(context, report, index, block);
    }
}

fn report_block(context: &Context<'_, '_>, report: &mut Report, message: MessageIndex, block: BlockIndex) {
    let (what, error) = match context.transcript.result(block) {
        Some(_) => ("tool result", context.constraints.misplaced_result),
        None => ("tool call", context.constraints.misplaced_call),
    };
    let id = context.id(block);
    report
        .block(context, block, format!("{what} `{id}` is in a message of the wrong role"))
        .call_id(id)
        .predicts(error.render(&context.values(block, id)))
        .fix(Stage::Form, Safety::Safe, "split the message by role", vec![Edit::Regroup { message }]);
}
