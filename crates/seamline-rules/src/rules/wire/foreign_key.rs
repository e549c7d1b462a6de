//! `WIRE004 foreign-key`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds ids under a key that another program or dialect uses, such as `toolCallId`.
    ///
    /// # Why is this bad?
    /// The provider does not read the key, and sees a tool call or result without an id. The cause is a mix of
    /// histories from several programs.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-4o",
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
    ///     {"role": "tool", "toolCallId": "call_1", "content": "main.rs"}
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
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "call_1",
    ///           "type": "function",
    ///           "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {"role": "tool", "tool_call_id": "call_1", "content": "main.rs"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the key gets its name in this dialect.
    ///
    /// # References
    /// S0-31
    WIRE004 "foreign-key" in Wire, Error, Safe, each Irregularity, reach Message
}

fn check(context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let IrregularityKind::ForeignKey { expected } = &irregularity.kind else {
        return;
    };
    let key = context.transcript.text(irregularity.span);
    let edits = vec![Edit::Patch { span: irregularity.span, text: format!("\"{expected}\"") }];
    report
        .irregularity(irregularity, format!("key `{}` is named `{expected}` in this dialect", key.trim_matches('"')))
        .fix(Stage::Bytes, Safety::Safe, format!("rename it to `{expected}`"), edits);
}
