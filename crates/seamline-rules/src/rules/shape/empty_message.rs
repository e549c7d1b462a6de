//! `SHAPE002 empty-message`

use seamline_model::{
    BlockKind, Body, Carrier, Edit, Emptiness, EmptyText, ErrorText, MessageIndex, NO_CONTENT, Role, Safety, Severity,
    Stage, Values,
};

use super::emptied;
use super::empty_text::is_hollow;
use crate::context::Context;
use crate::policy::Emptied;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages with nothing in them.
    /// The last message may be an empty one of the assistant; that is a warning, since it will not be the last for
    /// long.
    ///
    /// # Why is this bad?
    /// Anthropic rejects them. It happens when a turn is aborted before its first word.
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
    /// Safe: the message goes, since nobody said anything in it. Under `emptied = "placeholder"`, or when it is the
    /// first message, it gets a synthetic text instead; under `"keep"` it does so where the provider does not take it.
    /// A message that loses its last block to another fix is treated the same. Words that stand in a member where
    /// nobody reads them are kept as the text of the message.
    ///
    /// # References
    /// ANT-18, BED-8, GEM-5, KIM-5, XAI-1; cases 33, 57
    SHAPE002 "empty-message" in Shape, Error, Safe, each Message, reach Message
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let Some(error) = context.constraints.empty_message else {
        return;
    };
    let message = context.transcript.message(index);
    let readable = matches!(message.body, Body::Text | Body::Blocks);
    if readable && says_nothing(context, index) {
        found(context, report, index, error);
    }
}

fn found(context: &Context<'_, '_>, report: &mut Report, index: MessageIndex, error: ErrorText) {
    let message = context.transcript.message(index);
    let last = index.get() + 1 == context.transcript.messages.len();
    // An empty list or text is taken at the end, an empty block in a list is not.
    let allowed = context.constraints.empty_ending
        && last
        && message.role == Role::Assistant
        && (message.range().is_empty() || message.body == Body::Text);
    let mut draft = report.message(context, index, "message with nothing in it".to_owned());
    if allowed {
        draft = draft.severity(Severity::Warning);
    } else {
        draft = draft.predicts(error.render(&Values {
            message: index.get(),
            kind: message.role.as_str(),
            ..Values::default()
        }));
    }
    if let Some((edit, title)) = emptied::kept(context, index) {
        draft.fix(Stage::Finish, Safety::Safe, title, vec![edit]);
        return;
    }
    // The first one stays, so that a conversation that grows keeps the repairs it had.
    if index.get() > 0 && context.policy.emptied == Emptied::Remove {
        let edits = vec![Edit::RemoveMessage { message: index }];
        draft.fix(Stage::Finish, Safety::Safe, "take the empty message out", edits);
    } else if !allowed || context.policy.emptied != Emptied::Keep {
        let edits = vec![Edit::FillMessage { message: index, text: NO_CONTENT }];
        draft.fix(Stage::Finish, Safety::Safe, "say that there is no content", edits);
    }
}

/// Whether a message says nothing to the provider.
fn says_nothing(context: &Context<'_, '_>, index: MessageIndex) -> bool {
    match context.constraints.empty_text {
        EmptyText::Rejected(_) | EmptyText::RejectedInMessages(_) => is_hollow(context, index),
        // A part with an empty text is a part, and white space is text.
        EmptyText::Accepted if context.constraints.carrier == Carrier::UserBlocks => {
            context.transcript.message(index).range().is_empty()
        }
        EmptyText::Accepted => is_hollow(context, index) && !says_blank(context, index),
    }
}

fn says_blank(context: &Context<'_, '_>, message: MessageIndex) -> bool {
    let mut blocks = context.transcript.blocks_of(message);
    blocks.any(|(_, block)| matches!(block.kind, BlockKind::Text(Emptiness::Blank)))
}
