//! `ORDER004 misplaced-system`

use seamline_model::{BlockKind, ContentForm, Edit, MessageIndex, Role, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds system messages inside a conversation that are not between a user message and an assistant message.
    ///
    /// # Why is this bad?
    /// Newer Anthropic models accept system messages inside a conversation, but only after a user message, and last or
    /// before an assistant message. The provider rejects any other position.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-opus-4-8",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"},
    ///     {"role": "assistant", "content": "Hi."},
    ///     {"role": "system", "content": "Be brief."},
    ///     {"role": "user", "content": "Tell me more."}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "claude-opus-4-8",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"},
    ///     {"role": "assistant", "content": "Hi."},
    ///     {"role": "user", "content": "Be brief."},
    ///     {"role": "user", "content": "Tell me more."}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Unsafe: the message becomes a user message, which gives its text less authority. The example is repaired with
    /// `safety = "unsafe"`.
    ///
    /// # References
    /// ANT-15, documented and recorded
    ORDER004 "misplaced-system" in Order, Error, Unsafe, each Message, reach Cycle
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let messages = &context.transcript.messages;
    let Some(demand) = context.constraints.system_place.filter(|_| messages[index.get()].role == Role::System) else {
        return;
    };
    let model = context.transcript.model.as_deref().unwrap_or("");
    if !demand.models.claims(model) {
        return;
    }
    let before = index.get().checked_sub(1).map(|before| messages[before].role);
    let follows = match before {
        Some(Role::User | Role::System | Role::Unknown) => true,
        Some(Role::Assistant) => ends_in_server_result(context, MessageIndex(index.0 - 1)),
        _ => false,
    };
    let may_follow = |role: Role| matches!(role, Role::Assistant | Role::System | Role::Unknown);
    let precedes = messages.get(index.get() + 1).is_none_or(|after| may_follow(after.role));
    if follows && precedes {
        return;
    }
    let draft = report
        .message(context, index, "system message is not between a user message and an assistant message".to_owned())
        .predicts(demand.error.render(&Values { message: index.get(), ..Values::default() }));
    // Only the system role has settings.
    if messages[index.get()].body != ContentForm::Setting {
        let edits = vec![Edit::SetRole { message: index, role: Role::User }];
        draft.fix(Stage::Form, Safety::Unsafe, "change the role to `user`", edits);
    }
}

fn ends_in_server_result(context: &Context<'_, '_>, message: MessageIndex) -> bool {
    let last = context.transcript.blocks_of(message).next_back();
    last.is_some_and(|(_, block)| matches!(block.kind, BlockKind::ServerResult(_)))
}
