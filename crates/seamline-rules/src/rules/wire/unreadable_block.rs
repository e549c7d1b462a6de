//! `WIRE009 unreadable-block`

use seamline_model::{Edit, IrregularityKind, Place, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds blocks and calls that are not an object.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. It happens when a file is damaged or was written by another program.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "text", "text": "Looking."},
    ///         null,
    ///         {"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "ls"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "main.rs"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "text", "text": "Looking."},
    ///         {"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "ls"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "main.rs"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Unsafe: it is taken out, since nobody can tell what it was. The example is repaired with `safety = "unsafe"`.
    ///
    /// # References
    /// ANT-1, OAC-1
    WIRE009 "unreadable-block" in Wire, Error, Unsafe, each Whole
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    for irregularity in &context.transcript.irregularities {
        let IrregularityKind::UnreadableBlock { found } = &irregularity.kind else {
            continue;
        };
        let place = Place { message: irregularity.message, block: irregularity.block, span: irregularity.span };
        let Some(block) = irregularity.block else {
            continue;
        };
        report.place(place, format!("block cannot be read: it is {found}")).fix(
            Stage::Form,
            Safety::Unsafe,
            "take it out",
            vec![Edit::Remove { block }],
        );
    }
}
