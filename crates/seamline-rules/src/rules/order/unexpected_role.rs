//! `ORDER003 unexpected-role`

use seamline_model::{Edit, MessageIndex, Role, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages whose role must not follow the role of the previous message.
    ///
    /// # Why is this bad?
    /// Mistral rejects a user message right after a tool result, and a system message after a tool result or an
    /// assistant message. The cause is a user who writes while tools run, or a client that inserts reminders.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "mistral-large-latest",
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "aB3dE5gH7",
    ///           "type": "function",
    ///           "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {"role": "tool", "tool_call_id": "aB3dE5gH7", "content": "main.rs"},
    ///     {"role": "user", "content": "And the tests?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "mistral-large-latest",
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "aB3dE5gH7",
    ///           "type": "function",
    ///           "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {"role": "tool", "tool_call_id": "aB3dE5gH7", "content": "main.rs"},
    ///     {
    ///       "role": "assistant",
    ///       "content": "[synthetic] (no response was recorded)"
    ///     },
    ///     {"role": "user", "content": "And the tests?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe for a user message: a synthetic assistant message is inserted before it. Unsafe for a system message, which
    /// becomes a user message.
    ///
    /// # References
    /// MIS-3, executed; case 12
    ORDER003 "unexpected-role" in Order, Error, Safe, each Message, reach Cycle
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let (Some(order), Some(before)) = (context.constraints.role_order, index.0.checked_sub(1)) else {
        return;
    };
    let role = |index| context.transcript.message(index).role;
    let (before, after) = (role(MessageIndex(before)), role(index));
    if !order.never.contains(&(before, after)) {
        return;
    }
    let values = Values { message: index.get(), id: before.as_str(), kind: after.as_str(), ..Values::default() };
    let message = format!("role `{}` must not come right after role `{}`", after.as_str(), before.as_str());
    let draft = report.message(context, index, message).predicts(order.error.render(&values));
    if after == Role::User {
        let text = seamline_model::NO_RESPONSE;
        let edit = Edit::InsertMessage { before: index, role: Role::Assistant, text };
        draft.fix(Stage::Roles, Safety::Safe, "insert a synthetic assistant message between them", vec![edit]);
    } else {
        let edit = Edit::SetRole { message: index, role: Role::User };
        draft.fix(Stage::Form, Safety::Unsafe, "change the role to `user`", vec![edit]);
    }
}
