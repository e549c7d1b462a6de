//! `IDENT007 illegal-server-id`

use std::collections::HashMap;

use seamline_model::{Alphabet, BlockIndex, BlockKind, Edit, IdDemand, MessageIndex, Safety, Stage};

use crate::context::Context;
use crate::ids;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds server tool calls whose id does not have the form that the provider gives.
    ///
    /// # Why is this bad?
    /// Anthropic rejects the whole request. The cause is a proxy that invents such calls, or renames all ids in the
    /// same way.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Search."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "server_tool_use", "id": "toolu_9", "name": "web_search", "input": {"query": "rust"}},
    ///         {"type": "web_search_tool_result", "tool_use_id": "toolu_9", "content": []},
    ///         {"type": "text", "text": "Found."}
    ///       ]
    ///     },
    ///     {"role": "user", "content": "Thanks."}
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
    ///     {"role": "user", "content": "Search."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "server_tool_use", "id": "srvtoolu_1be13523e90968a99aa06c67", "name": "web_search", "input": {"query": "rust"}},
    ///         {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1be13523e90968a99aa06c67", "content": []},
    ///         {"type": "text", "text": "Found."}
    ///       ]
    ///     },
    ///     {"role": "user", "content": "Thanks."}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the call and its result get an id made from a hash of the old id.
    ///
    /// # References
    /// ANT-22, observed
    IDENT007 "illegal-server-id" in Ident, Error, Safe, each Whole, reach Message
}

/// The form of ids of server tool calls.
const SERVER_ID: IdDemand = IdDemand { alphabet: Alphabet::Word, prefix: "srvtoolu_", ..IdDemand::ANY };

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Some(error) = context.constraints.server_id.filter(|_| context.transcript.has.server_pairs) else {
        return;
    };
    let mut results = Results::default();
    for (block, content) in context.blocks() {
        let BlockKind::ServerCall(server) = &content.kind else {
            continue;
        };
        let id = server.call.id.as_deref().unwrap_or("");
        // Only calls that must be answered are the provider's own; others have ids of their MCP servers.
        if !server.must_be_answered || is_legal(id) {
            continue;
        }
        let made = ids::make_id(&SERVER_ID, id, |_| false);
        report
            .block(context, block, format!("server tool call id `{id}` does not have the provider's form"))
            .call_id(id)
            .predicts(error.render(&context.values(block, id)))
            .fix(
                Stage::Finish,
                Safety::Safe,
                format!("change the id to `{made}`"),
                rename(results.of(context, content.message, id), block, &made),
            );
    }
}

fn is_legal(id: &str) -> bool {
    let rest = id.strip_prefix(SERVER_ID.prefix).unwrap_or("");
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The results of the message that was last asked for, by the id that they name.
#[derive(Default)]
struct Results<'c> {
    message: Option<MessageIndex>,
    by_id: HashMap<&'c str, Vec<BlockIndex>>,
}

impl<'c> Results<'c> {
    /// The results of a message that name an id.
    fn of(&mut self, context: &Context<'c, '_>, message: MessageIndex, id: &str) -> &[BlockIndex] {
        if self.message != Some(message) {
            self.message = Some(message);
            self.by_id.clear();
            for (block, content) in context.transcript.blocks_of(message) {
                if let BlockKind::ServerResult(result) = &content.kind
                    && let Some(id) = result.id.as_deref()
                {
                    self.by_id.entry(id).or_default().push(block);
                }
            }
        }
        self.by_id.get(id).map_or(&[], Vec::as_slice)
    }
}

/// The edits that change the id of a call and of its results in the same message.
fn rename(results: &[BlockIndex], call: BlockIndex, made: &str) -> Vec<Edit> {
    let addressed = results.iter().map(|&result| Edit::Readdress { result, call, id: made.to_owned() });
    std::iter::once(Edit::SetCallId { call, id: made.to_owned() }).chain(addressed).collect()
}
