//! `WIRE015 foreign-block`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Severity, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds blocks of a type that this dialect does not define: tool calls and results in the form of another dialect,
    /// or texts under another name. A result may also be a message with the role of a tool, which the dialect does not
    /// have. A block that Seamline does not rewrite is a warning.
    ///
    /// # Why is this bad?
    /// The provider rejects the request, or ignores the tool call and its result. The cause is a history that moved
    /// from one provider to another with only some of its messages rewritten.
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
    ///       "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "main.rs"}]
    ///     }
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
    ///     {
    ///       "role": "tool",
    ///       "tool_call_id": "call_1",
    ///       "content": "main.rs"
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: tool calls and results are rewritten in the form of this dialect, and a type gets its name in this
    /// dialect. A block without an equivalent is kept as text, character by character, under a line that says what it
    /// was.
    ///
    /// # References
    /// ANT-1, ANT-2, OAC-1, OAR-1, BED-1; case 29
    WIRE015 "foreign-block" in Wire, Error, Safe, each Irregularity, reach Message
}

fn check(context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let kind = context.transcript.text(irregularity.span).trim_matches('"');
    match (&irregularity.kind, irregularity.message, irregularity.block) {
        (IrregularityKind::ForeignPairs, Some(message), _) => {
            let what = "the content holds tool calls or results in the form of another dialect".to_owned();
            let edits = vec![Edit::Restate { message }];
            report.irregularity(irregularity, what).fix(
                Stage::Form,
                Safety::Safe,
                "write them in the form of this dialect",
                edits,
            );
        }
        (IrregularityKind::ForeignPair { own }, ..) => {
            let what = "the tool call or result is in the form of another dialect".to_owned();
            let edits = vec![Edit::Patch { span: irregularity.span, text: own.clone() }];
            let title = "write it in the form of this dialect";
            report.irregularity(irregularity, what).fix(Stage::Bytes, Safety::Safe, title, edits);
        }
        (IrregularityKind::ForeignType { expected }, ..) => {
            let edits = vec![Edit::Patch { span: irregularity.span, text: format!("\"{expected}\"") }];
            report
                .irregularity(irregularity, format!("block type `{kind}` is named `{expected}` in this dialect"))
                .fix(Stage::Bytes, Safety::Safe, format!("rename it to `{expected}`"), edits);
        }
        (IrregularityKind::ForeignBlock, _, Some(block)) => {
            let heading = "a block of another dialect, kept as text".to_owned();
            report
                .irregularity(irregularity, "the block has a type that this dialect does not define".to_owned())
                .severity(Severity::Warning)
                .fix(Stage::Form, Safety::Safe, "keep it as text", vec![Edit::Demote { block, heading }]);
        }
        _ => {}
    }
}
