//! `IDENT005 illegal-tool-name`

use seamline_model::{CallState, Edit, Field, Safety, Stage, Values};

use crate::context::Context;
use crate::ids;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds calls of a tool whose name the provider does not take.
    /// A name may be missing, too long, start with a digit, or have other characters than letters, digits, `_` and `-`.
    ///
    /// # Why is this bad?
    /// The provider rejects the request, even when the tool has long been gone from the list of tools. It happens
    /// when a model leaks its control tokens into the name, or when the tools of a connected server are recorded by
    /// their full path.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Open an issue."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {
    ///           "type": "tool_use",
    ///           "id": "toolu_01",
    ///           "name": "mcp.github/create_issue",
    ///           "input": {"title": "crash on start"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "issue 7"}
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
    ///     {"role": "user", "content": "Open an issue."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {
    ///           "type": "tool_use",
    ///           "id": "toolu_01",
    ///           "name": "mcp_github_create_issue_ac6e04fe",
    ///           "input": {"title": "crash on start"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "issue 7"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: other characters become `_` and a hash of the old name is put behind, so that two names never become
    /// one. White space around a good name goes.
    ///
    /// # References
    /// ANT-21, GEM-7, OAC-9; case 42
    IDENT005 "illegal-tool-name" in Ident, Error, Safe, each Call, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &CallState, report: &mut Report) {
    let demand = &context.constraints.tool_name;
    let Some(call) = context.transcript.call(state.call) else {
        return;
    };
    let name = context.transcript.name(call.tool).unwrap_or("");
    // A call in a legacy field is looked at once it stands in the list.
    let legacy = context.transcript.block(state.call).slot().field == Field::Whole;
    let plain = call.plain_name && (1..=demand.length_max).contains(&name.len()) && demand.start.takes(name);
    if legacy || plain || demand.takes(name) {
        return;
    }
    let message = match name {
        "" => "call names no tool".to_owned(),
        name if name.len() > demand.length_max => {
            format!("tool name is longer than {}", demand.length_max)
        }
        name if !demand.start.takes(name) => format!("tool name `{name}` does not start as the provider wants"),
        name => format!("tool name `{name}` holds characters that the provider does not take"),
    };
    let id = context.id(state.call);
    let made = ids::made_name(demand, name);
    let mut edits = vec![Edit::SetToolName { block: state.call, name: made.clone() }];
    // Where results repeat the name, both sides must change together.
    if let Some(answer) = state.answer.filter(|_| context.constraints.result_name.is_some()) {
        edits.push(Edit::SetToolName { block: answer.result, name: made.clone() });
    }
    report
        .block(context, state.call, message)
        .call_id(id)
        .predicts(demand.error.render(&Values { kind: name, ..context.values(state.call, id) }))
        .fix(Stage::Form, Safety::Safe, format!("call the tool `{made}`"), edits);
}
