//! `LIMIT002 undeclared-tools`

use std::collections::HashSet;

use seamline_model::{Block, BlockKind, Edit, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool calls and tool results in a request that declares no tools.
    ///
    /// # Why is this bad?
    /// Bedrock and some proxies reject the whole request. The cause is usually a request without tools that summarises
    /// or titles a conversation. To keep the model from calling tools, set the tool choice to none and keep the tools.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0",
    ///   "messages": [
    ///     {"role": "user", "content": [{"text": "List the files."}]},
    ///     {
    ///       "role": "assistant",
    ///       "content": [{"toolUse": {"toolUseId": "tooluse_01", "name": "bash", "input": {"command": "ls"}}}]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [{"toolResult": {"toolUseId": "tooluse_01", "content": [{"text": "main.rs"}]}}]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0",
    ///   "messages": [
    ///     {"role": "user", "content": [{"text": "List the files."}]},
    ///     {
    ///       "role": "assistant",
    ///       "content": [{"toolUse": {"toolUseId": "tooluse_01", "name": "bash", "input": {"command": "ls"}}}]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [{"toolResult": {"toolUseId": "tooluse_01", "content": [{"text": "main.rs"}]}}]
    ///     }
    ///   ],
    ///   "toolConfig": {
    ///     "tools": [
    ///       {
    ///         "toolSpec": {
    ///           "name": "bash",
    ///           "description": "[synthetic] declared because earlier messages call it",
    ///           "inputSchema": {
    ///             "json": {
    ///               "type": "object"
    ///             }
    ///           }
    ///         }
    ///       }
    ///     ]
    ///   }
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe where a name and a schema that accepts anything are enough to declare a tool, as in Bedrock Converse: the
    /// tools that are called get declared. Otherwise display only: the conversation does not contain the definitions of
    /// the tools.
    ///
    /// # References
    /// ANT-44, BED-6, observed
    LIMIT002 "undeclared-tools" in Limit, Error, Safe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let transcript = context.transcript;
    let by_name = context.constraints.tools.declared_by_name;
    let list = transcript.request.tools.as_ref();
    let declared = list.is_some_and(|list| !list.tools.is_empty());
    // A bare list of messages is not a request and cannot declare tools.
    let Some(error) = context
        .constraints
        .tools
        .none_declared
        .filter(|_| transcript.has.pairs && !declared && !transcript.is_bare_list())
    else {
        return;
    };
    let uses = |kind: &BlockKind| matches!(kind, BlockKind::Call(_) | BlockKind::Result(_));
    if let Some((block, _)) = transcript.enumerate_blocks().find(|(_, block)| uses(&block.kind)) {
        let draft = report
            .block(context, block, "the conversation uses tools, but the request declares none".to_owned())
            .predicts(error.render(&context.values(block, context.id(block))));
        let names = called_tools(context);
        if let (true, Some(list)) = (by_name, list) {
            // A list without valid tools goes first, so that a new list can take its place.
            let edits = vec![Edit::DropMember { cut: list.cut, member: list.cut, lost: !list.is_hollow }];
            let safety = if list.is_hollow { Safety::Safe } else { Safety::Unsafe };
            draft.fix(Stage::Bytes, safety, "remove the list without valid tools", edits);
        } else if by_name && !names.is_empty() {
            let edits = vec![Edit::DeclareTools { names }];
            draft.fix(Stage::Finish, Safety::Safe, "declare the tools that are called", edits);
        }
    }
}

/// The names of the called tools, each once, in the order of their first call.
fn called_tools(context: &Context<'_, '_>) -> Vec<String> {
    let mut seen = HashSet::new();
    let calls = context.transcript.blocks.iter().filter_map(Block::call);
    let names = calls.filter_map(|call| context.transcript.name(call.tool)).filter(|name| !name.is_empty());
    names.filter(|name| seen.insert(*name)).map(str::to_owned).collect()
}
