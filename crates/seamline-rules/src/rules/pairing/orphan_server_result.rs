//! `PAIR009 orphan-server-result`

use std::collections::{HashMap, HashSet};

use seamline_model::{BlockIndex, BlockKind, Edit, FactKind, Safety, Stage, Values, label};

use super::server_pairs::{ServerPairs, Stray};
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
    ///           "text": "[begin 54cc0f12f5b41cc5: output of server tool call srvtoolu_01, kept as text: its call is not in this turn]\n{\"type\": \"web_search_tool_result\", \"tool_use_id\": \"srvtoolu_01\", \"content\": []}\n[end 54cc0f12f5b41cc5]"
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
    /// Safe: if the call is in another turn and has no result there, the result moves to it; if the tool made calls of the
    /// client, behind their results. Otherwise the block is kept as
    /// text in the same message, under a line that says what it was.
    ///
    /// # References
    /// ANT-36, seen in `claude-code#64383` and `claude-code#65938`; case 22
    PAIR009 "orphan-server-result" in Pairing, Error, Safe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let strays = ServerPairs::of(context).strays;
    let children = children(context, &strays);
    if !children.is_empty() && context.settled.is_some() {
        return context.ask_whole();
    }
    for stray in strays {
        match stray.call {
            Some(call) => {
                let made = children.get(stray.id).map(Vec::as_slice).unwrap_or_default();
                report_displaced(context, report, (&stray, call), made);
            }
            // The provider may store the call.
            None if context.transcript.envelope.chained => {}
            None => report_orphan(context, report, &stray),
        }
    }
}

/// The client's tool calls that the tools of stray results made, by the ids of those tools' calls.
fn children<'c>(context: &Context<'c, '_>, strays: &[Stray<'_>]) -> HashMap<&'c str, Vec<BlockIndex>> {
    let mut children: HashMap<&str, Vec<BlockIndex>> = HashMap::new();
    let callers = context.transcript.facts.iter().filter(|fact| fact.kind == FactKind::Caller && !strays.is_empty());
    for fact in callers.filter(|fact| context.transcript.call(fact.block).is_some()) {
        children.entry(&*fact.id).or_default().push(fact.block);
    }
    let ids: HashSet<&str> = strays.iter().map(|stray| stray.id).collect();
    children.retain(|id, _| ids.contains(id));
    children
}

/// The block after which a stray result belongs: its call, or the last result of the calls that the tool made, which are
/// answered before the tool ends. `None` while one of them is not answered before the stray result.
fn place(
    context: &Context<'_, '_>,
    (stray, call): (&Stray<'_>, BlockIndex),
    made: &[BlockIndex],
) -> Option<BlockIndex> {
    let results = made.iter().filter(|child| **child < stray.block).map(|child| {
        let matched = context.pairing.call(*child)?.matched?;
        Some(matched.result).filter(|result| *result < stray.block)
    });
    let results: Vec<BlockIndex> = results.collect::<Option<_>>()?;
    Some(results.into_iter().max().unwrap_or(call))
}

fn report_displaced(
    context: &Context<'_, '_>,
    report: &mut Report,
    (stray, call): (&Stray<'_>, BlockIndex),
    made: &[BlockIndex],
) {
    let asks = context.transcript.block(call).message.get();
    let message = format!("result of server tool call `{}` is not in the turn of its call in message {asks}", stray.id);
    let draft = report
        .block(context, stray.block, message)
        .call_id(stray.id)
        .predicts(predicted(context, stray))
        .related([call]);
    if let Some(place) = place(context, (stray, call), made) {
        let title = if place == call { "move the result to its call" } else { "move the result behind its tool calls" };
        let edits = vec![Edit::RejoinServerResult { result: stray.block, call: place }];
        draft.fix(Stage::Pairing, Safety::Safe, title, edits);
    }
}

fn report_orphan(context: &Context<'_, '_>, report: &mut Report, stray: &Stray<'_>) {
    let (block, id) = (stray.block, stray.id);
    let heading = format!("output of server tool call {}, kept as text: its call is not in this turn", label(id));
    report
        .block(context, block, format!("result of server tool call `{id}`, which is not in this turn"))
        .call_id(id)
        .predicts(predicted(context, stray))
        .fix(Stage::Pairing, Safety::Safe, "keep its content as text", vec![Edit::Demote { block, heading }]);
}

fn predicted(context: &Context<'_, '_>, stray: &Stray<'_>) -> String {
    let kind = match &context.transcript.block(stray.block).kind {
        BlockKind::ServerResult(result) => result.kind.as_str(),
        _ => "",
    };
    context.constraints.orphan_server.render(&Values { kind, ..context.values(stray.block, stray.id) })
}
