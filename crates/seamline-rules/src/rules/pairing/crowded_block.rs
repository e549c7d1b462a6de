//! `PAIR012 crowded-block`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds blocks that hold several things at once, such as a text and a tool call.
    ///
    /// # Why is this bad?
    /// A Gemini part is a text, a call, a result or something else; the provider does not accept a part that is two of
    /// them. The cause is a client that puts the whole message into one part.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gemini-2.5-pro",
    ///   "contents": [
    ///     {"role": "user", "parts": [{"text": "What is in main.rs?"}]},
    ///     {
    ///       "role": "model",
    ///       "parts": [{"text": "Let me see.", "functionCall": {"name": "read_file", "args": {"path": "main.rs"}}}]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "parts": [{"functionResponse": {"name": "read_file", "response": {"output": "fn main() {}"}}}]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gemini-2.5-pro",
    ///   "contents": [
    ///     {"role": "user", "parts": [{"text": "What is in main.rs?"}]},
    ///     {
    ///       "role": "model",
    ///       "parts": [{"text": "Let me see."}, {"functionCall": {"name": "read_file", "args": {"path": "main.rs"}}}]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "parts": [{"functionResponse": {"name": "read_file", "response": {"output": "fn main() {}"}}}]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: each thing becomes a separate block, in the same order.
    ///
    /// # References
    /// GEM-1
    PAIR012 "crowded-block" in Pairing, Error, Safe, each Irregularity, reach Message
}

fn check(_context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let IrregularityKind::CrowdedBlock { blocks } = &irregularity.kind else {
        return;
    };
    let edits = vec![Edit::Patch { span: irregularity.span, text: blocks.clone() }];
    report.irregularity(irregularity, "one block holds several things".to_owned()).fix(
        Stage::Bytes,
        Safety::Safe,
        "split it into separate blocks",
        edits,
    );
}
