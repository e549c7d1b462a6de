//! `SHAPE012 early-trigger`

use seamline_model::{Edit, ItemKind, MessageIndex, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds compaction triggers that are not the last item.
    ///
    /// # Why is this bad?
    /// A compaction trigger asks the provider to summarise the items before it, and must be the last item. The cause is
    /// a client that saves the trigger with the history and continues.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-5",
    ///   "input": [
    ///     {"role": "user", "content": "Read the whole book."},
    ///     {"type": "compaction_trigger"},
    ///     {"role": "user", "content": "And now the next one."}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-5",
    ///   "input": [
    ///     {"role": "user", "content": "Read the whole book."},
    ///     {"role": "user", "content": "And now the next one."}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Unsafe: it is unknown whether the compaction is still wanted. The example is repaired with `safety = "unsafe"`.
    ///
    /// # References
    /// OAR-17
    SHAPE012 "early-trigger" in Shape, Error, Unsafe, each Message, reach Message
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let Some(error) = context.constraints.early_trigger else {
        return;
    };
    let is_trigger = context.transcript.item(index).is_some_and(|item| item.kind == ItemKind::Trigger);
    if !is_trigger || index.get() + 1 == context.transcript.messages.len() {
        return;
    }
    report
        .message(context, index, "the compaction trigger is not the last item".to_owned())
        .predicts(error.0.to_owned())
        .fix(Stage::Form, Safety::Unsafe, "remove the trigger", vec![Edit::RemoveMessage { message: index }]);
}
