//! `IDENT002 long-call-id`

use seamline_model::{PairedCall, Safety, Stage, Values};

use super::rename::rename;
use crate::context::Context;
use crate::ids;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool calls whose id is longer than the provider accepts.
    ///
    /// # Why is this bad?
    /// OpenAI accepts 40 characters and rejects the whole request for more, with an error that some clients mistake for
    /// a context overflow. The cause is a proxy that packs the ids of two providers into one id; some providers also
    /// give such ids themselves.
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
    /// Safe: the tool call and its result get a shorter id made from a hash of the old id, so that two long ids with
    /// the same start stay different.
    ///
    /// # References
    /// OAC-5, OAC-6, seen in `opencode#12653`; case 38
    IDENT002 "long-call-id" in Ident, Error, Safe, each Call, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &PairedCall, report: &mut Report) {
    let demand = &context.constraints.call_id;
    // A string never has more characters than bytes.
    if context.call_id(state.call).is_none_or(|id| id.len() <= demand.length_max) {
        return;
    }
    // A block of unknown kind would keep the old id.
    if context.pairing.is_answered_by_unknown(state.call) {
        return;
    }
    let id = context.id(state.call);
    if id.chars().count() <= demand.length_max || !demand.alphabet.holds(id) {
        return;
    }
    let length = id.chars().count();
    let values = Values { length, ..context.values(state.call, id) };
    let made = ids::make_id(demand, id, |made| context.is_taken(state.call, made));
    report
        .block(
            context,
            state.call,
            format!("tool call id has {length} characters; the provider accepts {}", demand.length_max),
        )
        .call_id(id)
        .predicts(demand.length_error.render(&values))
        .fix(Stage::Finish, Safety::Safe, format!("change the id to `{made}`"), rename(context, state.call, &made));
}
