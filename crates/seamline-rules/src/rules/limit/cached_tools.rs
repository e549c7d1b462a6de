//! `LIMIT007 cached-tools`

use seamline_model::{Edit, Place, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds cache marks in the list of tools, for models that do not accept them there.
    ///
    /// # Why is this bad?
    /// Amazon Nova rejects the whole request. The cause is a request made for Claude that is sent to Nova.
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
    /// Safe: the repair removes the mark, which models do not read.
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
            .place(Place { span: tool.span, ..Place::default() }, "the list of tools contains a cache mark".to_owned())
            .predicts(error.render(&Values { block: index, ..Values::default() }))
            .fix(Stage::Bytes, Safety::Safe, "remove the mark", vec![edit]);
    }
}
