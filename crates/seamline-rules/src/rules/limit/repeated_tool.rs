//! `LIMIT004 repeated-tool`

use std::collections::HashMap;

use seamline_model::{Edit, Place, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds declared tools with the name of an earlier tool.
    ///
    /// # Why is this bad?
    /// Anthropic rejects the whole request. The cause is two servers that offer tools with the same name, or a list of
    /// tools that was joined twice.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "tools": [
    ///     {"name": "bash", "input_schema": {"type": "object"}},
    ///     {"name": "bash", "input_schema": {"type": "object"}}
    ///   ],
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "tools": [
    ///     {"name": "bash", "input_schema": {"type": "object"}}
    ///   ],
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe if both declarations are byte-identical: the later one is removed. Otherwise display only, because a call
    /// could mean either tool.
    ///
    /// # References
    /// ANT-21
    LIMIT004 "repeated-tool" in Limit, Error, Safe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let (Some(error), Some(declared)) = (context.constraints.tools.repeated, &context.transcript.request.tools) else {
        return;
    };
    let mut seen = HashMap::new();
    for (index, tool) in declared.tools.iter().enumerate() {
        let Some(name) = tool.name.as_deref() else {
            continue;
        };
        let text = context.transcript.text(tool.span);
        let Some(first) = seen.insert(name, text) else {
            continue;
        };
        seen.insert(name, first);
        let draft = report
            .place(Place { span: tool.span, ..Place::default() }, format!("two tools have the name `{name}`"))
            .predicts(error.render(&Values { block: index, id: name, ..Values::default() }));
        if first == text {
            let edit = Edit::DropMember { cut: tool.cut, member: tool.span, lost: false };
            draft.fix(Stage::Bytes, Safety::Safe, "remove the repeated tool", vec![edit]);
        } else {
            draft.fix(Stage::Bytes, Safety::DisplayOnly, "rename one of the tools", Vec::new());
        }
    }
}
