//! `SHAPE005 trailing-assistant`

use seamline_model::{BlockKind, Edit, Emptiness, LastRole, MemberSort, MessageIndex, Role, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds conversations that end with an assistant message, for models that do not accept it.
    ///
    /// # Why is this bad?
    /// Newer Anthropic models no longer continue an assistant message, and reject the request. The cause is a run that
    /// is resumed after its last response, or a change of model.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-opus-4-6",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Write a limerick."},
    ///     {"role": "assistant", "content": "There once was a coder from Kent"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "claude-opus-4-6",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Write a limerick."},
    ///     {"role": "assistant", "content": "There once was a coder from Kent"},
    ///     {
    ///       "role": "user",
    ///       "content": "[synthetic] Continue."
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Unsafe: a synthetic user message is added at the end. It is unknown whether the model should continue the text.
    /// The example is repaired with `safety = "unsafe"`. Safe where a member marks the message for continuation
    /// (`prefix`, Mistral): a last assistant message has that meaning there.
    ///
    /// # References
    /// ANT-13, MIS-4; case 59
    SHAPE005 "trailing-assistant" in Shape, Error, Unsafe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let model = context.transcript.model.as_deref();
    let error = match context.constraints.last_role {
        LastRole::Any => return,
        LastRole::NotAssistant { models, error } => {
            if !model.is_some_and(|model| models.claims(model)) {
                return;
            }
            error
        }
        LastRole::NotAssistantUnlessContinued(error) => error,
    };
    let has_sign = matches!(context.constraints.last_role, LastRole::NotAssistantUnlessContinued(_));
    let count = context.transcript.messages.len();
    let last = MessageIndex(count.saturating_sub(1) as u32);
    let ends = context.transcript.messages.last().is_some_and(|message| message.role == Role::Assistant);
    let waits = ends && (context.transcript.has_calls(last) || context.transcript.has.server_pairs);
    if !ends || waits || is_continued(context, last) {
        return;
    }
    let draft = report
        .message(context, last, format!("`{}` does not continue an assistant message", model.unwrap_or("the model")))
        .predicts(error.render(&Values { message: last.get(), ..Values::default() }));
    if has_sign && has_text(context, last) {
        draft.fix(Stage::Roles, Safety::Safe, "mark it for continuation", vec![Edit::Continue { message: last }]);
    } else {
        let edit = Edit::InsertMessage { before: last.next(), role: Role::User, text: seamline_model::CONTINUE };
        draft.fix(Stage::Roles, Safety::Unsafe, "add a user message that asks to continue", vec![edit]);
    }
}

/// Whether a message holds a text that can be continued.
fn has_text(context: &Context<'_, '_>, message: MessageIndex) -> bool {
    let is_text = |kind: &BlockKind| matches!(kind, BlockKind::Text(Emptiness::Present));
    context.transcript.blocks_of(message).any(|(_, block)| is_text(&block.kind))
}

/// Whether a message is marked for continuation.
fn is_continued(context: &Context<'_, '_>, message: MessageIndex) -> bool {
    context.transcript.members_of(message).iter().any(|member| member.sort == MemberSort::Continued)
}
