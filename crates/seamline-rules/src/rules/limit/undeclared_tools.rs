//! `LIMIT002 undeclared-tools`

use std::collections::HashSet;

use seamline_model::{BlockKind, Edit, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds calls and results in a request that declares no tools.
    ///
    /// # Why is this bad?
    /// Bedrock and some proxies reject the whole request. It happens when a conversation is summarised or titled by
    /// a request without tools. To keep the model from calling tools, the choice of tools is set to none, and the
    /// tools stay.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "anthropic.claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [{"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "ls"}}]
    ///     },
    ///     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "main.rs"}]}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// Nothing is changed.
    ///
    /// # Fix safety
    /// Only shown: what the tools were cannot be known from the conversation. Bedrock Converse takes a tool that is
    /// declared by its name and a schema for anything, so there a repair declares the tools that are called, which is
    /// safe.
    ///
    /// # References
    /// ANT-44, BED-6, observed
    LIMIT002 "undeclared-tools" in Limit, Error, DisplayOnly, each Whole
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let transcript = context.transcript;
    // A declaration that is there is not written over, even when it names nothing.
    let by_name = context.constraints.tools.declared_by_name;
    let declared = transcript.request.tools.as_ref().is_some_and(|declared| by_name || !declared.tools.is_empty());
    // A bare list of messages is no request, and says nothing about tools.
    let Some(error) = context.constraints.tools.none_declared.filter(|_| !declared && !transcript.is_bare_list())
    else {
        return;
    };
    let uses = |kind: &BlockKind| matches!(kind, BlockKind::Call(_) | BlockKind::Result(_));
    if let Some((block, _)) = transcript.enumerate_blocks().find(|(_, block)| uses(&block.kind)) {
        let draft = report
            .block(context, block, "the conversation uses tools, and the request declares none".to_owned())
            .predicts(error.render(&context.values(block, context.id(block))));
        let names = called(context);
        if by_name && !names.is_empty() {
            let edits = vec![Edit::DeclareTools { names }];
            draft.fix(Stage::Finish, Safety::Safe, "declare the tools that are called", edits);
        }
    }
}

/// The names of the tools that are called, each once, in the order of their first call.
fn called(context: &Context<'_, '_>) -> Vec<String> {
    let mut seen = HashSet::new();
    let calls = context.pairing.calls.iter().filter_map(|state| context.transcript.call(state.call));
    let names = calls.filter_map(|call| context.transcript.name(call.tool)).filter(|name| !name.is_empty());
    names.filter(|name| seen.insert(*name)).map(str::to_owned).collect()
}
