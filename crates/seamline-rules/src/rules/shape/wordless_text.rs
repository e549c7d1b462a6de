//! `SHAPE014 wordless-text`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds text blocks whose text is missing or not a string, and text blocks without a type.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. The cause is a client that writes a number or an object instead of text, or
    /// omits the type, as another dialect does.
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
    ///         {"text": "How many are there?"},
    ///         {"type": "text", "text": 42}
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
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "text", "text": "How many are there?"},
    ///         {"type": "text", "text": "42"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the value becomes the text, character by character, and the type is added. An empty block is removed.
    ///
    /// # References
    /// ANT-1, OAC-1, BED-1, GEM-1
    SHAPE014 "wordless-text" in Shape, Error, Safe, each Irregularity, reach Message
}

fn check(context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let (IrregularityKind::WordlessText { patch, empty }, Some(block)) = (&irregularity.kind, irregularity.block)
    else {
        return;
    };
    let draft = report.block(context, block, "the text block has no valid text".to_owned());
    match patch {
        Some((span, text)) => {
            let edits = vec![Edit::Patch { span: *span, text: text.clone() }];
            draft.fix(Stage::Bytes, Safety::Safe, "write it as text", edits);
        }
        None if *empty => {
            draft.fix(Stage::Form, Safety::Safe, "remove the block", vec![Edit::Remove { block }]);
        }
        None => {
            let heading = "a text that could not be read, kept unchanged".to_owned();
            draft.fix(Stage::Form, Safety::Safe, "keep it as text", vec![Edit::Demote { block, heading }]);
        }
    }
}
