//! `PAIR011 mistyped-result`

use seamline_model::{Edit, PairedCall, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool results whose type does not fit their call.
    ///
    /// # Why is this bad?
    /// Where calls have types, a result of another type does not count, and the provider says that the call has no
    /// result. The cause is a client that writes every result with the most common type.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-5",
    ///   "input": [
    ///     {"role": "user", "content": "Add a test."},
    ///     {"type": "custom_tool_call", "call_id": "call_1", "name": "apply_patch", "input": "*** Begin Patch"},
    ///     {"type": "function_call_output", "call_id": "call_1", "output": "Success."}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-5",
    ///   "input": [
    ///     {"role": "user", "content": "Add a test."},
    ///     {"type": "custom_tool_call", "call_id": "call_1", "name": "apply_patch", "input": "*** Begin Patch"},
    ///     {"type": "custom_tool_call_output", "call_id": "call_1", "output": "Success."}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the result gets the type that its call needs and keeps its content. Types whose results have another
    /// structure are not changed.
    ///
    /// # References
    /// OAR-5
    PAIR011 "mistyped-result" in Pairing, Error, Safe, each Call, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &PairedCall, report: &mut Report) {
    let (Some(error), Some(matched)) = (context.constraints.mistyped_result, state.matched) else {
        return;
    };
    let holder = context.transcript.block(matched.result).message;
    let (Some(call), Some(result)) = (context.transcript.item(state.message), context.transcript.item(holder)) else {
        return;
    };
    if call.of.result_type.is_empty() || call.of.result_type == result.of.result_type {
        return;
    }
    let id = context.id(state.call);
    let message =
        format!("tool result for `{id}` is a `{}`, its call needs a `{}`", result.of.result_type, call.of.result_type);
    let predicts = error.render(&context.values(state.call, id));
    let draft = report.block(context, matched.result, message).call_id(id).predicts(predicts).related([state.call]);
    if call.of.plain_result && result.of.plain_result {
        let edit = Edit::Patch { span: result.type_span, text: format!("\"{}\"", call.of.result_type) };
        draft.fix(Stage::Bytes, Safety::Safe, format!("change its type to `{}`", call.of.result_type), vec![edit]);
    }
}
