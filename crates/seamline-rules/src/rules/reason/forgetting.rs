//! Taking reasoning out of a conversation of items.

use seamline_model::{BlockIndex, Edit, ItemKind, MessageIndex};

use crate::context::Context;

/// The edits that take reasoning out, as text where somebody can read it, and the ids of
/// what it led to: under an id the provider misses it there.
pub(super) fn forget(context: &Context<'_, '_>, reasoning: MessageIndex, why: &str) -> Vec<Edit> {
    let Some(block) = block(context, reasoning) else { return Vec::new() };
    let readable = context.transcript.item(reasoning).is_some_and(|item| item.readable);
    let gone = if readable {
        Edit::Demote { block, heading: format!("[reasoning, kept as text: {why}]") }
    } else {
        Edit::Remove { block }
    };
    std::iter::once(gone).chain(ids_after(context, reasoning)).collect()
}

/// The edits that take the ids out of what reasoning led to.
pub(super) fn ids_after(context: &Context<'_, '_>, reasoning: MessageIndex) -> impl Iterator<Item = Edit> {
    let items = context.transcript.items.iter().enumerate().skip(reasoning.get() + 1);
    items
        .take_while(|(_, item)| item.kind == ItemKind::Made)
        .filter(|(_, item)| item.id.is_some())
        .map(|(at, _)| Edit::RemoveItemId { message: MessageIndex(at as u32) })
}

/// The block of an item that is one.
pub(super) fn block(context: &Context<'_, '_>, item: MessageIndex) -> Option<BlockIndex> {
    context.transcript.blocks_of(item).next().map(|(block, _)| block)
}
