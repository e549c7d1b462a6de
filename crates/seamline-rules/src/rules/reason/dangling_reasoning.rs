//! `REASON005 dangling-reasoning`

use seamline_model::{BlockKind, Edit, ErrorText, Item, ItemKind, MessageIndex, Safety, Stage, Values};

use super::removal::{block, remove_following_ids, remove_reasoning};
use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds a reasoning item whose next item is missing or has no id.
    ///
    /// # Why is this bad?
    /// The provider finds the reasoning by its id, looks for the message or call that followed it, and rejects the
    /// request if there is none. The cause is a turn that was cut off while the model was thinking, a history that was
    /// trimmed at the end, or a client that removes the ids of messages and keeps those of reasoning.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-5",
    ///   "input": [
    ///     {"role": "user", "content": "Fix the parser."},
    ///     {"type": "reasoning", "id": "rs_0c3876fcd4da19ef", "summary": [], "encrypted_content": "gAAAAABpKhQE"},
    ///     {"role": "user", "content": "Are you still there?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-5",
    ///   "input": [
    ///     {"role": "user", "content": "Fix the parser."},
    ///     {"role": "user", "content": "Are you still there?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: if the next item only lacks its id and the reasoning is encrypted, both ids are removed and the reasoning
    /// stays. Otherwise the reasoning is removed: encrypted reasoning is useless, because only the provider can read it
    /// and the provider rejects it; readable reasoning is kept as text.
    ///
    /// # References
    /// OAR-6, seen in `continue#8933`, `openai-agents-python#1611`
    REASON005 "dangling-reasoning" in Reason, Error, Safe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Some(error) = context.constraints.dangling_reasoning else {
        return;
    };
    if !context.transcript.has.reasoning {
        return;
    }
    // The item after the present reasoning, not counting further reasoning.
    let mut follows: Option<&Item> = None;
    let mut found = Vec::new();
    for (at, item) in context.transcript.items.iter().enumerate().rev() {
        if item.kind != ItemKind::Reasoning {
            follows = Some(item);
        } else if item.id.as_ref().is_some_and(|id| !id.is_empty()) && !is_product(follows) {
            found.push((MessageIndex(at as u32), follows));
        }
    }
    for (reasoning, follows) in found.into_iter().rev() {
        report_dangling(context, report, (reasoning, follows), error);
    }
}

/// Whether an item may belong to the reasoning before it.
fn is_product(item: Option<&Item>) -> bool {
    item.is_some_and(|item| match item.kind {
        ItemKind::Made => item.id.is_some(),
        ItemKind::Reference | ItemKind::Unknown => true,
        ItemKind::Given | ItemKind::Reasoning | ItemKind::Trigger => false,
    })
}

fn report_dangling(
    context: &Context<'_, '_>,
    report: &mut Report,
    (reasoning, follows): (MessageIndex, Option<&Item>),
    error: ErrorText,
) {
    let id = context.transcript.item(reasoning).and_then(|item| item.id.as_deref()).unwrap_or("");
    let sealed = block(context, reasoning)
        .is_some_and(|block| matches!(context.transcript.block(block).kind, BlockKind::Reasoning { signed: true }));
    let nameless = follows.is_some_and(|item| item.kind == ItemKind::Made);
    let why = if nameless { "the next item has no id" } else { "the item it belongs to does not follow" };
    let values = Values { message: reasoning.get(), id, ..Values::default() };
    let draft = report.message(context, reasoning, format!("reasoning `{id}`: {why}")).predicts(error.render(&values));
    if nameless && sealed {
        let edits = std::iter::once(Edit::RemoveItemId { message: reasoning })
            .chain(remove_following_ids(context, reasoning))
            .collect();
        draft.fix(Stage::Form, Safety::Safe, "remove its id as well", edits);
    } else {
        let edits = remove_reasoning(context, reasoning, "the item it belongs to is not in this conversation");
        draft.fix(Stage::Form, Safety::Safe, "remove the reasoning", edits);
    }
}
