//! `IDENT010 unnamed-result`

use seamline_model::{Edit, ResultFate, ResultState, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool results that do not repeat the name of their tool.
    ///
    /// # Why is this bad?
    /// Where tool results name their tool, the provider rejects a result without a name. The cause is usually a
    /// conversation from a dialect that identifies calls only by id.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gemini-3-pro-preview",
    ///   "contents": [
    ///     {"role": "user", "parts": [{"text": "What is in main.rs?"}]},
    ///     {
    ///       "role": "model",
    ///       "parts": [
    ///         {"functionCall": {"id": "call_1", "name": "read_file", "args": {"path": "main.rs"}}, "thoughtSignature": "c2ln"}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "parts": [
    ///         {"functionResponse": {"id": "call_1", "response": {"output": "fn main() {}"}}}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gemini-3-pro-preview",
    ///   "contents": [
    ///     {"role": "user", "parts": [{"text": "What is in main.rs?"}]},
    ///     {
    ///       "role": "model",
    ///       "parts": [
    ///         {"functionCall": {"id": "call_1", "name": "read_file", "args": {"path": "main.rs"}}, "thoughtSignature": "c2ln"}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "parts": [
    ///         {"functionResponse": {"id": "call_1", "response": {"output": "fn main() {}"}, "name": "read_file"}}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the tool result gets the tool name of its call.
    ///
    /// # References
    /// GEM-7, seen in `langflow#9437`
    IDENT010 "unnamed-result" in Ident, Error, Safe, each Result, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &ResultState, report: &mut Report) {
    let Some(error) = context.constraints.result_name else {
        return;
    };
    let (ResultFate::Answers(call), Some(result)) = (state.fate, context.transcript.result(state.result)) else {
        return;
    };
    let name = context.transcript.call(call).and_then(|call| context.transcript.name(call.tool)).unwrap_or("");
    if result.tool.is_some() || name.is_empty() {
        return;
    }
    let id = context.id(state.result);
    report
        .block(context, state.result, format!("tool result for `{id}` does not name its tool"))
        .call_id(id)
        .predicts(error.render(&context.values(state.result, id)))
        .related([call])
        .fix(
            Stage::Finish,
            Safety::Safe,
            format!("set the tool name to `{name}`"),
            vec![Edit::SetToolName { block: state.result, name: name.to_owned() }],
        );
}
