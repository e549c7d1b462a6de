//! `WIRE016 foreign-role`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds roles with a name from another program or dialect, such as `human`, `ai` and `model`.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. The cause is a history that is sent in the form of a framework or another
    /// provider.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "human", "content": "Hello"},
    ///     {"role": "ai", "content": "Hi!"},
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
    /// Safe: the role gets its name in this dialect. Where the dialect has only user and model, a system message
    /// becomes a user message.
    ///
    /// # References
    /// ANT-1, OAC-1, GEM-1
    WIRE016 "foreign-role" in Wire, Error, Safe, each Irregularity, reach Message
}

fn check(context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let IrregularityKind::ForeignRole { expected } = &irregularity.kind else {
        return;
    };
    let role = context.transcript.text(irregularity.span).trim_matches('"');
    let edits = vec![Edit::Patch { span: irregularity.span, text: format!("\"{expected}\"") }];
    report.irregularity(irregularity, format!("role `{role}` is named `{expected}` in this dialect")).fix(
        Stage::Bytes,
        Safety::Safe,
        format!("rename it to `{expected}`"),
        edits,
    );
}
