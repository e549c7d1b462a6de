//! `LIMIT007 cached-tools`

use seamline_model::{Edit, Place, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds marks for the cache among the declared tools, for models that take none there.
    ///
    /// # Why is this bad?
    /// Amazon Nova rejects the whole request. It happens when a request that was made for Claude goes to Nova.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "modelId": "us.amazon.nova-pro-v1:0",
    ///   "messages": [{"role": "user", "content": [{"text": "Hello"}]}],
    ///   "toolConfig": {
    ///     "tools": [
    ///       {"toolSpec": {"name": "bash", "inputSchema": {"json": {"type": "object"}}}},
    ///       {"cachePoint": {"type": "default"}}
    ///     ]
    ///   }
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "modelId": "us.amazon.nova-pro-v1:0",
    ///   "messages": [{"role": "user", "content": [{"text": "Hello"}]}],
    ///   "toolConfig": {
    ///     "tools": [
    ///       {"toolSpec": {"name": "bash", "inputSchema": {"json": {"type": "object"}}}}
    ///     ]
    ///   }
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the mark is taken out. No model reads it.
    ///
    /// # References
    /// BED-19, seen in `LibreChat#13838`; case 44
    LIMIT007 "cached-tools" in Limit, Error, Safe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let (Some(error), Some(declared)) = (context.constraints.tools.cache_mark, &context.transcript.request.tools)
    else {
        return;
    };
    for (index, tool) in declared.tools.iter().enumerate().filter(|(_, tool)| tool.cache_mark) {
        let edit = Edit::DropMember { cut: tool.cut, member: tool.span, lost: false };
        report
            .place(
                Place { span: tool.span, ..Place::default() },
                "a mark for the cache stands among the tools".to_owned(),
            )
            .predicts(error.render(&Values { block: index, ..Values::default() }))
            .fix(Stage::Bytes, Safety::Safe, "take it out", vec![edit]);
    }
}
