//! `WIRE006 call-input`

use seamline_model::{BlockIndex, Edit, Field, Input, InputForm, PairedCall, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool calls whose input does not have the form that the dialect demands. Anthropic demands an object, Chat
    /// Completions a string that holds JSON.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. The cause is arguments that were encoded twice, cut off, or never arrived.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "tool_use", "id": "toolu_01", "name": "bash", "input": "{\"command\": \"ls\"}"}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "main.rs"}
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
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "ls"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "main.rs"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the input is written in the right form, without changing its meaning. An object is decoded from a string
    /// or encoded into one, an absent input becomes an empty object, and anything else is wrapped in an object.
    ///
    /// # References
    /// ANT-3, OAC-1; cases 28, 29
    WIRE006 "call-input" in Wire, Error, Safe, each Call, reach Message
}

fn check(context: &Context<'_, '_>, state: &PairedCall, report: &mut Report) {
    let Some(call) = context.transcript.call(state.call) else {
        return;
    };
    let (error, right) = match context.constraints.input {
        InputForm::Object(error) => (error, call.input == Input::Object),
        InputForm::ObjectOrNothing(error) => (error, matches!(call.input, Input::Object | Input::Missing)),
        InputForm::Text(error) => (error, call.input.is_text()),
    };
    // A call in a legacy field gets the right form when it moves.
    if right || is_legacy(context, state.call) {
        return;
    }
    let id = context.id(state.call);
    report
        .block(context, state.call, format!("input of tool call `{id}` is {}", form_name(call.input)))
        .call_id(id)
        .predicts(error.render(&context.values(state.call, id)))
        .fix(Stage::Form, Safety::Safe, "write the input in the right form", vec![Edit::SetInput { call: state.call }]);
}

fn is_legacy(context: &Context<'_, '_>, call: BlockIndex) -> bool {
    context.transcript.block(call).slot().field == Field::Whole
}

fn form_name(input: Input) -> &'static str {
    match input {
        Input::Object => "an object",
        Input::Text | Input::ValueText | Input::EmptyText | Input::BrokenText => "a string",
        Input::Null => "null",
        Input::Missing => "missing",
        Input::Other => "in another form",
    }
}
