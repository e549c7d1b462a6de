//! `IDENT004 missing-call-id`

use seamline_model::{Edit, PairedCall, Safety};

use super::rename::rename;
use crate::context::Context;
use crate::ids;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool calls without an id.
    ///
    /// # Why is this bad?
    /// The provider rejects the request, and no tool result can name the call. The cause is a server, often a local
    /// one, that gives no ids or empty ids.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "What is the weather in Paris?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "",
    ///           "type": "function",
    ///           "function": {"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {"role": "tool", "tool_call_id": "", "content": "18 degrees, clear"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "What is the weather in Paris?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "call_3ed6b5b36892ac4ab40007ac",
    ///           "type": "function",
    ///           "function": {"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {"role": "tool", "tool_call_id": "call_3ed6b5b36892ac4ab40007ac", "content": "18 degrees, clear"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the tool call and its result get an id made from the position and the content of the call, so that the
    /// next request gets the same id.
    ///
    /// # References
    /// ANT-20, OAC-1; case 40
    IDENT004 "missing-call-id" in Ident, Error, Safe, each Call, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &PairedCall, report: &mut Report) {
    let demand = &context.constraints.call_id;
    if !demand.demanded || context.call_id(state.call).is_some_and(|id| !id.is_empty()) {
        return;
    }
    let content = context.transcript.block(state.call);
    let values = context.values(state.call, "");
    let (message, place) = (content.message.0, content.slot().index);
    let seed = format!("{message}/{place}/{}", context.transcript.text(content.span));
    let made = ids::make_id(demand, &seed, |made| context.is_taken(state.call, made));
    // A repeated result stays one: without the id it could be taken for the result of another call.
    let repeats = context.repeats_of(state.call).iter();
    let repeats = repeats.map(|&result| Edit::Readdress { result, call: state.call, id: made.clone() });
    let edits = rename(context, state.call, &made).into_iter().chain(repeats).collect();
    report
        .block(context, state.call, "tool call has no id".to_owned())
        .predicts(demand.alphabet_error.render(&values))
        .fix(context.naming_stage(), Safety::Safe, format!("set the id to `{made}`"), edits);
}
