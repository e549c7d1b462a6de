//! `REASON006 lost-item`

use seamline_model::{BlockKind, Edit, ItemKind, MessageIndex, Safety, Stage, Values};

use super::forgetting::{block, forget};
use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds items that the provider would have to look up by their id, in a request that tells it to keep nothing:
    /// reasoning without its sealed content, and bare references.
    ///
    /// # Why is this bad?
    /// What is not kept cannot be found, and the request is rejected. It happens when a client switches `store` off
    /// and does not ask for the sealed content of the reasoning.
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
    /// Safe for reasoning: its summary is kept as text, and the ids of what it led to go with it, which the provider
    /// would miss it by. Unsafe for a reference: what it stands for is not known here, and goes.
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
        .message(context, index, format!("`{id}` is known only to the provider, which keeps nothing"))
        .predicts(error.render(&values));
    if bare {
        let edits = forget(context, index, "the provider kept nothing of it");
        draft.fix(Stage::Form, Safety::Safe, "take it out, and the ids of what it led to", edits);
    } else {
        let edits = vec![Edit::RemoveMessage { message: index }];
        draft.fix(Stage::Form, Safety::Unsafe, "take the reference out", edits);
    }
}
