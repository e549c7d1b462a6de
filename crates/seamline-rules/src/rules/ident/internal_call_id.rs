//! `IDENT006 internal-call-id`

use seamline_model::{BlockIndex, IdForm, PairedCall, Safety, Stage};

use super::rename::rename;
use crate::context::Context;
use crate::ids;
use crate::policy::IdMode;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds ids that a client made for its own history and that no provider gave.
    ///
    /// # Why is this bad?
    /// Providers accept most of these ids. But if the ids of a conversation change from one request to the next, the
    /// provider's prompt cache is lost, and results with the other id are not recognised.
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
    /// Safe: the tool call and its result get the id that the provider would have seen. Under `id_mode = "canonical"` every
    /// id without the provider's own prefix is changed as well.
    ///
    /// # References
    /// S2-04 to S2-08; case 37
    IDENT006 "internal-call-id" in Ident, Warning, Safe, each Whole, reach Cycle
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let demand = &context.constraints.call_id;
    let is_canonical = context.policy.id_mode == IdMode::Canonical && !demand.prefix.is_empty();
    if !context.transcript.has.internal_ids && !is_canonical {
        return;
    }
    let is_internal =
        |state: &PairedCall| context.transcript.call(state.call).is_some_and(|call| call.id_form.is_internal());
    for state in &context.pairing.calls {
        let id = context.id(state.call);
        let is_foreign = is_canonical && !id.is_empty() && !id.starts_with(demand.prefix);
        // Where the tool name identifies a call, the name is not an internal id.
        let named = !demand.demanded && is_name(context, state);
        if (is_internal(state) || is_foreign) && !named && ids::is_legal(demand, id) {
            report_id(context, report, state.call);
        }
    }
}

fn is_name(context: &Context<'_, '_>, state: &PairedCall) -> bool {
    let tool = context.transcript.call(state.call).and_then(|call| call.tool);
    context.transcript.name(tool) == Some(context.id(state.call))
}

fn report_id(context: &Context<'_, '_>, report: &mut Report, call: BlockIndex) {
    let demand = &context.constraints.call_id;
    let id = context.id(call);
    // Under `id_mode = "canonical"` the prefix of another provider is replaced.
    let mut prefixes = std::iter::once(&IdForm::INTERNAL).chain(demand.known_prefixes.iter().copied().flatten());
    let rest = prefixes.find_map(|prefix| id.strip_prefix(prefix)).unwrap_or(id);
    let plain = format!("{}{rest}", demand.prefix);
    let free = !rest.is_empty() && ids::is_legal(demand, &plain) && !context.is_taken(call, &plain);
    let made = if free { plain } else { ids::make_id(demand, id, |made| context.is_taken(call, made)) };
    let message = if id.starts_with(IdForm::INTERNAL) {
        format!("tool call id `{id}` is an internal id of the client")
    } else {
        format!("tool call id `{id}` lacks the prefix of the provider's ids")
    };
    report.block(context, call, message).call_id(id).fix(
        Stage::Finish,
        Safety::Safe,
        format!("change the id to `{made}`"),
        rename(context, call, &made),
    );
}
