//! `IDENT009 repeated-item`

use std::collections::HashMap;

use seamline_model::{Edit, ItemKind, MessageIndex, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};
use crate::settled::item_id;

declare_rule! {
    /// # What it does
    /// Finds items with the id of an earlier item.
    ///
    /// # Why is this bad?
    /// The provider accepts each item once and rejects the request. The cause is a part of the history that was added
    /// twice, for example after a retry.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-5",
    ///   "input": [
    ///     {"role": "user", "content": "Is it raining?"},
    ///     {"type": "message", "id": "msg_01", "role": "assistant", "content": [{"type": "output_text", "text": "No."}]},
    ///     {"type": "message", "id": "msg_01", "role": "assistant", "content": [{"type": "output_text", "text": "No."}]},
    ///     {"role": "user", "content": "Good."}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-5",
    ///   "input": [
    ///     {"role": "user", "content": "Is it raining?"},
    ///     {"type": "message", "id": "msg_01", "role": "assistant", "content": [{"type": "output_text", "text": "No."}]},
    ///     {"role": "user", "content": "Good."}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: a byte-identical repetition is removed; an item with other content stays, without the id.
    ///
    /// # References
    /// OAR-10
    IDENT009 "repeated-item" in Ident, Error, Safe, each Whole, reach Ids
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Some(error) = context.constraints.repeated_item else {
        return;
    };
    let mut first: HashMap<&str, MessageIndex> = HashMap::new();
    for (at, item) in context.transcript.items.iter().enumerate().skip(context.first().get()) {
        let index = MessageIndex(at as u32);
        let Some(id) = item_id(item) else { continue };
        if context.settled.is_some_and(|settled| settled.may_have_item(id)) {
            return context.ask_whole();
        }
        let Some(earlier) = first.get(id) else {
            first.insert(id, index);
            continue;
        };
        let draft = report
            .message(context, index, format!("item id `{id}` is already used by an earlier item"))
            .predicts(error.render(&Values { message: at, id, ..Values::default() }));
        if is_identical(context, *earlier, index) {
            let edits = vec![Edit::RemoveMessage { message: index }];
            draft.fix(Stage::Form, Safety::Safe, "remove the repeated item", edits);
        } else if item.kind != ItemKind::Reference {
            let edits = vec![Edit::RemoveItemId { message: index }];
            draft.fix(Stage::Form, Safety::Safe, "remove the id", edits);
        }
    }
}

fn is_identical(context: &Context<'_, '_>, one: MessageIndex, other: MessageIndex) -> bool {
    let source = |index| context.transcript.text(context.transcript.message(index).span);
    source(one) == source(other)
}
