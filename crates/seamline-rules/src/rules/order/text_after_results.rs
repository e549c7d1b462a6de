//! `ORDER006 text-after-results`

use seamline_model::{Edit, MessageIndex, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages that hold tool results and other blocks.
    ///
    /// # Why is this bad?
    /// MiniMax's endpoint for the Anthropic dialect accepts tool results only in a message of their own. The cause is a
    /// client that puts the user's next text into the message with the results. Anthropic demands the same of the results
    /// of calls that a server tool made: any other block ends the turn in which the server tool waits for them.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "MiniMax-M2",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [{"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "ls"}}]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "main.rs"},
    ///         {"type": "text", "text": "And what is in it?"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "MiniMax-M2",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [{"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "ls"}}]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "main.rs"}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "text", "text": "And what is in it?"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the other blocks move into a new message right after the results.
    ///
    /// # References
    /// ANT-37; case 12, measured in `opencode#32609`
    ORDER006 "text-after-results" in Order, Error, Safe, each Message, reach Cycle
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let Some(error) = context.results_alone(index).filter(|_| context.may_answer(index)) else {
        return;
    };
    let transcript = context.transcript;
    let beside = transcript.blocks_of(index).find(|(block, _)| transcript.result(*block).is_none());
    let Some((block, _)) = beside.filter(|_| transcript.has_results(index)) else {
        return;
    };
    report
        .block(context, block, "the message holds a block beside its tool results".to_owned())
        .predicts(error.render(&Values { message: index.get(), ..Values::default() }))
        .fix(
            Stage::Roles,
            Safety::Safe,
            "move it into a message after the results",
            vec![Edit::SplitResults { message: index }],
        );
}
