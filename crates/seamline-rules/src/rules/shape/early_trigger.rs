//! `SHAPE012 early-trigger`

use seamline_model::{Edit, ItemKind, MessageIndex, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds requests for compaction that are not the last item.
    ///
    /// # Why is this bad?
    /// Such an item asks the provider to sum up what stands before it, and must end the list. It happens when a client
    /// saves the item with the history and goes on.
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
    /// Unsafe: whether the compaction is still wanted is not known. The example shows what `--unsafe` does.
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
        .message(context, index, "something follows the request for compaction".to_owned())
        .predicts(error.0.to_owned())
        .fix(Stage::Form, Safety::Unsafe, "take the request out", vec![Edit::RemoveMessage { message: index }]);
}
