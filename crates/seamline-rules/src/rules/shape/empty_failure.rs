//! `SHAPE013 empty-failure`

use seamline_model::{Edit, Parts, ResultState, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool results that report a failure and have no content.
    ///
    /// # Why is this bad?
    /// A provider may accept an empty result of a successful tool, and reject an empty result of a failed one. The
    /// cause is a tool that was stopped before it printed anything.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "modelId": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ///   "toolConfig": {"tools": [{"toolSpec": {"name": "bash", "inputSchema": {"json": {"type": "object"}}}}]},
    ///   "messages": [
    ///     {"role": "user", "content": [{"text": "Run the tests."}]},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"toolUse": {"toolUseId": "tooluse_01", "name": "bash", "input": {"command": "cargo test"}}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"toolResult": {"toolUseId": "tooluse_01", "content": [], "status": "error"}}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "modelId": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ///   "toolConfig": {"tools": [{"toolSpec": {"name": "bash", "inputSchema": {"json": {"type": "object"}}}}]},
    ///   "messages": [
    ///     {"role": "user", "content": [{"text": "Run the tests."}]},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"toolUse": {"toolUseId": "tooluse_01", "name": "bash", "input": {"command": "cargo test"}}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"toolResult": {"toolUseId": "tooluse_01", "content": [{"text":"[synthetic] (no output)"}], "status": "error"}}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the result gets a synthetic text that says there is no output.
    ///
    /// # References
    /// BED-9
    SHAPE013 "empty-failure" in Shape, Error, Safe, each Result, reach Message
}

fn check(context: &Context<'_, '_>, state: &ResultState, report: &mut Report) {
    let Some(error) = context.constraints.empty_failure else {
        return;
    };
    let Some(result) = context.transcript.result(state.result) else {
        return;
    };
    let blank = match result.parts {
        Parts::Missing => true,
        Parts::List(listed) => listed.is_blank(),
        Parts::Text | Parts::Unreadable => false,
    };
    if !result.failed || !blank {
        return;
    }
    let id = context.id(state.result);
    report
        .block(context, state.result, format!("tool result for `{id}` reports a failure without content"))
        .call_id(id)
        .predicts(error.render(&context.values(state.result, id)))
        .fix(
            Stage::Finish,
            Safety::Safe,
            "add a text that says there is no output",
            vec![Edit::FillResult { result: state.result, text: seamline_model::NO_OUTPUT }],
        );
}
