//! `LIMIT009 missing-container`

use std::collections::HashSet;

use seamline_model::{BlockKind, FactKind, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds requests that answer calls of a server tool and do not name the container in which it waits.
    ///
    /// # Why is this bad?
    /// Anthropic rejects the request. The code that made the calls waits in a container, whose id the provider gives once, in
    /// the response with the calls. The cause is a client that does not keep it.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-opus-5",
    ///   "max_tokens": 1024,
    ///   "tools": [
    ///     {"type": "code_execution_20260120", "name": "code_execution"},
    ///     {"name": "stock", "input_schema": {"type": "object"}, "allowed_callers": ["code_execution_20260120"]}
    ///   ],
    ///   "messages": [
    ///     {"role": "user", "content": "Add up the stock of both shops."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {
    ///           "type": "server_tool_use",
    ///           "id": "srvtoolu_sum",
    ///           "name": "code_execution",
    ///           "input": {"code": "print(await stock({\"shop\": 1}))"}
    ///         },
    ///         {
    ///           "type": "tool_use",
    ///           "id": "toolu_stock",
    ///           "name": "stock",
    ///           "input": {"shop": 1},
    ///           "caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_sum"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [{"type": "tool_result", "tool_use_id": "toolu_stock", "content": "12"}]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// Nothing changes.
    ///
    /// # Fix safety
    /// Display only: send the id of the container from the earlier response. If it is lost, remove the open turn.
    ///
    /// # References
    /// ANT-38; seen in clients' code
    LIMIT009 "missing-container" in Limit, Error, DisplayOnly, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let transcript = context.transcript;
    let is_asked = !transcript.request.container && !transcript.facts.is_empty() && !transcript.is_bare_list();
    let Some(error) = context.constraints.pairs.container.filter(|_| is_asked) else {
        return;
    };
    let answered: HashSet<&str> = transcript
        .blocks
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::ServerResult(result) => result.id.as_deref(),
            _ => None,
        })
        .collect();
    let is_waiting = |maker: &str| !answered.contains(maker);
    // Only the last turn can still be open.
    let last = context.last_turn();
    let mut calls = transcript.facts.iter().filter(|fact| fact.kind == FactKind::Caller && fact.message >= last);
    if let Some(fact) = calls.find(|fact| is_waiting(&fact.id)) {
        let id = context.id(fact.block);
        let message = format!("`{}` waits for tool call `{id}` in a container that the request does not name", fact.id);
        let values = Values { message: fact.message.get(), id, ..Values::default() };
        report.block(context, fact.block, message).call_id(id).predicts(error.render(&values));
    }
}
