//! Removes reasoning from a conversation of items.

use seamline_model::{BlockIndex, Edit, ItemKind, MessageIndex};

use crate::context::Context;

/// The edits that remove reasoning, or keep it as text if it is readable, and remove the ids of the items that belong
/// to it: the provider would search for the reasoning of an item with an id.
pub(super) fn remove_reasoning(context: &Context<'_, '_>, reasoning: MessageIndex, why: &str) -> Vec<Edit> {
    let Some(block) = block(context, reasoning) else { return Vec::new() };
    let readable = context.transcript.item(reasoning).is_some_and(|item| item.readable);
    let gone = if readable {
        Edit::Demote { block, heading: format!("reasoning, kept as text: {why}") }
    } else {
        Edit::Remove { block }
    };
    std::iter::once(gone).chain(remove_following_ids(context, reasoning)).collect()
}

/// The edits that remove the ids of the items after reasoning that belong to it.
pub(super) fn remove_following_ids(context: &Context<'_, '_>, reasoning: MessageIndex) -> impl Iterator<Item = Edit> {
    let items = context.transcript.items.iter().enumerate().skip(reasoning.get() + 1);
    items
        .take_while(|(_, item)| item.kind == ItemKind::Made)
        .filter(|(_, item)| item.id.is_some())
        .map(|(at, _)| Edit::RemoveItemId { message: MessageIndex(at as u32) })
}

/// The block of an item that is a single block.
pub(super) fn block(context: &Context<'_, '_>, item: MessageIndex) -> Option<BlockIndex> {
    context.transcript.blocks_of(item).next().map(|(block, _)| block)
}
