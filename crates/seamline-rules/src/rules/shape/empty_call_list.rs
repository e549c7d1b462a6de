//! `SHAPE006 empty-call-list`

use seamline_model::{Edit, Irregularity, IrregularityKind, Role, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages with an empty list of tool calls.
    ///
    /// # Why is this bad?
    /// OpenAI demands that an empty list is omitted, and rejects the request. The cause is a client that always writes
    /// the field.
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
    /// Safe: the empty list is removed.
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
    report.message(context, message, "the list of tool calls is empty".to_owned()).predicts(error.render(&values)).fix(
        Stage::Form,
        Safety::Safe,
        "remove the empty list",
        vec![Edit::RemoveCallList { message }],
    );
}
