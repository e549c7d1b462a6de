//! `PAIR008 unanswered-server-call`

use std::collections::HashSet;

use seamline_model::{BlockIndex, BlockKind, Edit, MessageIndex, Role, Safety, ServerCall, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds server tool calls without a result in the same assistant turn.
    ///
    /// # Why is this bad?
    /// The provider runs these tools itself, and puts call and result into one turn. A turn that is still open may lack
    /// the result; after the next user message, the provider rejects the request. The cause is a stream that was cut
    /// between the two.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "What is new in Rust?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {
    ///           "type": "server_tool_use",
    ///           "id": "srvtoolu_01",
    ///           "name": "web_search",
    ///           "input": {"query": "Rust news"}
    ///         }
    ///       ]
    ///     },
    ///     {"role": "user", "content": "Never mind, tell me what you know."}
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
    ///     {"role": "user", "content": "What is new in Rust?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {
    ///           "type": "server_tool_use",
    ///           "id": "srvtoolu_01",
    ///           "name": "web_search",
    ///           "input": {"query": "Rust news"}
    ///         },
    ///         {
    ///           "type": "web_search_tool_result",
    ///           "tool_use_id": "srvtoolu_01",
    ///           "content": {
    ///             "type": "web_search_tool_result_error",
    ///             "error_code": "unavailable"
    ///           }
    ///         }
    ///       ]
    ///     },
    ///     {"role": "user", "content": "Never mind, tell me what you know."}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: a result with the provider's own error code for an unavailable tool is added right after the call. The
    /// client does not run these tools, so nothing else is known.
    ///
    /// # References
    /// ANT-34, ANT-35, ANT-37; case 22
    PAIR008 "unanswered-server-call" in Pairing, Error, Safe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    if !context.transcript.has.server_pairs {
        return;
    }
    let count = context.transcript.messages.len();
    let mut start = 0;
    while start < count {
        let end = turn_end(context, start);
        // An open turn may still get its results.
        if end < count {
            check_run(context, report, start..end);
        }
        start = end.max(start + 1);
    }
}

/// One past the last message of the turn at `start`: assistant messages and messages that hold only results, which do
/// not end a turn.
fn turn_end(context: &Context<'_, '_>, start: usize) -> usize {
    let belongs = |index: &usize| {
        context.transcript.messages[*index].role == Role::Assistant
            || context.holds_only_results(MessageIndex(*index as u32))
    };
    (start..context.transcript.messages.len()).take_while(belongs).last().map_or(start, |last| last + 1)
}

fn check_run(context: &Context<'_, '_>, report: &mut Report, run: std::ops::Range<usize>) {
    let blocks = || run.clone().flat_map(|index| context.transcript.blocks_of(MessageIndex(index as u32)));
    let answered: HashSet<&str> = blocks()
        .filter_map(|(_, block)| match &block.kind {
            BlockKind::ServerResult(result) => result.id.as_deref(),
            _ => None,
        })
        .collect();
    for (block, content) in blocks() {
        let BlockKind::ServerCall(server) = &content.kind else {
            continue;
        };
        let id = server.call.id.as_deref().unwrap_or("");
        // A call without an id cannot be answered.
        if server.must_be_answered && !id.is_empty() && !answered.contains(id) {
            report_unanswered(context, report, block, server);
        }
    }
}

fn report_unanswered(context: &Context<'_, '_>, report: &mut Report, block: BlockIndex, server: &ServerCall) {
    let id = server.call.id.as_deref().unwrap_or("");
    let name = context.transcript.name(server.call.tool).unwrap_or("");
    let values = Values { kind: &server.family, ..context.values(block, id) };
    report
        .block(context, block, format!("server tool call `{id}` of `{name}` has no result"))
        .call_id(id)
        .predicts(context.constraints.unanswered_server.render(&values))
        .fix(
            Stage::Pairing,
            Safety::Safe,
            "add a result that says the tool was unavailable",
            vec![Edit::CloseServerCall { call: block }],
        );
}
