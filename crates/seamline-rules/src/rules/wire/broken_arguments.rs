//! `WIRE012 broken-arguments`

use seamline_model::{Arguments, CallState, Edit, Input, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds calls whose arguments are text that holds no JSON, no object, or nothing.
    /// Such text is legal for OpenAI; others read it and fail.
    ///
    /// # Why is this bad?
    /// The server takes the arguments of old calls apart again and rejects the whole request. It happens when a
    /// stream was cut in the middle of a call, when a history was trimmed inside a text, or when a tool without
    /// arguments was called with nothing.
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
    /// Safe: text that is no JSON is kept in an object under `raw`, JSON that is no object under `value`; an object
    /// that was written as text twice is taken out, and nothing becomes an object without members.
    ///
    /// # References
    /// DSK-10, OLL-2, QWN-3, VLM-1, X-7; cases 28, 29, 31
    WIRE012 "broken-arguments" in Wire, Error, Safe, each Call, reach Message
}

fn check(context: &Context<'_, '_>, state: &CallState, report: &mut Report) {
    let (empty, error, object) = match context.constraints.arguments {
        Arguments::Any => return,
        Arguments::Json { empty, error } => (empty, error, false),
        Arguments::Object { empty, error } => (empty, error, true),
    };
    let what = match context.transcript.call(state.call).map(|call| call.input) {
        Some(Input::BrokenText) => "no JSON",
        Some(Input::ValueText) if object => "no object",
        Some(Input::EmptyText) if !empty => "empty",
        _ => return,
    };
    let id = context.id(state.call);
    report
        .block(context, state.call, format!("the arguments of call `{id}` are {what}"))
        .call_id(id)
        .predicts(error.render(&context.values(state.call, id)))
        .fix(Stage::Form, Safety::Safe, "keep them in an object", vec![Edit::SetInput { call: state.call }]);
}
