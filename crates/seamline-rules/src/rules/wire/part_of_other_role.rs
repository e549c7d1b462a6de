//! `WIRE014 part-of-other-role`

use seamline_model::{Edit, Irregularity, IrregularityKind, Role, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds parts whose type belongs to another role, such as `input_text` in an assistant message.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. The cause is a client that writes all messages in the same way, or copies
    /// parts from another dialect.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-5",
    ///   "input": [
    ///     {"role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
    ///     {"role": "assistant", "content": [{"type": "input_text", "text": "Hi!"}]},
    ///     {"role": "user", "content": [{"type": "input_text", "text": "What can you do?"}]}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-5",
    ///   "input": [
    ///     {"role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
    ///     {"role": "assistant", "content": [{"type": "output_text", "text": "Hi!"}]},
    ///     {"role": "user", "content": [{"type": "input_text", "text": "What can you do?"}]}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: a text gets the type for its role. Parts without an equivalent type are not changed.
    ///
    /// # References
    /// OAR-16
    WIRE014 "part-of-other-role" in Wire, Error, Safe, each Irregularity, reach Message
}

fn check(context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let (Some(demand), IrregularityKind::PartOfOtherRole { expected }, Some(index)) =
        (context.constraints.part_type, &irregularity.kind, irregularity.message)
    else {
        return;
    };
    let by_assistant = context.transcript.message(index).role == Role::Assistant;
    let error = if by_assistant { demand.assistant } else { demand.others };
    let kind = context.transcript.text(irregularity.span).trim_matches('"');
    let values = Values { message: index.get(), kind, ..Values::default() };
    let draft = report
        .irregularity(irregularity, format!("part of type `{kind}` belongs to another role"))
        .predicts(error.render(&values));
    if let Some(expected) = expected {
        let edit = Edit::Patch { span: irregularity.span, text: format!("\"{expected}\"") };
        draft.fix(Stage::Bytes, Safety::Safe, format!("change its type to `{expected}`"), vec![edit]);
    }
}
