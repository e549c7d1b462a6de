//! `WIRE016 foreign-role`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds roles under the name that another program or dialect gives them, such as `human`, `ai` and `model`.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. It happens when a history is sent as a framework or another provider keeps it.
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
    /// Safe: the role gets the name that this dialect gives it. Where only the user and the model speak, what the
    /// system says is said by the user.
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
    report.irregularity(irregularity, format!("role `{role}` is called `{expected}` here")).fix(
        Stage::Bytes,
        Safety::Safe,
        format!("call it `{expected}`"),
        edits,
    );
}
