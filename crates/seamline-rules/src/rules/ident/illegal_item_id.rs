//! `IDENT008 illegal-item-id`

use seamline_model::{Alphabet, Edit, ErrorText, Item, ItemIdDemand, ItemKind, MessageIndex, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds items whose own id is not one that the provider gave: empty, with other characters, too long, or not
    /// starting or ending as the ids of its type do.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. It happens when a client gives items ids of its own, or when the items of
    /// one provider are sent to another. The id is only of use to the provider that gave it; calls and results are
    /// paired by `call_id`.
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
    /// Safe: the id goes, the item stays. A bare reference is nothing but its id and is left alone.
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
    let Some((what, error)) = wrong(demand, item, id) else {
        return;
    };
    let values = Values { message: index.get(), id, kind: item.of.id_start, length: id.len(), ..Values::default() };
    let draft = report.message(context, index, format!("item id `{id}` {what}")).predicts(error.render(&values));
    if item.kind != ItemKind::Reference {
        draft.fix(Stage::Form, Safety::Safe, "leave the id out", vec![Edit::RemoveItemId { message: index }]);
    }
}

/// What is wrong with an id, and the error it provokes.
fn wrong(demand: &ItemIdDemand, item: &Item, id: &str) -> Option<(&'static str, ErrorText)> {
    if id.is_empty() || !Alphabet::Word.holds(id) {
        return Some(("holds characters that the provider does not take, or none", demand.alphabet_error));
    }
    if id.len() > demand.length_max {
        return Some(("is too long", demand.length_error));
    }
    if !id.starts_with(item.of.id_start) {
        return Some(("does not start as ids of its type do", demand.prefix_error));
    }
    let ending = demand.ending_error.filter(|_| id.ends_with('_'));
    ending.map(|error| ("ends in `_`", error))
}
