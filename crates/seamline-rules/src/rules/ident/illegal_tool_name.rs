//! `IDENT005 illegal-tool-name`

use seamline_model::{Edit, Field, PairedCall, Safety, Stage, Values};

use crate::context::Context;
use crate::ids;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool calls whose tool name the provider does not accept. A name may be missing, too long, start with a
    /// digit, or have characters other than letters, digits, `_` and `-`.
    ///
    /// # Why is this bad?
    /// The provider rejects the request, even if the list of tools no longer contains the tool. The cause is a model
    /// that writes control tokens into the name, or a client that records MCP tools by their full path.
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
    /// Safe: illegal characters become `_`, and a hash of the old name is appended, so that two names never become one.
    /// White space around a legal name is removed.
    ///
    /// # References
    /// ANT-21, GEM-7, OAC-9; case 42
    IDENT005 "illegal-tool-name" in Ident, Error, Safe, each Call, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &PairedCall, report: &mut Report) {
    let demand = &context.constraints.tool_name;
    let Some(call) = context.transcript.call(state.call) else {
        return;
    };
    let name = context.transcript.name(call.tool).unwrap_or("");
    // A call in a legacy field is checked after it moves into the list.
    let legacy = context.transcript.block(state.call).slot().field == Field::Whole;
    let plain = call.plain_name && (1..=demand.length_max).contains(&name.len()) && demand.start.takes(name);
    if legacy || plain || demand.takes(name) {
        return;
    }
    let message = match name {
        "" => "tool call has no tool name".to_owned(),
        name if name.len() > demand.length_max => {
            format!("tool name is longer than {} characters", demand.length_max)
        }
        name if !demand.start.takes(name) => {
            format!("tool name `{name}` has a first character that the provider does not accept")
        }
        name => format!("tool name `{name}` has characters that the provider does not accept"),
    };
    let id = context.id(state.call);
    let made = ids::make_name(demand, name);
    let mut edits = vec![Edit::SetToolName { block: state.call, name: made.clone() }];
    // Where results repeat the name, both sides must change together.
    if let Some(matched) = state.matched.filter(|_| context.constraints.result_name.is_some()) {
        edits.push(Edit::SetToolName { block: matched.result, name: made.clone() });
    }
    report
        .block(context, state.call, message)
        .call_id(id)
        .predicts(demand.error.render(&Values { kind: name, ..context.values(state.call, id) }))
        .fix(Stage::Form, Safety::Safe, format!("change the tool name to `{made}`"), edits);
}
