//! `WIRE007 legacy-call`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool calls in a field that the dialect does not define: `tool_use` beside the content.
    ///
    /// # Why is this bad?
    /// The provider ignores or rejects the field, and the result that follows has no call. The cause is a history of an
    /// older client.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": "Looking.",
    ///       "tool_use": {"id": "call_1", "name": "bash", "input": {"command": "ls"}}
    ///     },
    ///     {"role": "tool", "tool_call_id": "call_1", "content": "main.rs"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": "Looking.",
    ///       "tool_calls": [
    ///         {
    ///           "id": "call_1",
    ///           "type": "function",
    ///           "function": {
    ///             "name": "bash",
    ///             "arguments": "{\"command\": \"ls\"}"
    ///           }
    ///         }
    ///       ]
    ///     },
    ///     {"role": "tool", "tool_call_id": "call_1", "content": "main.rs"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the tool call moves into the list of tool calls.
    ///
    /// # References
    /// S4-16; case 29
    WIRE007 "legacy-call" in Wire, Error, Safe, each Irregularity, reach Message
}

fn check(_context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let IrregularityKind::LegacyCall = &irregularity.kind else {
        return;
    };
    let Some(call) = irregularity.block else {
        return;
    };
    report.irregularity(irregularity, "tool call in a field that this dialect does not define".to_owned()).fix(
        Stage::Form,
        Safety::Safe,
        "move it into the list of tool calls",
        vec![Edit::AdoptLegacyCall { call }],
    );
}
