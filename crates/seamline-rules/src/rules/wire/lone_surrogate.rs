//! `WIRE001 lone-surrogate`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds half of a surrogate pair in a string, such as `\ud83d` without its second half.
    ///
    /// # Why is this bad?
    /// Valid text has no half characters. Providers reject the body as invalid JSON, and most JSON parsers reject it
    /// before it is sent. The cause is output that was cut by UTF-16 units, in the middle of an emoji.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "What does the log say?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {
    ///           "type": "tool_use",
    ///           "id": "toolu_01",
    ///           "name": "bash",
    ///           "input": {"command": "head -c 5 log.txt"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "done \ud83d"}
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
    ///     {"role": "user", "content": "What does the log say?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {
    ///           "type": "tool_use",
    ///           "id": "toolu_01",
    ///           "name": "bash",
    ///           "input": {"command": "head -c 5 log.txt"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "done \ufffd"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: it becomes U+FFFD, the replacement character. The other half is not in the body.
    ///
    /// # References
    /// ANT-19, OAC-21, seen in `claude-code#60394`; case 65
    WIRE001 "lone-surrogate" in Wire, Error, Safe, each Irregularity, reach Message
}

fn check(context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let IrregularityKind::LoneSurrogate = &irregularity.kind else {
        return;
    };
    let edits = vec![Edit::Patch { span: irregularity.span, text: "\\ufffd".to_owned() }];
    report
        .irregularity(irregularity, "half of a surrogate pair in a string".to_owned())
        .predicts(context.constraints.lone_surrogate.0.to_owned())
        .fix(Stage::Bytes, Safety::Safe, "replace it with U+FFFD", edits);
}
