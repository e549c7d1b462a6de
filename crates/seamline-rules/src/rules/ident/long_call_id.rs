//! `IDENT002 long-call-id`

use seamline_model::{CallState, Safety, Stage, Values};

use super::rename::rename;
use crate::context::Context;
use crate::ids;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds calls whose id is longer than the provider takes.
    ///
    /// # Why is this bad?
    /// OpenAI takes 40 characters and rejects the whole request for more, with an error that some clients mistake for
    /// an overflow of the context. Proxies that pack the ids of two providers into one make such ids, and some
    /// providers hand them out themselves.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "fc_call_9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d_toolu_01A09q90qw90lq917835lq9",
    ///           "type": "function",
    ///           "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "tool",
    ///       "tool_call_id": "fc_call_9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d_toolu_01A09q90qw90lq917835lq9",
    ///       "content": "main.rs"
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "call_0fd9e3865922076d0c0419f9",
    ///           "type": "function",
    ///           "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "tool",
    ///       "tool_call_id": "call_0fd9e3865922076d0c0419f9",
    ///       "content": "main.rs"
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the call and the result that answers it get a shorter id made from a hash of the old one, so that two
    /// long ids with the same beginning stay apart.
    ///
    /// # References
    /// OAC-5, OAC-6, seen in `opencode#12653`; case 38
    IDENT002 "long-call-id" in Ident, Error, Safe, each Call, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &CallState, report: &mut Report) {
    let demand = &context.constraints.call_id;
    // Characters are never more than bytes.
    if context.call_id(state.call).is_none_or(|id| id.len() <= demand.length_max) {
        return;
    }
    let id = context.id(state.call);
    if id.chars().count() <= demand.length_max || !demand.alphabet.holds(id) {
        return;
    }
    let length = id.chars().count();
    let values = Values { length, ..context.values(state.call, id) };
    let made = ids::made(demand, id, |made| context.is_taken(state.call, made));
    report
        .block(context, state.call, format!("id of {length} characters is longer than {}", demand.length_max))
        .call_id(id)
        .predicts(demand.length_error.render(&values))
        .fix(Stage::Finish, Safety::Safe, format!("call it `{made}`"), rename(context, state.call, &made));
}
