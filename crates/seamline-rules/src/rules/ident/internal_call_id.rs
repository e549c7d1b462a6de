//! `IDENT006 internal-call-id`

use seamline_model::{BlockIndex, CallState, IdForm, Safety, Stage};

use super::rename::rename;
use crate::context::Context;
use crate::ids;
use crate::policy::IdMode;
use crate::rule::{Report, declare_rule};

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
    /// Safe: the call and the result that answers it get the id that the provider would have seen. Under
    /// `id_mode = "canonical"` every id that does not begin as the provider's own ids do is changed as well.
    ///
    /// # References
    /// S2-04 to S2-08; case 37
    IDENT006 "internal-call-id" in Ident, Warning, Safe, each Whole
}

/// How the ids of providers begin. Under `id_mode = "canonical"` the beginning of another provider's id is replaced.
const BEGINNINGS: [&str; 5] = [IdForm::INTERNAL, "toolu_", "tooluse_", "call_", "fc_"];

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let demand = &context.constraints.call_id;
    let is_canonical = context.policy.id_mode == IdMode::Canonical && !demand.prefix.is_empty();
    if !context.transcript.has.internal_ids && !is_canonical {
        return;
    }
    let is_internal =
        |state: &CallState| context.transcript.call(state.call).is_some_and(|call| call.id_form == IdForm::Internal);
    for state in &context.pairing.calls {
        let id = context.id(state.call);
        let is_foreign = is_canonical && !id.is_empty() && !id.starts_with(demand.prefix);
        // Where ids are optional, the tool's name stands for the id.
        let named = !demand.demanded && is_name(context, state);
        if (is_internal(state) || is_foreign) && !named && ids::is_legal(demand, id) {
            found(context, report, state.call);
        }
    }
}

fn is_name(context: &Context<'_, '_>, state: &CallState) -> bool {
    let tool = context.transcript.call(state.call).and_then(|call| call.tool);
    context.transcript.name(tool) == Some(context.id(state.call))
}

fn found(context: &Context<'_, '_>, report: &mut Report, call: BlockIndex) {
    let demand = &context.constraints.call_id;
    let id = context.id(call);
    let rest = BEGINNINGS.iter().find_map(|beginning| id.strip_prefix(beginning)).unwrap_or(id);
    let plain = format!("{}{rest}", demand.prefix);
    let free = !rest.is_empty() && ids::is_legal(demand, &plain) && !context.is_taken(call, &plain);
    let made = if free { plain } else { ids::made(demand, id, |made| context.is_taken(call, made)) };
    let message = if id.starts_with(IdForm::INTERNAL) {
        format!("id `{id}` is a client's own")
    } else {
        format!("id `{id}` does not begin as the ids of the provider do")
    };
    report.block(context, call, message).call_id(id).fix(
        Stage::Finish,
        Safety::Safe,
        format!("call it `{made}`"),
        rename(context, call, &made),
    );
}
