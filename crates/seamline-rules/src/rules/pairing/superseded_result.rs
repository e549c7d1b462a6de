//! `PAIR006 superseded-result`

use seamline_model::{Edit, Fate, ResultState, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds synthetic results whose call got its real result later.
    ///
    /// # Why is this bad?
    /// The call has two results, and the provider reads the made-up one first or rejects the request. It happens when
    /// a call is closed while its tool still runs in the background.
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
    /// Safe: the synthetic result goes and the real one takes its place. Synthetic are the texts of Seamline and
    /// those that other programs are known to put where a result is missing.
    ///
    /// # References
    /// ANT-7; case 17
    PAIR006 "superseded-result" in Pairing, Error, Safe, each Result, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &ResultState, report: &mut Report) {
    let Fate::Superseded(call) = state.fate else {
        return;
    };
    let id = context.id(state.result);
    let real = context.pairing.call(call).and_then(|state| state.answer).map(|answer| answer.result);
    report
        .block(context, state.result, format!("synthetic result for `{id}`, whose real result came later"))
        .call_id(id)
        .predicts(context.constraints.duplicate_result.render(&context.values(state.result, id)))
        .related(real)
        .fix(
            Stage::Pairing,
            Safety::Safe,
            "let the real result take its place",
            vec![Edit::Remove { block: state.result }],
        );
}
