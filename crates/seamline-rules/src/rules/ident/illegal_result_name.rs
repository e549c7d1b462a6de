//! `IDENT011 illegal-result-name`

use seamline_model::{Edit, ResultState, Safety, Stage, Values};

use crate::context::Context;
use crate::ids;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool results that repeat the name of their tool in a form that the provider does not accept.
    ///
    /// # Why is this bad?
    /// Where a tool result may name its tool, the provider checks that name as it does in tool calls, and rejects the
    /// request. The cause is usually a client that records MCP tools by their full path.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "mistral-large-latest",
    ///   "messages": [
    ///     {"role": "user", "content": "Open an issue."},
    ///     {
    ///       "role": "assistant",
    ///       "content": "",
    ///       "tool_calls": [
    ///         {"id": "a1b2c3d4e", "type": "function", "function": {"name": "create_issue", "arguments": "{}"}}
    ///       ]
    ///     },
    ///     {"role": "tool", "tool_call_id": "a1b2c3d4e", "name": "mcp.github/create_issue", "content": "issue 7"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "mistral-large-latest",
    ///   "messages": [
    ///     {"role": "user", "content": "Open an issue."},
    ///     {
    ///       "role": "assistant",
    ///       "content": "",
    ///       "tool_calls": [
    ///         {"id": "a1b2c3d4e", "type": "function", "function": {"name": "create_issue", "arguments": "{}"}}
    ///       ]
    ///     },
    ///     {"role": "tool", "tool_call_id": "a1b2c3d4e", "name": "mcp_github_create_issue_ac6e04fe", "content": "issue 7"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the name is changed as in tool calls: illegal characters become `_`, and a hash of the old name is
    /// appended.
    ///
    /// # References
    /// MIS-7
    IDENT011 "illegal-result-name" in Ident, Error, Safe, each Result, reach Message
}

fn check(context: &Context<'_, '_>, state: &ResultState, report: &mut Report) {
    let demand = &context.constraints.tool_name;
    let Some(result) = context.transcript.result(state.result).filter(|_| demand.in_results) else {
        return;
    };
    let Some(name) = context.transcript.name(result.tool).filter(|name| !demand.takes(name)) else {
        return;
    };
    let id = context.id(state.result);
    let made = ids::make_name(demand, name);
    let edits = vec![Edit::SetToolName { block: state.result, name: made.clone() }];
    report
        .block(
            context,
            state.result,
            format!("tool result names the tool `{name}`, which the provider does not accept"),
        )
        .call_id(id)
        .predicts(demand.error.render(&Values { kind: name, ..context.values(state.result, id) }))
        .fix(Stage::Form, Safety::Safe, format!("change the tool name to `{made}`"), edits);
}
