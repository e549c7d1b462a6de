//! `MEDIA001 media-in-result`

use seamline_model::{Edit, Parts, ResultState, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool results with content other than text, where the provider accepts only text.
    ///
    /// # Why is this bad?
    /// In Chat Completions a message with the role `tool` holds only text; the provider rejects a request with an image
    /// there. The cause is a tool that returns an image, or a conversation from a provider that accepts images in tool
    /// results.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "What does the page look like?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "call_1",
    ///           "type": "function",
    ///           "function": {"name": "screenshot", "arguments": "{\"url\":\"http://localhost:3000\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "tool",
    ///       "tool_call_id": "call_1",
    ///       "content": [
    ///         {"type": "text", "text": "1 screenshot taken"},
    ///         {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    ///       ]
    ///     },
    ///     {"role": "assistant", "content": "A login form."}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "What does the page look like?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "call_1",
    ///           "type": "function",
    ///           "function": {"name": "screenshot", "arguments": "{\"url\":\"http://localhost:3000\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "tool",
    ///       "tool_call_id": "call_1",
    ///       "content": [{"type": "text", "text": "1 screenshot taken"}]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {
    ///           "type": "text",
    ///           "text": "[synthetic] what tool call call_1 returned beside text:"
    ///         },
    ///         {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    ///       ]
    ///     },
    ///     {"role": "assistant", "content": "A login form."}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: everything but text moves into a user message right after the results, under a synthetic line that names
    /// the tool call. A result without text gets a text that says its output follows.
    ///
    /// # References
    /// OAC-1; case 27
    MEDIA001 "media-in-result" in Media, Error, Safe, each Result, reach Message
}

fn check(context: &Context<'_, '_>, state: &ResultState, report: &mut Report) {
    let Some(error) = context.constraints.text_only_results else {
        return;
    };
    let Some(result) = context.transcript.result(state.result) else {
        return;
    };
    if !matches!(result.parts, Parts::List(listed) if listed.has_media()) {
        return;
    }
    let id = context.id(state.result);
    report
        .block(context, state.result, format!("tool result for `{id}` has content other than text"))
        .call_id(id)
        .predicts(error.render(&context.values(state.result, id)))
        .fix(
            Stage::Finish,
            Safety::Safe,
            "move that content into a user message after the results",
            vec![Edit::HoistMedia { result: state.result, text: seamline_model::OUTPUT_FOLLOWS }],
        );
}
