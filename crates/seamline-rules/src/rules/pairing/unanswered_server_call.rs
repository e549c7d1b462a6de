//! `PAIR008 unanswered-server-call`

use std::collections::HashSet;

use seamline_model::{BlockKind, Edit, FactKind, MessageIndex, Role, Safety, ServerCall, Severity, Stage, Values};

use super::server_pairs::{OpenServerCall, ServerPairs};
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
    /// Safe: a result with the provider's own error code for an unavailable tool is added right after the call, once the turn
    /// of the call is over. The
    /// client does not run these tools, so nothing else is known. A call that made calls itself gets no result: only the
    /// provider can write it, after the results of those calls. If the result is in another turn, `orphan-server-result`
    /// moves it.
    ///
    /// # References
    /// ANT-34, ANT-35, ANT-37; case 22
    PAIR008 "unanswered-server-call" in Pairing, Error, Safe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let transcript = context.transcript;
    let calls = transcript.facts.iter().filter(|fact| fact.kind == FactKind::Caller);
    let callers: HashSet<&str> = calls.map(|fact| &*fact.id).collect();
    for open in ServerPairs::of(context).open {
        // An open turn may still get its results.
        let (BlockKind::ServerCall(server), Some(end)) = (&transcript.block(open.block).kind, open.turn_end) else {
            continue;
        };
        // A call without an id cannot be answered, and a result in another turn only has to be moved.
        if !server.must_be_answered || open.id.is_empty() || open.has_stray {
            continue;
        }
        if callers.contains(open.id) {
            report_waiting(context, report, &open, (server, end));
        } else {
            report_unanswered(context, report, &open, server);
        }
    }
}

fn report_unanswered(context: &Context<'_, '_>, report: &mut Report, open: &OpenServerCall<'_>, server: &ServerCall) {
    let name = context.transcript.name(server.call.tool).unwrap_or("");
    let values = Values { kind: &server.family, ..context.values(open.block, open.id) };
    report
        .block(context, open.block, format!("server tool call `{}` of `{name}` has no result", open.id))
        .call_id(open.id)
        .predicts(context.constraints.unanswered_server.render(&values))
        .fix(
            Stage::Pairing,
            Safety::Safe,
            "add a result that says the tool was unavailable",
            vec![Edit::CloseServerCall { call: open.block }],
        );
}

/// Reports a call that made calls itself. Its result belongs after theirs, and only the provider can write it. Whether
/// messages of the user alone end its turn is not known.
fn report_waiting(
    context: &Context<'_, '_>,
    report: &mut Report,
    open: &OpenServerCall<'_>,
    (server, end): (&ServerCall, MessageIndex),
) {
    let id = open.id;
    let is_continued = context.transcript.enumerate_from(end).any(|(_, message)| message.role == Role::Assistant);
    let (severity, message) = if is_continued {
        (Severity::Error, format!("server tool call `{id}` has no result, and its turn is over"))
    } else {
        let message = format!("server tool call `{id}` waits for its own calls, and the next message may end its turn");
        (Severity::Warning, message)
    };
    let values = Values { kind: &server.family, ..context.values(open.block, id) };
    let predicts = context.constraints.unanswered_server.render(&values);
    report.block(context, open.block, message).severity(severity).call_id(id).predicts(predicts);
}
