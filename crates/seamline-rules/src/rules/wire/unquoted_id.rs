//! `WIRE011 unquoted-id`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds ids of tool calls and results that are numbers.
    ///
    /// # Why is this bad?
    /// Ids are strings in every dialect; the provider rejects the request. The cause is a client that numbers its
    /// calls, or keeps ids in a numeric column.
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
    ///       "tool_calls": [{"id": 1, "type": "function", "function": {"name": "bash", "arguments": "{}"}}]
    ///     },
    ///     {"role": "tool", "tool_call_id": 1, "content": "main.rs"}
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
    ///       "tool_calls": [{"id": "1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]
    ///     },
    ///     {"role": "tool", "tool_call_id": "1", "content": "main.rs"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the number becomes a string, in the call and in the result.
    ///
    /// # References
    /// ANT-2, OAC-1
    WIRE011 "unquoted-id" in Wire, Error, Safe, each Irregularity, reach Message
}

fn check(context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    if irregularity.kind != IrregularityKind::UnquotedId {
        return;
    }
    let id = context.transcript.text(irregularity.span);
    let edits = vec![Edit::Patch { span: irregularity.span, text: format!("\"{id}\"") }];
    report.irregularity(irregularity, format!("id `{id}` is a number")).call_id(id).fix(
        Stage::Bytes,
        Safety::Safe,
        "write the id as a string",
        edits,
    );
}
