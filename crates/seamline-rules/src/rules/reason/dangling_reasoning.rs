//! `REASON005 dangling-reasoning`

use seamline_model::{BlockKind, Edit, ErrorText, Item, ItemKind, MessageIndex, Safety, Stage, Values};

use super::forgetting::{block, forget, ids_after};
use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds reasoning under an id that is not followed by the item it led to, under an id as well.
    ///
    /// # Why is this bad?
    /// A provider that knows the reasoning by its id looks for the message or call that came of it, and rejects the
    /// request when there is none. It happens when a turn is cut off while the model thinks, when the end of a
    /// history is trimmed, or when a client leaves out the ids of messages and keeps those of reasoning.
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
    /// Safe: where what follows only lacks its id and the reasoning is sealed, the ids of both go and the reasoning
    /// stays. Otherwise it goes: what nobody can read but the provider, which refuses it, says nothing to anybody;
    /// what can be read is kept as text.
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
    // What stands after the reasoning being looked at, further reasoning aside.
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
        dangles(context, report, (reasoning, follows), error);
    }
}

/// Whether an item may be what reasoning led to.
fn is_product(item: Option<&Item>) -> bool {
    item.is_some_and(|item| match item.kind {
        ItemKind::Made => item.id.is_some(),
        ItemKind::Reference | ItemKind::Unknown => true,
        ItemKind::Given | ItemKind::Reasoning | ItemKind::Trigger => false,
    })
}

fn dangles(
    context: &Context<'_, '_>,
    report: &mut Report,
    (reasoning, follows): (MessageIndex, Option<&Item>),
    error: ErrorText,
) {
    let id = context.transcript.item(reasoning).and_then(|item| item.id.as_deref()).unwrap_or("");
    let sealed = block(context, reasoning)
        .is_some_and(|block| matches!(context.transcript.block(block).kind, BlockKind::Reasoning { signed: true }));
    let nameless = follows.is_some_and(|item| item.kind == ItemKind::Made);
    let why = if nameless { "what follows it has no id" } else { "nothing follows that it led to" };
    let values = Values { message: reasoning.get(), id, ..Values::default() };
    let draft = report.message(context, reasoning, format!("reasoning `{id}`: {why}")).predicts(error.render(&values));
    if nameless && sealed {
        let edits =
            std::iter::once(Edit::RemoveItemId { message: reasoning }).chain(ids_after(context, reasoning)).collect();
        draft.fix(Stage::Form, Safety::Safe, "leave its id out as well", edits);
    } else {
        let edits = forget(context, reasoning, "what it led to is not in this conversation");
        draft.fix(Stage::Form, Safety::Safe, "take it out", edits);
    }
}
