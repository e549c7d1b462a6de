//! `REASON006 lost-item`

use seamline_model::{BlockKind, Edit, ItemKind, MessageIndex, Safety, Stage, Values};

use super::removal::{block, remove_reasoning};
use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds items that the provider would have to look up by id, in a request for which it stores nothing: reasoning
    /// without its encrypted content, and bare references.
    ///
    /// # Why is this bad?
    /// The provider cannot find an item that it did not store, and rejects the request. The cause is a client that
    /// switches `store` off and does not ask for the encrypted content of the reasoning.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-5",
    ///   "store": false,
    ///   "input": [
    ///     {"role": "user", "content": "Fix the parser."},
    ///     {"type": "reasoning", "id": "rs_037db69c59ceb65f", "summary": []},
    ///     {
    ///       "type": "message",
    ///       "id": "msg_037db69c59ceb65f",
    ///       "role": "assistant",
    ///       "content": [{"type": "output_text", "text": "Done."}]
    ///     },
    ///     {"role": "user", "content": "Thanks. And the tests?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-5",
    ///   "store": false,
    ///   "input": [
    ///     {"role": "user", "content": "Fix the parser."},
    ///     {
    ///       "type": "message",
    ///       "role": "assistant",
    ///       "content": [{"type": "output_text", "text": "Done."}]
    ///     },
    ///     {"role": "user", "content": "Thanks. And the tests?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe for reasoning: its summary is kept as text, and the ids of the items that belong to it are removed, because
    /// the provider would search for the reasoning of an item with an id. Unsafe for a reference: the referenced item
    /// is unknown, so the reference is removed.
    ///
    /// # References
    /// OAR-8, seen in `CLIProxyAPI#2381`, `vercel/ai#7543`
    REASON006 "lost-item" in Reason, Error, Safe, each Message, reach Cycle
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let forgets = context.transcript.envelope.stateless || context.constraints.keeps_nothing;
    let Some(error) = context.constraints.lost_item.filter(|_| forgets) else {
        return;
    };
    let Some(item) = context.transcript.item(index) else {
        return;
    };
    let Some(id) = item.id.as_deref().filter(|id| !id.is_empty()) else {
        return;
    };
    let bare = block(context, index)
        .is_some_and(|block| matches!(context.transcript.block(block).kind, BlockKind::Reasoning { signed: false }));
    if !bare && item.kind != ItemKind::Reference {
        return;
    }
    let values = Values { message: index.get(), id, ..Values::default() };
    let draft = report
        .message(context, index, format!("the provider would look up item `{id}`, but it stores nothing"))
        .predicts(error.render(&values));
    if bare {
        let edits = remove_reasoning(context, index, "the provider did not store it");
        draft.fix(Stage::Form, Safety::Safe, "remove it, and the ids of the items that belong to it", edits);
    } else {
        let edits = vec![Edit::RemoveMessage { message: index }];
        draft.fix(Stage::Form, Safety::Unsafe, "remove the reference", edits);
    }
}
