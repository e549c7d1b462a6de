//! `WIRE010 unreadable-call-list`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds lists of tool calls that are not a list and do not hold one.
    ///
    /// # Why is this bad?
    /// The provider rejects the message. The cause is a client that writes a word such as `none` if it has no calls, or
    /// one call instead of a list. A field that is `null` counts as absent and is not changed.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"},
    ///     {"role": "assistant", "content": "Hi!", "tool_calls": "none"},
    ///     {"role": "user", "content": "What can you do?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"},
    ///     {"role": "assistant", "content": "Hi!"},
    ///     {"role": "user", "content": "What can you do?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Unsafe: the field is removed with its value. The example is repaired with `safety = "unsafe"`.
    ///
    /// # References
    /// OAC-1; case 29
    WIRE010 "unreadable-call-list" in Wire, Error, Unsafe, each Irregularity, reach Message
}

fn check(_context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let IrregularityKind::UnreadableCallList { found } = &irregularity.kind else {
        return;
    };
    let Some(message) = irregularity.message else {
        return;
    };
    report.irregularity(irregularity, format!("the list of tool calls is {found}")).fix(
        Stage::Form,
        Safety::Unsafe,
        "remove the field",
        vec![Edit::RemoveCallList { message }],
    );
}
