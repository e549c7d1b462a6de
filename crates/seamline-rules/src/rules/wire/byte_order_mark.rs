//! `WIRE002 byte-order-mark`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds a byte order mark before the body.
    ///
    /// # Why is this bad?
    /// JSON must not start with one, and providers reject the body as invalid JSON. Some editors and shells add it.
    ///
    /// # Example
    /// The file starts with the bytes `EF BB BF`, which are invisible here.
    ///
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"}
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
    ///     {"role": "user", "content": "Hello"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the mark is removed.
    ///
    /// # References
    /// ANT-19, OAC-21; RFC 8259, section 8.1
    WIRE002 "byte-order-mark" in Wire, Error, Safe, each Irregularity, reach Message
}

fn check(context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let IrregularityKind::ByteOrderMark = &irregularity.kind else {
        return;
    };
    let edits = vec![Edit::Patch { span: irregularity.span, text: String::new() }];
    report
        .irregularity(irregularity, "byte order mark before the body".to_owned())
        .predicts(context.constraints.not_json.0.to_owned())
        .fix(Stage::Bytes, Safety::Safe, "remove the mark", edits);
}
