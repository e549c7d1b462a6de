//! `LIMIT003 empty-tool-list`

use seamline_model::{Edit, Place, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds empty lists of tools.
    ///
    /// # Why is this bad?
    /// OpenAI and vLLM reject the request. The cause is a client that filters its tools until none is left.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "tools": [],
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the repair removes the list; a request without tools means the same.
    ///
    /// # References
    /// OAC-7, VLM-1
    LIMIT003 "empty-tool-list" in Limit, Error, Safe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let (Some(error), Some(declared)) = (context.constraints.tools.empty_list, &context.transcript.request.tools)
    else {
        return;
    };
    if declared.tools.is_empty() {
        let edit = Edit::DropMember { cut: declared.cut, member: declared.cut, lost: false };
        report
            .place(Place { span: declared.cut, ..Place::default() }, "the list of tools is empty".to_owned())
            .predicts(error.render(&Values::default()))
            .fix(Stage::Bytes, Safety::Safe, "remove the list", vec![edit]);
    }
}
