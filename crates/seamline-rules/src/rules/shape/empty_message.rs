//! `SHAPE002 empty-message`

use seamline_model::{Body, Edit, EmptyText, MessageIndex, Role, Safety, Stage, Values};

use super::empty_text::is_hollow;
use crate::context::Context;
use crate::policy::Emptied;
use crate::rule::{Report, declare_rule};

/// What stands in a message that would otherwise be empty.
const PLACEHOLDER: &str = "[synthetic] (no content)";

declare_rule! {
    /// # What it does
    /// Finds messages with nothing in them, except a final message of the assistant, which may be empty.
    ///
    /// # Why is this bad?
    /// Some providers reject them. It happens when a turn is aborted before its first word, or when a repair
    /// takes out everything a message held.
    ///
    /// # Fix safety
    /// Safe: the message goes, since nobody said anything in it. Under `emptied = "placeholder"` or when it
    /// is the only message, it gets a synthetic text instead.
    ///
    /// # References
    /// ANT-18; cases 33, 57
    SHAPE002 "empty-message" in Shape, Error, Safe
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Some(error) = context.constraints.empty_message else {
        return;
    };
    if matches!(context.constraints.empty_text, EmptyText::Accepted) {
        return;
    }
    let count = context.transcript.messages.len();
    let empty: Vec<MessageIndex> = context
        .transcript
        .enumerate()
        .filter(|(index, message)| {
            let last = index.get() + 1 == count;
            let readable = matches!(message.body, Body::Text | Body::Blocks);
            // In a final message of the assistant only its blocks are looked at.
            let allowed = last
                && message.role == Role::Assistant
                && (message.range().is_empty() || message.body == Body::Text);
            readable && !allowed && is_hollow(context, *index)
        })
        .map(|(index, _)| index)
        .collect();
    let keeps_one = empty.len() < count;
    for index in empty {
        let values = Values {
            message: index.get(),
            ..Values::default()
        };
        let draft = report
            .message(context, index, "message with nothing in it".to_owned())
            .predicts(error.render(&values));
        if keeps_one && context.policy.emptied == Emptied::Remove {
            let edits = vec![Edit::RemoveMessage { message: index }];
            draft.fix(
                Stage::Finish,
                Safety::Safe,
                "take the empty message out",
                edits,
            );
        } else {
            let edits = vec![Edit::FillMessage {
                message: index,
                text: PLACEHOLDER,
            }];
            draft.fix(
                Stage::Finish,
                Safety::Safe,
                "say that there is no content",
                edits,
            );
        }
    }
}
