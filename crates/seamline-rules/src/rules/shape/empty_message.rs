//! `SHAPE002 empty-message`

use seamline_model::{
    BlockKind, Carrier, ContentForm, Edit, Emptiness, EmptyText, ErrorText, MessageIndex, NO_CONTENT, Role, Safety,
    Severity, Stage, Values,
};

use super::emptied;
use super::empty_text::is_hollow;
use crate::context::Context;
use crate::policy::Emptied;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages without content. An empty assistant message may be the last one; that is a warning, because later
    /// messages will follow it.
    ///
    /// # Why is this bad?
    /// Anthropic rejects them. The cause is a turn that was aborted before its first word.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Tell me a story."},
    ///     {"role": "assistant", "content": []},
    ///     {"role": "user", "content": "Hello?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Tell me a story."},
    ///     {"role": "user", "content": "Hello?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the message is removed, because it has no content. Under `emptied = "placeholder"`, or if it is the first
    /// message, it gets a synthetic text instead; under `"keep"` it gets one only where the provider rejects it. A
    /// message that loses its last block to another fix is treated the same. Text in members that the provider does not
    /// read becomes the text of the message.
    ///
    /// # References
    /// ANT-18, BED-8, BED-19, GEM-5, KIM-5, XAI-1; cases 33, 57
    SHAPE002 "empty-message" in Shape, Error, Safe, each Message, reach Message
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let Some(error) = context.constraints.empty_message else {
        return;
    };
    let message = context.transcript.message(index);
    let readable = matches!(message.body, ContentForm::Text | ContentForm::Blocks);
    if readable && is_empty(context, index) {
        report_empty(context, report, index, error);
    }
}

fn report_empty(context: &Context<'_, '_>, report: &mut Report, index: MessageIndex, error: ErrorText) {
    let message = context.transcript.message(index);
    let last = index.get() + 1 == context.transcript.messages.len();
    // At the end the provider accepts an empty list or text, but not an empty block in a list.
    let allowed = context.constraints.empty_ending
        && last
        && message.role == Role::Assistant
        && (message.range().is_empty() || message.body == ContentForm::Text);
    let mut draft = report.message(context, index, "the message has no content".to_owned());
    if allowed {
        draft = draft.severity(Severity::Warning);
    } else {
        draft = draft.predicts(error.render(&Values {
            message: index.get(),
            kind: message.role.as_str(),
            ..Values::default()
        }));
    }
    if let Some((edits, title)) = emptied::keep_members(context, index) {
        draft.fix(Stage::Finish, Safety::Safe, title, edits);
        return;
    }
    if emptied::may_remove(context, index) && context.policy.emptied == Emptied::Remove {
        let edits = vec![Edit::RemoveMessage { message: index }];
        draft.fix(Stage::Finish, Safety::Safe, "remove the empty message", edits);
    } else if !allowed || context.policy.emptied != Emptied::Keep {
        let edits = vec![Edit::FillMessage { message: index, text: NO_CONTENT }];
        draft.fix(Stage::Finish, Safety::Safe, "add a text that says there is no content", edits);
    }
}

/// Whether a message has no content for the provider.
fn is_empty(context: &Context<'_, '_>, index: MessageIndex) -> bool {
    match context.constraints.empty_text {
        EmptyText::Rejected(_) | EmptyText::RejectedInMessages(_) => is_hollow(context, index),
        // A part with an empty text still counts as a part, and white space counts as text.
        EmptyText::Accepted if context.constraints.carrier == Carrier::UserBlocks => {
            context.transcript.message(index).range().is_empty()
        }
        EmptyText::Accepted => is_hollow(context, index) && !has_blank_text(context, index),
    }
}

fn has_blank_text(context: &Context<'_, '_>, message: MessageIndex) -> bool {
    let mut blocks = context.transcript.blocks_of(message);
    blocks.any(|(_, block)| matches!(block.kind, BlockKind::Text(Emptiness::Blank)))
}
