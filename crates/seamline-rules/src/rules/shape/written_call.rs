//! `SHAPE015 written-call`

use seamline_model::{BlockKind, Emptiness, MessageIndex, Role};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds a tool call that the model wrote as text in its last message, instead of making it.
    ///
    /// # Why is this bad?
    /// The provider accepts the text, but the tool never runs, and the model may wait for its result. The cause is a server
    /// without a parser for the model's calls, a history whose calls were turned into text, or a request without tools.
    /// It is only a note: the text may be meant.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "qwen-3-coder",
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {"role": "assistant", "content": "<tool_call>{\"name\": \"bash\", \"arguments\": {}}</tool_call>"},
    ///     {"role": "user", "content": "Go on."}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// Nothing changes.
    ///
    /// # Fix safety
    /// None: it is unknown whether the model meant to call the tool, and a call that the client did not run has no result.
    ///
    /// # References
    /// Seen with local servers
    SHAPE015 "written-call" in Shape, Info, DisplayOnly, each Whole, reach Conversation
}

/// The marks with which models write calls that their server does not read.
const MARKS: &[&str] = &[
    "<tool_call>",
    "<function_calls>",
    "<function=",
    "<invoke name=",
    "[TOOL_CALLS]",
    "<|tool_call_begin|>",
    "<|tool_calls_section_begin|>",
    "<|python_tag|>",
];

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let last = context.transcript.messages.iter().rposition(|message| message.role == Role::Assistant);
    let last = last.map(|at| MessageIndex(at as u32));
    let Some(index) = last.filter(|index| !context.transcript.has_calls(*index)) else {
        return;
    };
    for (block, content) in context.transcript.blocks_of(index) {
        let text = context.transcript.text(content.span);
        let is_text = matches!(content.kind, BlockKind::Text(Emptiness::Present));
        if is_text && let Some(mark) = MARKS.iter().find(|mark| text.contains(**mark)) {
            report.block(
                context,
                block,
                format!("the text has `{mark}`: the model may have written a tool call as text"),
            );
        }
    }
}
