//! `SHAPE010 trailing-space`

use seamline_model::{BlockKind, Edit, Emptiness, MessageIndex, Role, Safety, Span, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds white space at the end of an assistant message that the model is to continue.
    ///
    /// # Why is this bad?
    /// Anthropic rejects the request. The cause is a truncated response that is sent back to be continued.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Write a limerick."},
    ///     {"role": "assistant", "content": "There once was a coder from Kent \n"}
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
    ///     {"role": "user", "content": "Write a limerick."},
    ///     {"role": "assistant", "content": "There once was a coder from Kent"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Unsafe: the white space at the end is removed. It stays if other messages follow, so this request would differ
    /// from later ones. The example is repaired with `safety = "unsafe"`.
    ///
    /// # References
    /// ANT-14, in the SDK's code
    SHAPE010 "trailing-space" in Shape, Error, Unsafe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Some(error) = context.constraints.trailing_space else {
        return;
    };
    let Some(last) = context.transcript.messages.len().checked_sub(1).map(|last| MessageIndex(last as u32)) else {
        return;
    };
    let Some((block, content)) = context.transcript.blocks_of(last).next_back() else {
        return;
    };
    let speaks = context.transcript.message(last).role == Role::Assistant;
    if !speaks || !matches!(content.kind, BlockKind::Text(Emptiness::Present)) {
        return;
    }
    let Some(span) = trailing_space(context.transcript.text(content.span), content.span.start) else {
        return;
    };
    report
        .block(context, block, "the last message ends with white space".to_owned())
        .predicts(error.render(&Values { message: last.get(), ..Values::default() }))
        .fix(Stage::Bytes, Safety::Unsafe, "remove the white space", vec![Edit::Patch { span, text: String::new() }]);
}

/// The span of the white space at the end of a text, given the source of the text or of a block whose last member is
/// the text. `None` for a block that ends otherwise.
fn trailing_space(source: &str, start: u32) -> Option<Span> {
    let text = source.trim_end_matches(['}', ' ', '\n', '\r', '\t']).strip_suffix('"')?;
    let mut rest = text;
    loop {
        let shorter = [" ", "\\n", "\\r", "\\t"].into_iter().find_map(|space| rest.strip_suffix(space));
        match shorter {
            // It is not an escape if the backslash itself is escaped.
            Some(shorter) if rest.ends_with(' ') || !is_escaped(shorter) => rest = shorter,
            _ => break,
        }
    }
    let (from, to) = (start + rest.len() as u32, start + text.len() as u32);
    (from < to).then_some(Span { start: from, end: to })
}

/// Whether a text ends in the middle of an escape.
fn is_escaped(text: &str) -> bool {
    let backslashes = text.bytes().rev().take_while(|byte| *byte == b'\\').count();
    backslashes % 2 == 1
}
