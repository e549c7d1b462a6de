//! `WIRE005 call-list-as-text`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds lists of tool calls that are written as a string that holds JSON, or as a single call.
    ///
    /// # Why is this bad?
    /// The provider rejects the message, and programs that read the string as a list find no call in it and lose every
    /// result that follows. The cause is a database column that is sent as it was stored.
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
    ///       "tool_calls": "[{\"id\": \"call_1\", \"type\": \"function\", \"function\": {\"name\": \"bash\", \"arguments\": \"{}\"}}]"
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
    ///       "content": null,
    ///       "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]
    ///     },
    ///     {"role": "tool", "tool_call_id": "call_1", "content": "main.rs"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the list is decoded from the string.
    ///
    /// # References
    /// OAC-1, seen in `hermes-agent#52813`; case 29
    WIRE005 "call-list-as-text" in Wire, Error, Safe, each Irregularity, reach Message
}

fn check(_context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let IrregularityKind::CallListAsText { list } = &irregularity.kind else {
        return;
    };
    let edits = vec![Edit::Patch { span: irregularity.span, text: list.clone() }];
    report.irregularity(irregularity, "the list of tool calls is not written as a list".to_owned()).fix(
        Stage::Bytes,
        Safety::Safe,
        "write it as a list",
        edits,
    );
}
