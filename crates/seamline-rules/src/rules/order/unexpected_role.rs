//! `ORDER003 unexpected-role`

use seamline_model::{Edit, MessageIndex, Role, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages whose role may not follow that of the message before.
    ///
    /// # Why is this bad?
    /// Mistral rejects a message of the user right after a result, and a system message after a result or a message
    /// of the assistant. It happens when the user speaks while tools run, or when a client puts reminders into the
    /// conversation.
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
    ///       "content": "[synthetic] (no answer was recorded)"
    ///     },
    ///     {"role": "user", "content": "And the tests?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe for a message of the user: a message of the assistant, marked as synthetic, goes between. Unsafe for a
    /// system message, which becomes one of the user.
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
    let message = format!("`{}` may not come right after `{}`", after.as_str(), before.as_str());
    let draft = report.message(context, index, message).predicts(order.error.render(&values));
    if after == Role::User {
        let text = seamline_model::NO_ANSWER;
        let edit = Edit::InsertMessage { before: index, role: Role::Assistant, text };
        draft.fix(Stage::Roles, Safety::Safe, "let the assistant speak between them", vec![edit]);
    } else {
        let edit = Edit::SetRole { message: index, role: Role::User };
        draft.fix(Stage::Form, Safety::Unsafe, "let the user say it", vec![edit]);
    }
}
