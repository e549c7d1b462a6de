//! `SHAPE006 empty-call-list`

use seamline_model::{Edit, Irregularity, IrregularityKind, Role, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages whose list of calls is there but empty.
    ///
    /// # Why is this bad?
    /// OpenAI wants the list to be absent when there is nothing in it, and rejects the request. It happens when a
    /// client always writes the field.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"},
    ///     {"role": "assistant", "content": "Hi!", "tool_calls": []},
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
    /// Safe: the empty list goes.
    ///
    /// # References
    /// OAC-7, seen in `openai-node#1341`
    SHAPE006 "empty-call-list" in Shape, Error, Safe, each Irregularity, reach Message
}

fn check(context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let Some(error) = context.constraints.empty_call_list else {
        return;
    };
    let (IrregularityKind::EmptyCallList, Some(message)) = (&irregularity.kind, irregularity.message) else {
        return;
    };
    if context.transcript.message(message).role != Role::Assistant {
        return;
    }
    let values = Values { message: message.get(), ..Values::default() };
    report
        .message(context, message, "list of calls with nothing in it".to_owned())
        .predicts(error.render(&values))
        .fix(Stage::Form, Safety::Safe, "take the empty list out", vec![Edit::RemoveCallList { message }]);
}
