//! `IDENT001 illegal-call-id`

use seamline_model::{Alphabet, PairedCall, Safety, Stage};

use super::rename::rename;
use crate::context::Context;
use crate::ids;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool calls whose id has characters that the provider does not accept.
    ///
    /// # Why is this bad?
    /// Anthropic accepts letters, digits, `_` and `-` in an id. Mistral accepts exactly nine letters and digits. Both
    /// reject the whole request for any other id. The cause is usually a conversation that moved from a provider with
    /// other ids, such as `functions.bash:0` or `call_1|fc_1`.
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
    ///         {"type": "tool_use", "id": "functions.bash:0", "name": "bash", "input": {"command": "ls"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "functions.bash:0", "content": "main.rs"}
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
    ///         {"type": "tool_use", "id": "toolu_ec121fd5693d78d1070ed2ea", "name": "bash", "input": {"command": "ls"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_ec121fd5693d78d1070ed2ea", "content": "main.rs"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the tool call and its result get an id made from a hash of the old id. The same old id always gives the
    /// same new id, and two different ids stay different.
    ///
    /// # References
    /// ANT-20, MIS-2, seen in `command-code#323`; cases 37, 41
    IDENT001 "illegal-call-id" in Ident, Error, Safe, each Call, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &PairedCall, report: &mut Report) {
    let demand = &context.constraints.call_id;
    if context.transcript.call(state.call).is_none_or(|call| demand.alphabet.takes(call)) {
        return;
    }
    // A block of unknown kind would keep the old id.
    if context.pairing.is_answered_by_unknown(state.call) {
        return;
    }
    let id = context.id(state.call);
    let values = context.values(state.call, id);
    let made = ids::make_id(demand, id, |made| context.is_taken(state.call, made));
    let what = match demand.alphabet {
        Alphabet::NotNull => "is not accepted by the provider",
        _ => "has characters that the provider does not accept",
    };
    report
        .block(context, state.call, format!("tool call id `{id}` {what}"))
        .call_id(id)
        .predicts(demand.alphabet_error.render(&values))
        .fix(Stage::Finish, Safety::Safe, format!("change the id to `{made}`"), rename(context, state.call, &made));
}
