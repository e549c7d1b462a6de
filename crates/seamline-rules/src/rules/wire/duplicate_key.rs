//! `WIRE003 duplicate-key`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages and blocks that have the same key twice. Only keys that Seamline reads count, such as `role`,
    /// `content` and ids.
    ///
    /// # Why is this bad?
    /// Parsers disagree on which value counts; most take the last. The other value is sent but never read, and a proxy
    /// in between may choose differently from the provider.
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
    ///         {"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "ls"}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "running", "content": "main.rs"}
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
    /// Unsafe: the value that parsers ignore is removed. The example is repaired with `safety = "unsafe"`.
    ///
    /// # References
    /// RFC 8259, section 4
    WIRE003 "duplicate-key" in Wire, Warning, Unsafe, each Irregularity, reach Message
}

fn check(_context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let IrregularityKind::DuplicateKey { key, cut } = &irregularity.kind else {
        return;
    };
    let edits = vec![Edit::Patch { span: *cut, text: String::new() }];
    report.irregularity(irregularity, format!("key `{key}` occurs twice in one object")).fix(
        Stage::Bytes,
        Safety::Unsafe,
        "remove the earlier value",
        edits,
    );
}
