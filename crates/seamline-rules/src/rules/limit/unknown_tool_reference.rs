//! `LIMIT008 unknown-tool-reference`

use std::collections::HashSet;

use seamline_model::{FactKind, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages that add or remove a tool which the request does not declare.
    ///
    /// # Why is this bad?
    /// Anthropic rejects the request. The cause is a tool that was removed from the list, while a message of the conversation
    /// still refers to it.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-opus-5",
    ///   "max_tokens": 1024,
    ///   "tools": [
    ///     {"name": "read_file", "input_schema": {"type": "object"}}
    ///   ],
    ///   "messages": [
    ///     {"role": "user", "content": "Read the notes, then write a summary."},
    ///     {
    ///       "role": "system",
    ///       "content": [
    ///         {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "write_file"}}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// Nothing changes.
    ///
    /// # Fix safety
    /// Display only: declare the tool, or leave the reference out.
    ///
    /// # References
    /// ANT-43; from the types of the SDK
    LIMIT008 "unknown-tool-reference" in Limit, Error, DisplayOnly, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let transcript = context.transcript;
    let Some(error) = context.constraints.tools.unknown_reference.filter(|_| !transcript.facts.is_empty()) else {
        return;
    };
    let Some(mut known) = declared(context) else { return };
    for fact in &transcript.facts {
        match fact.kind {
            FactKind::ToolDefinition => drop(known.insert(&fact.id)),
            // A summary may define tools, too.
            FactKind::Compaction => return,
            FactKind::ToolReference if !known.contains(&*fact.id) => {
                let values = Values { message: fact.message.get(), id: &fact.id, ..Values::default() };
                let message = format!("the message refers to the tool `{}`, which is not declared", fact.id);
                report.block(context, fact.block, message).predicts(error.render(&values));
            }
            _ => {}
        }
    }
}

/// The names of the declared tools; none if the request does not list them all by name.
fn declared<'c>(context: &Context<'c, '_>) -> Option<HashSet<&'c str>> {
    let tools = &context.transcript.request.tools.as_ref()?.tools;
    tools.iter().filter(|tool| !tool.cache_mark).map(|tool| tool.name.as_deref()).collect()
}
