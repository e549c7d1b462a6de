//! `SHAPE011 listed-result`

use seamline_model::{Edit, Parts, ResultState, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool results that are lists of parts, where the provider demands one string.
    ///
    /// # Why is this bad?
    /// Ollama splits such a message and silently loses the call id; Together demands a string. The cause is a
    /// conversation from an OpenAI client, since OpenAI accepts both.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "llama3.2",
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "call_1",
    ///           "type": "function",
    ///           "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "tool",
    ///       "tool_call_id": "call_1",
    ///       "content": [{"type": "text", "text": "main.rs"}, {"type": "text", "text": "lib.rs"}]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "llama3.2",
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "call_1",
    ///           "type": "function",
    ///           "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "tool",
    ///       "tool_call_id": "call_1",
    ///       "content": "main.rs\nlib.rs"
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the texts of the parts become one string, one line for each part.
    ///
    /// # References
    /// OLL-4, TOG-1, in the server's and the SDK's code
    SHAPE011 "listed-result" in Shape, Warning, Safe, each Result, reach Message
}

fn check(context: &Context<'_, '_>, state: &ResultState, report: &mut Report) {
    let Some(error) = context.constraints.listed_results else {
        return;
    };
    let parts = context.transcript.result(state.result).map(|result| result.parts);
    // Media are moved out of the result first.
    if !matches!(parts, Some(Parts::List(listed)) if listed.is_text()) {
        return;
    }
    let id = context.id(state.result);
    report
        .block(context, state.result, format!("tool result for `{id}` is a list of parts"))
        .call_id(id)
        .predicts(error.render(&context.values(state.result, id)))
        .fix(Stage::Finish, Safety::Safe, "write it as one string", vec![Edit::FlattenResult { result: state.result }]);
}
