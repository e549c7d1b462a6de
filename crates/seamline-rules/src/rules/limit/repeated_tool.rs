//! `LIMIT004 repeated-tool`

use std::collections::HashMap;

use seamline_model::{Edit, Place, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds declared tools with the name of one before them.
    ///
    /// # Why is this bad?
    /// Anthropic rejects the whole request. It happens when two servers offer tools of one name, or when a list of
    /// tools is put together twice.
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
    /// Safe where both are the same to the byte: the later one is taken out. Else only shown, since a call could
    /// mean either.
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
            .place(Place { span: tool.span, ..Place::default() }, format!("two tools are called `{name}`"))
            .predicts(error.render(&Values { block: index, id: name, ..Values::default() }));
        if first == text {
            let edit = Edit::DropMember { cut: tool.cut, member: tool.span, lost: false };
            draft.fix(Stage::Bytes, Safety::Safe, "declare it once", vec![edit]);
        } else {
            draft.fix(Stage::Bytes, Safety::DisplayOnly, "give one of them another name", Vec::new());
        }
    }
}
