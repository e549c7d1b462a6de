//! `WIRE011 unquoted-id`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds ids of calls and results that are written as numbers.
    ///
    /// # Why is this bad?
    /// Ids are strings everywhere; the provider rejects the request. It happens when a client counts its calls itself
    /// or keeps ids in a column of numbers.
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
    /// Safe: the number is put into quotes, on both sides.
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
        "put it into quotes",
        edits,
    );
}
