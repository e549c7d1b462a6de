//! `LIMIT006 illegal-declared-name`

use seamline_model::{Place, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds declared tools whose name the provider does not accept.
    ///
    /// # Why is this bad?
    /// The provider rejects the whole request. The cause is usually a client that declares MCP tools by their full
    /// path.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "tools": [
    ///     {"name": "github/create_issue", "input_schema": {"type": "object"}}
    ///   ],
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// Nothing changes.
    ///
    /// # Fix safety
    /// Display only: if a repair renamed the tools, the client would not recognise the model's tool calls.
    ///
    /// # References
    /// ANT-21, BED-3, GEM-7, KIM-6, MIS-7, OAC-9
    LIMIT006 "illegal-declared-name" in Limit, Error, DisplayOnly, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let demands = &context.constraints.tools;
    let (Some(error), Some(declared)) = (demands.name, &context.transcript.request.tools) else {
        return;
    };
    for (index, tool) in declared.tools.iter().enumerate() {
        let Some(name) = tool.name.as_deref() else {
            continue;
        };
        let shaped = demands.start.takes(name) && !name.contains(|char| demands.never.contains(char));
        if shaped && context.constraints.tool_name.takes(name) {
            continue;
        }
        report
            .place(
                Place { span: tool.span, ..Place::default() },
                format!("the provider does not accept the tool name `{name}`"),
            )
            .predicts(error.render(&Values { block: index, id: name, ..Values::default() }));
    }
}
