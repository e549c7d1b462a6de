//! `PAIR009 orphan-server-result`

use std::collections::HashSet;

use seamline_model::{BlockIndex, BlockKind, Edit, Role, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds server tool results without their call earlier in the same turn.
    ///
    /// # Why is this bad?
    /// The provider rejects the request, and the conversation cannot continue. The cause is an assistant turn that was
    /// split, filtered or compacted between the two.
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
    ///         {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_01", "content": []},
    ///         {"type": "text", "text": "I found nothing."}
    ///       ]
    ///     },
    ///     {"role": "user", "content": "Tell me what you know."}
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
    ///           "type": "text",
    ///           "text": "[output of server tool call srvtoolu_01, kept as text: its call is not in this turn]\n{\"type\": \"web_search_tool_result\", \"tool_use_id\": \"srvtoolu_01\", \"content\": []}"
    ///         },
    ///         {"type": "text", "text": "I found nothing."}
    ///       ]
    ///     },
    ///     {"role": "user", "content": "Tell me what you know."}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the block is kept as text in the same message, under a line that says what it was.
    ///
    /// # References
    /// ANT-36, seen in `claude-code#64383`; case 22
    PAIR009 "orphan-server-result" in Pairing, Error, Safe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    if !context.transcript.has.server_pairs {
        return;
    }
    let mut called: HashSet<&str> = HashSet::new();
    for (index, message) in context.transcript.enumerate() {
        // The provider may answer in its next message, after the client's calls are answered.
        if message.role != Role::Assistant && !context.holds_only_results(index) {
            called.clear();
        }
        for (block, content) in context.transcript.blocks_of(index) {
            match &content.kind {
                BlockKind::ServerCall(call) => {
                    called.extend(call.call.id.as_deref());
                }
                BlockKind::ServerResult(result) => {
                    let id = result.id.as_deref().unwrap_or("");
                    if !called.contains(id) {
                        report_orphan(context, report, block, (id, &result.kind));
                    }
                }
                _ => {}
            }
        }
    }
}

fn report_orphan(context: &Context<'_, '_>, report: &mut Report, block: BlockIndex, (id, kind): (&str, &str)) {
    let values = Values { kind, ..context.values(block, id) };
    let heading = format!("[output of server tool call {id}, kept as text: its call is not in this turn]");
    report
        .block(context, block, format!("result of server tool call `{id}`, which is not in this turn"))
        .call_id(id)
        .predicts(context.constraints.orphan_server.render(&values))
        .fix(Stage::Pairing, Safety::Safe, "keep its content as text", vec![Edit::Demote { block, heading }]);
}
