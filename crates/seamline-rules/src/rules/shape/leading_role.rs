//! `SHAPE004 leading-role`

use seamline_model::{Edit, ErrorText, FirstRole, MessageIndex, Role, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds conversations that do not start with the user, where the provider wants them to.
    ///
    /// # Why is this bad?
    /// Older and compatible servers reject it. It happens when the head of a history is trimmed. The example is for
    /// `anthropic-compatible`; Anthropic itself takes it.
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
    /// Safe: a message of the user goes first that is marked synthetic. Where only calls need the user before them,
    /// it goes right before the first call.
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
    if message.role == Role::User {
        return;
    }
    found(context, report, index, ("the conversation does not start with the user", error));
}

/// Finds a call that is made before the user said anything.
fn check_calls(context: &Context<'_, '_>, report: &mut Report, error: ErrorText) {
    let led = context.transcript.enumerate().take_while(|(_, message)| message.role != Role::User);
    let first = led.map(|(index, _)| index).find(|&index| context.transcript.has_calls(index));
    if let Some(index) = first {
        found(context, report, index, ("a call is made before the user says anything", error));
    }
}

/// Finds calls in the very first message.
fn check_first(context: &Context<'_, '_>, report: &mut Report, error: ErrorText) {
    let first = context.transcript.enumerate().next().map(|(index, _)| index);
    if let Some(index) = first.filter(|&index| context.transcript.has_calls(index)) {
        found(context, report, index, ("a call is made before anybody says anything", error));
    }
}

fn found(context: &Context<'_, '_>, report: &mut Report, index: MessageIndex, (what, error): (&str, ErrorText)) {
    let edit = Edit::InsertMessage { before: index, role: Role::User, text: seamline_model::START };
    report
        .message(context, index, what.to_owned())
        .predicts(error.render(&Values { message: index.get(), ..Values::default() }))
        .fix(Stage::Roles, Safety::Safe, "put a message of the user first", vec![edit]);
}
