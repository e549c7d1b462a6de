//! `SHAPE013 empty-failure`

use seamline_model::{Edit, Parts, ResultState, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds results that say the tool failed and nothing else.
    ///
    /// # Why is this bad?
    /// A provider may take an empty result of a tool that ended well, and reject one that says it failed. It happens when a
    /// tool is stopped before it prints anything.
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
    /// Safe: the result gets a text that is marked synthetic and says that there is no output.
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
        .block(context, state.result, format!("result for `{id}` says that the tool failed, and nothing else"))
        .call_id(id)
        .predicts(error.render(&context.values(state.result, id)))
        .fix(
            Stage::Finish,
            Safety::Safe,
            "say that there is no output",
            vec![Edit::FillResult { result: state.result, text: seamline_model::NO_OUTPUT }],
        );
}
