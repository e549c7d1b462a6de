//! `IDENT006 internal-call-id`

use seamline_model::{CallState, Safety, Stage};

use super::rename::rename;
use crate::context::Context;
use crate::ids;
use crate::rule::{Report, declare_rule};

/// How ids start that a client uses inside its own history.
const INTERNAL: &str = "hist_tool_";

declare_rule! {
    /// # What it does
    /// Finds ids that a client uses in its own history and that no provider ever gave.
    ///
    /// # Why is this bad?
    /// Providers take most of them. But a conversation whose ids change from one request to the next loses its prompt
    /// cache, and results that come back under the other id are not recognised.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "tool_use", "id": "hist_tool_4f2a", "name": "bash", "input": {"command": "ls"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "hist_tool_4f2a", "content": "main.rs"}
    ///       ]
    ///     }
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
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "tool_use", "id": "toolu_4f2a", "name": "bash", "input": {"command": "ls"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_4f2a", "content": "main.rs"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the call and the result that answers it get the id that the provider would have seen.
    ///
    /// # References
    /// S2-04 to S2-08; case 37
    IDENT006 "internal-call-id" in Ident, Warning, Safe, each Call
}

fn check(context: &Context<'_, '_>, state: &CallState, report: &mut Report) {
    let demand = &context.constraints.call_id;
    let id = context.id(state.call);
    let Some(rest) = id.strip_prefix(INTERNAL) else {
        return;
    };
    if !ids::is_legal(demand, id) {
        return;
    }
    let plain = format!("{}{rest}", demand.prefix);
    let made = if ids::is_legal(demand, &plain) && !rest.is_empty() { plain } else { ids::made(demand, id) };
    report.block(context, state.call, format!("id `{id}` is a client's own")).call_id(id).fix(
        Stage::Finish,
        Safety::Safe,
        format!("call it `{made}`"),
        rename(context, state.call, &made),
    );
}
