//! `LIMIT002 undeclared-tools`

use std::collections::HashSet;

use seamline_model::{Edit, Place, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds calls and results in a request that declares no tools.
    ///
    /// # Why is this bad?
    /// Some providers reject tool blocks in the messages when the request itself names no tools. It happens when tools are
    /// switched off for a summary or a last answer while the history still holds their calls.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "modelId": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ///   "messages": [
    ///     {"role": "user", "content": [{"text": "Run the tests."}]},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"toolUse": {"toolUseId": "tooluse_01", "name": "bash", "input": {"command": "cargo test"}}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"toolResult": {"toolUseId": "tooluse_01", "content": [{"text": "12 passed"}], "status": "success"}}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "modelId": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ///   "messages": [
    ///     {"role": "user", "content": [{"text": "Run the tests."}]},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"toolUse": {"toolUseId": "tooluse_01", "name": "bash", "input": {"command": "cargo test"}}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"toolResult": {"toolUseId": "tooluse_01", "content": [{"text": "12 passed"}], "status": "success"}}
    ///       ]
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
    /// Safe: each tool that is called is declared with a description that is marked synthetic and a schema that takes
    /// anything. The messages stay as they are.
    ///
    /// # References
    /// BED-6, seen in `dify#17545`
    LIMIT002 "undeclared-tools" in Shape, Error, Safe, each Whole
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Some(error) = context.constraints.undeclared_tools else {
        return;
    };
    if context.transcript.declares_tools || !context.transcript.has.pairs {
        return;
    }
    let draft = report
        .place(Place::default(), "the conversation uses tools, but the request declares none".to_owned())
        .predicts(error.0.to_owned());
    let names = called(context);
    if !names.is_empty() {
        let edits = vec![Edit::DeclareTools { names }];
        draft.fix(Stage::Finish, Safety::Safe, "declare the tools that are called", edits);
    }
}

/// The names of the tools that are called, each once, in the order of their first call.
fn called(context: &Context<'_, '_>) -> Vec<String> {
    let mut seen = HashSet::new();
    let calls = context.pairing.calls.iter().filter_map(|state| context.transcript.call(state.call));
    let names = calls.filter_map(|call| context.transcript.name(call.tool)).filter(|name| !name.is_empty());
    names.filter(|name| seen.insert(*name)).map(str::to_owned).collect()
}
