//! `WIRE012 broken-arguments`

use seamline_model::{Arguments, Edit, Input, PairedCall, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool calls whose arguments are text that is empty, not JSON, or not a JSON object. OpenAI accepts such
    /// text; other providers parse it and fail.
    ///
    /// # Why is this bad?
    /// The server parses the arguments of old tool calls again and rejects the whole request. The cause is a stream cut
    /// in the middle of a call, a history trimmed inside a text, or a call without arguments.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "qwen-max",
    ///   "messages": [
    ///     {"role": "user", "content": "Write a.txt."},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "call_1",
    ///           "type": "function",
    ///           "function": {"name": "bash", "arguments": "{\"path\":\"a.txt\",\"content\":\"hel"}
    ///         }
    ///       ]
    ///     },
    ///     {"role": "tool", "tool_call_id": "call_1", "content": "main.rs"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "qwen-max",
    ///   "messages": [
    ///     {"role": "user", "content": "Write a.txt."},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "call_1",
    ///           "type": "function",
    ///           "function": {"name": "bash", "arguments": "{\"raw\":\"{\\\"path\\\":\\\"a.txt\\\",\\\"content\\\":\\\"hel\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {"role": "tool", "tool_call_id": "call_1", "content": "main.rs"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: text that is not JSON is kept in an object under `raw`, JSON other than an object under `value`; an object
    /// encoded twice is decoded once, and empty text becomes an empty object.
    ///
    /// # References
    /// DSK-10, OLL-2, QWN-3, VLM-1, X-7; cases 28, 29, 31
    WIRE012 "broken-arguments" in Wire, Error, Safe, each Call, reach Message
}

fn check(context: &Context<'_, '_>, state: &PairedCall, report: &mut Report) {
    let (empty, error, object) = match context.constraints.arguments {
        Arguments::Any => return,
        Arguments::Json { empty, error } => (empty, error, false),
        Arguments::Object { empty, error } => (empty, error, true),
    };
    let what = match context.transcript.call(state.call).map(|call| call.input) {
        Some(Input::BrokenText) => "not valid JSON",
        Some(Input::ValueText) if object => "not a JSON object",
        Some(Input::EmptyText) if !empty => "empty",
        _ => return,
    };
    let id = context.id(state.call);
    report
        .block(context, state.call, format!("the arguments of tool call `{id}` are {what}"))
        .call_id(id)
        .predicts(error.render(&context.values(state.call, id)))
        .fix(Stage::Form, Safety::Safe, "keep them in an object", vec![Edit::SetInput { call: state.call }]);
}
