//! `IDENT008 illegal-item-id`

use seamline_model::{Alphabet, Edit, ErrorText, Item, ItemIdDemand, ItemKind, MessageIndex, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds items whose id the provider cannot have given: an empty id, illegal characters, too many characters, or a
    /// prefix or ending that does not fit the item's type.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. The cause is a client that makes its own item ids, or items of one provider
    /// sent to another. Only the provider that gave the id needs it; tool calls and results are paired by `call_id`.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-5",
    ///   "input": [
    ///     {"role": "user", "content": "Hello"},
    ///     {
    ///       "type": "message",
    ///       "id": "019f629b-43ee-7a82-acb1-3071dbffbdad",
    ///       "role": "assistant",
    ///       "content": [{"type": "output_text", "text": "Hi!"}]
    ///     },
    ///     {"role": "user", "content": "What can you do?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-5",
    ///   "input": [
    ///     {"role": "user", "content": "Hello"},
    ///     {
    ///       "type": "message",
    ///       "role": "assistant",
    ///       "content": [{"type": "output_text", "text": "Hi!"}]
    ///     },
    ///     {"role": "user", "content": "What can you do?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the repair removes the id and keeps the item. A bare reference consists only of its id, so it is not
    /// changed.
    ///
    /// # References
    /// OAR-14, OAR-15, seen in `codex#33176`, `langchainjs#11044`
    IDENT008 "illegal-item-id" in Ident, Error, Safe, each Message, reach Message
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let Some(demand) = &context.constraints.item_id else {
        return;
    };
    let Some(item) = context.transcript.item(index) else {
        return;
    };
    let Some(id) = item.id.as_deref() else {
        return;
    };
    let Some((what, error)) = find_violation(demand, item, id) else {
        return;
    };
    let values = Values { message: index.get(), id, kind: item.of.id_start, length: id.len(), ..Values::default() };
    let draft = report.message(context, index, format!("item id `{id}` {what}")).predicts(error.render(&values));
    if item.kind != ItemKind::Reference {
        draft.fix(Stage::Form, Safety::Safe, "remove the id", vec![Edit::RemoveItemId { message: index }]);
    }
}

/// The violation of an id, and the provider's error for it.
fn find_violation(demand: &ItemIdDemand, item: &Item, id: &str) -> Option<(&'static str, ErrorText)> {
    if id.is_empty() || !Alphabet::Word.holds(id) {
        return Some(("is empty or has characters that the provider does not accept", demand.alphabet_error));
    }
    if id.len() > demand.length_max {
        return Some(("is too long", demand.length_error));
    }
    if !id.starts_with(item.of.id_start) {
        return Some(("does not have the prefix of its type", demand.prefix_error));
    }
    let ending = demand.ending_error.filter(|_| id.ends_with('_'));
    ending.map(|error| ("ends in `_`", error))
}
