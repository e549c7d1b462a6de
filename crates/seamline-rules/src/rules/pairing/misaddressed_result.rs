//! `PAIR005 misaddressed-result`

use seamline_model::{CallState, Edit, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds results that name none of the calls before them, where only one call can be meant.
    ///
    /// # Why is this bad?
    /// The provider sees a result without a call and a call without a result. It happens when an id is cleaned up on
    /// one side only, or when a result is stored without one.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Run the tests."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {
    ///           "type": "tool_use",
    ///           "id": "functions_exec_0",
    ///           "name": "exec",
    ///           "input": {"command": "cargo test"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "functions.exec:0", "content": "12 passed"}
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
    ///     {"role": "user", "content": "Run the tests."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {
    ///           "type": "tool_use",
    ///           "id": "functions_exec_0",
    ///           "name": "exec",
    ///           "input": {"command": "cargo test"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "functions_exec_0", "content": "12 passed"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the result gets the id of the only call it can answer. Where several calls are open, or the result names
    /// another tool, nothing is guessed. Under `misaddressed = "orphan"` it is taken for an orphan.
    ///
    /// # References
    /// ANT-6, OAC-4; case 16
    PAIR005 "misaddressed-result" in Pairing, Error, Safe, each Call
}

fn check(context: &Context<'_, '_>, state: &CallState, report: &mut Report) {
    let Some(answer) = state.answer.filter(|answer| answer.misaddressed) else {
        return;
    };
    let (named, meant) = (context.id(answer.result), context.id(state.call));
    let message = if named.is_empty() {
        format!("result names no call, and only `{meant}` is open")
    } else {
        format!("result answers `{named}`, which was never called; only `{meant}` is open")
    };
    let predicts = if named.is_empty() {
        context.constraints.unanswered.render(&context.values(state.call, meant))
    } else {
        context.constraints.orphan.render(&context.values(answer.result, named))
    };
    report.block(context, answer.result, message).call_id(meant).predicts(predicts).related([state.call]).fix(
        Stage::Pairing,
        Safety::Safe,
        format!("address it to `{meant}`"),
        vec![Edit::Readdress { result: answer.result, id: meant.to_owned() }],
    );
}
