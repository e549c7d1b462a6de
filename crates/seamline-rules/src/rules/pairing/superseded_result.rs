//! `PAIR006 superseded-result`

use seamline_model::{Edit, ResultFate, ResultState, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds synthetic results whose tool call got its real result later.
    ///
    /// # Why is this bad?
    /// The tool call has two results, and the provider reads the synthetic one first or rejects the request. The cause
    /// is a call that was closed while its tool still ran in the background.
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
    ///         {"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "cargo test"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {
    ///           "type": "tool_result",
    ///           "tool_use_id": "toolu_01",
    ///           "content": "[Tool execution was interrupted]",
    ///           "is_error": true
    ///         }
    ///       ]
    ///     },
    ///     {"role": "assistant", "content": "Shall I run them again?"},
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "12 passed"},
    ///         {"type": "text", "text": "They are through now."}
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
    ///         {"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "cargo test"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "12 passed"}
    ///       ]
    ///     },
    ///     {"role": "assistant", "content": "Shall I run them again?"},
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "text", "text": "They are through now."}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the real result replaces the synthetic one. Synthetic are Seamline's own texts, those of the policy, and the
    /// texts that other programs are known to write in place of a missing result, if the result also says that the tool
    /// failed: a tool may print such a text. A result with members that a repair does not write is real.
    ///
    /// # References
    /// ANT-7; case 17
    PAIR006 "superseded-result" in Pairing, Error, Safe, each Result, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &ResultState, report: &mut Report) {
    let ResultFate::Superseded(call) = state.fate else {
        return;
    };
    let id = context.id(state.result);
    let real = context.pairing.call(call).and_then(|state| state.matched).map(|matched| matched.result);
    report
        .block(context, state.result, format!("synthetic result for `{id}`, whose real result comes later"))
        .call_id(id)
        .predicts(context.constraints.duplicate_result.render(&context.values(state.result, id)))
        .related(real)
        .fix(
            Stage::Pairing,
            Safety::Safe,
            "replace it with the real result",
            vec![Edit::Remove { block: state.result }],
        );
}
