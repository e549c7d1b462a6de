//! `WIRE009 unreadable-block`

use seamline_model::{Edit, Field, Irregularity, IrregularityKind, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds blocks and tool calls that are not objects.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. The cause is a damaged file, or a file of another program.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         "Here is the log.",
    ///         {"type": "text", "text": "What went wrong?"}
    ///       ]
    ///     },
    ///     {"role": "assistant", "content": "The disk is full."}
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
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {
    ///           "type": "text",
    ///           "text": "[begin 9979c355da6b07f0: a block that could not be read, kept as text]\n\"Here is the log.\"\n[end 9979c355da6b07f0]"
    ///         },
    ///         {"type": "text", "text": "What went wrong?"}
    ///       ]
    ///     },
    ///     {"role": "assistant", "content": "The disk is full."}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: an empty block is removed; any other block is kept as text, character by character, under a line that says
    /// what it was. A tool call that is not an object is removed, which is unsafe.
    ///
    /// # References
    /// ANT-1, GEM-5, OAC-1
    WIRE009 "unreadable-block" in Wire, Error, Safe, each Irregularity, reach Message
}

fn check(context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let (IrregularityKind::UnreadableBlock { found }, Some(block)) = (&irregularity.kind, irregularity.block) else {
        return;
    };
    let draft = report.block(context, block, format!("the block cannot be read: it is {found}"));
    let source = context.transcript.text(irregularity.span);
    if source.trim_matches(|char: char| "{}".contains(char) || char.is_whitespace()).is_empty() {
        draft.fix(Stage::Form, Safety::Safe, "remove the block", vec![Edit::Remove { block }]);
    } else if context.transcript.block(block).slot().field == Field::Content {
        let edit = Edit::Demote { block, heading: "a block that could not be read, kept as text".to_owned() };
        draft.fix(Stage::Form, Safety::Safe, "keep it as text", vec![edit]);
    } else {
        draft.fix(Stage::Form, Safety::Unsafe, "remove the block", vec![Edit::Remove { block }]);
    }
}
