//! `IDENT006 internal-call-id`

use std::collections::HashMap;

use seamline_model::{BlockIndex, IdDemand, IdForm, PairedCall, Safety, Stage, label};

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
    /// id without the provider's own prefix is changed as well. Two different ids never become one: if another call
    /// already has the new id, the later of the two calls gets an id made from a hash.
    ///
    /// # References
    /// S2-04 to S2-08; case 37
    IDENT006 "internal-call-id" in Ident, Warning, Safe, each Whole, reach Ids
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let demand = &context.constraints.call_id;
    let is_canonical = context.policy.id_mode == IdMode::Canonical && !demand.prefix.is_empty();
    if !context.transcript.has.internal_ids && !is_canonical {
        return;
    }
    let mut given = Given::default();
    for state in &context.pairing.calls {
        let id = context.id(state.call);
        let is_internal = context.transcript.call(state.call).is_some_and(|call| call.id_form.is_internal());
        let is_foreign = is_canonical && !id.is_empty() && !id.starts_with(demand.prefix);
        // Where the tool name identifies a call, the name is not an internal id.
        let named = !demand.demanded && is_name(context, state);
        // A block of unknown kind would keep the old id.
        let is_kept = named || context.pairing.is_answered_by_unknown(state.call);
        let is_changed = (is_internal || is_foreign) && !is_kept && ids::is_legal(demand, id);
        // If an earlier call got the id of this one, this one gets a new id: later messages change no earlier repair.
        if is_changed || given.is_given_to_another(id) {
            let made = given.id_for(context, state.call, is_changed);
            report_id(context, report, state.call, &made);
        } else {
            given.keep(id);
        }
    }
}

fn is_name(context: &Context<'_, '_>, state: &PairedCall) -> bool {
    let tool = context.transcript.call(state.call).and_then(|call| call.tool);
    context.transcript.name(tool) == Some(context.id(state.call))
}

/// The ids that calls have got so far. Two different ids never become one.
#[derive(Default)]
struct Given<'c> {
    /// For each old id, the new one.
    made: HashMap<&'c str, String>,
    /// For each id that is in use, the old id of its calls.
    users: HashMap<String, &'c str>,
}

impl<'c> Given<'c> {
    fn is_given_to_another(&self, id: &str) -> bool {
        self.users.get(id).is_some_and(|user| *user != id)
    }

    fn keep(&mut self, id: &'c str) {
        self.users.insert(id.to_owned(), id);
    }

    /// The new id of a call: the same for each call with its old id. `is_changed` says that its own id cannot stay.
    fn id_for(&mut self, context: &'c Context<'_, '_>, call: BlockIndex, is_changed: bool) -> String {
        let id = context.id(call);
        if let Some(made) = self.made.get(id) {
            return made.clone();
        }
        let demand = &context.constraints.call_id;
        let is_taken = |made: &str| context.is_taken(call, made) || self.users.contains_key(made);
        let plain = is_changed.then(|| plain_id(demand, id)).flatten().filter(|plain| !is_taken(plain));
        let made = plain.unwrap_or_else(|| ids::make_id(demand, id, is_taken));
        self.users.insert(made.clone(), id);
        self.made.insert(id, made.clone());
        made
    }
}

/// The id with the provider's prefix instead of the client's or another provider's, if the provider accepts it.
fn plain_id(demand: &IdDemand, id: &str) -> Option<String> {
    let mut prefixes = std::iter::once(&IdForm::INTERNAL).chain(demand.known_prefixes.iter().copied().flatten());
    let rest = prefixes.find_map(|prefix| id.strip_prefix(prefix)).unwrap_or(id);
    let plain = format!("{}{rest}", demand.prefix);
    // A repair writes no id that a model could read as an instruction: such an id becomes a hash.
    let is_plain = !rest.is_empty() && label(rest) == rest;
    (is_plain && ids::is_legal(demand, &plain)).then_some(plain)
}

fn report_id(context: &Context<'_, '_>, report: &mut Report, call: BlockIndex, made: &str) {
    let id = context.id(call);
    let message = if id.starts_with(IdForm::INTERNAL) {
        format!("tool call id `{id}` is an internal id of the client")
    } else if id.starts_with(context.constraints.call_id.prefix) {
        format!("tool call id `{id}` collides with the new id of an earlier call")
    } else {
        format!("tool call id `{id}` lacks the prefix of the provider's ids")
    };
    report.block(context, call, message).call_id(id).fix(
        Stage::Finish,
        Safety::Safe,
        format!("change the id to `{made}`"),
        rename(context, call, made),
    );
}
