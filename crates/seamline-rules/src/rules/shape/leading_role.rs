//! `SHAPE004 leading-role`

use seamline_model::{Edit, ErrorText, FirstRole, MessageIndex, Role, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds conversations that do not start with a user message, where the provider demands one.
    ///
    /// # Why is this bad?
    /// Older and compatible servers reject the request. The cause is a history that was trimmed at the start. The
    /// example is for `anthropic-compatible`; Anthropic itself accepts it.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "assistant", "content": "Which file do you mean?"},
    ///     {"role": "user", "content": "main.rs"}
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
    ///     {
    ///       "role": "user",
    ///       "content": "[synthetic] (the conversation starts here)"
    ///     },
    ///     {"role": "assistant", "content": "Which file do you mean?"},
    ///     {"role": "user", "content": "main.rs"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: a synthetic user message is inserted at the start. Where only tool calls need a user message before them,
    /// it is inserted right before the first call.
    ///
    /// # References
    /// ANT-12, BED-7, GEM-3, MIS-5, seen in `gemini-cli#26486`; case 58
    SHAPE004 "leading-role" in Shape, Error, Safe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let error = match context.constraints.first_role {
        FirstRole::Any => return,
        FirstRole::User(error) => error,
        FirstRole::UserBeforeCalls(error) => return check_calls(context, report, error),
        FirstRole::AnyBeforeCalls(error) => return check_first(context, report, error),
    };
    let first =
        context.transcript.enumerate().find(|(_, message)| !matches!(message.role, Role::System | Role::Developer));
    let Some((index, message)) = first else {
        return;
    };
    // The provider may have added a role that begins a conversation.
    if matches!(message.role, Role::User | Role::Unknown) {
        return;
    }
    report_message(context, report, index, ("the conversation does not start with a user message", error));
}

/// Finds a call before the first user message.
fn check_calls(context: &Context<'_, '_>, report: &mut Report, error: ErrorText) {
    let led = context.transcript.enumerate().take_while(|(_, message)| message.role != Role::User);
    let first = led.map(|(index, _)| index).find(|&index| context.transcript.has_calls(index));
    if let Some(index) = first {
        report_message(context, report, index, ("a tool call comes before the first user message", error));
    }
}

/// Finds calls in the first message.
fn check_first(context: &Context<'_, '_>, report: &mut Report, error: ErrorText) {
    let first = context.transcript.enumerate().next().map(|(index, _)| index);
    if let Some(index) = first.filter(|&index| context.transcript.has_calls(index)) {
        report_message(context, report, index, ("the first message makes a tool call", error));
    }
}

fn report_message(
    context: &Context<'_, '_>,
    report: &mut Report,
    index: MessageIndex,
    (what, error): (&str, ErrorText),
) {
    let edit = Edit::InsertMessage { before: index, role: Role::User, text: seamline_model::START };
    report
        .message(context, index, what.to_owned())
        .predicts(error.render(&Values { message: index.get(), ..Values::default() }))
        .fix(Stage::Roles, Safety::Safe, "insert a synthetic user message before it", vec![edit]);
}
