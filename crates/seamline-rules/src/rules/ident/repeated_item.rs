//! `IDENT009 repeated-item`

use std::collections::HashMap;

use seamline_model::{Edit, ItemKind, MessageIndex, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};
use crate::settled::item_id;

declare_rule! {
    /// # What it does
    /// Finds items under an id that an item before them has.
    ///
    /// # Why is this bad?
    /// The provider takes each item once and rejects the request. It happens when a part of a history is added twice,
    /// as after a retry.
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
    /// Safe: an item that says the same byte for byte goes; one that says something else stays, without the id.
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
            .message(context, index, format!("item `{id}` is here already"))
            .predicts(error.render(&Values { message: at, id, ..Values::default() }));
        if says_the_same(context, *earlier, index) {
            let edits = vec![Edit::RemoveMessage { message: index }];
            draft.fix(Stage::Form, Safety::Safe, "take the repetition out", edits);
        } else if item.kind != ItemKind::Reference {
            let edits = vec![Edit::RemoveItemId { message: index }];
            draft.fix(Stage::Form, Safety::Safe, "leave the id out", edits);
        }
    }
}

fn says_the_same(context: &Context<'_, '_>, one: MessageIndex, other: MessageIndex) -> bool {
    let source = |index| context.transcript.text(context.transcript.message(index).span);
    source(one) == source(other)
}
