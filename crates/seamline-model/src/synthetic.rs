//! Marks of synthetic texts, and how they are recognised: by their whole text, never by the mark alone.

mod of_session;

pub use of_session::{BROKEN_CALL, NAMELESS_CALL, is_of_session, is_of_session_about, is_truncated_result, not_run};

/// The start of every synthetic text.
pub const MARK: &str = "[synthetic]";

/// The result of a call without a result, if nothing else is known.
pub const NO_RESULT: &str = "[synthetic] No result was recorded for this tool call. Whether it ran is unknown; check \
                             before running it again.";
/// The result of a call after the user aborted the run.
pub const ABORTED: &str =
    "[synthetic] The user aborted the run before this tool call gave a result. Whether it ran is unknown.";
/// The result of a call that the user cancelled.
pub const CANCELLED: &str = "[synthetic] The user cancelled this tool call. It did not finish.";
/// The result of a call that the user or the host denied.
pub const DENIED: &str = "[synthetic] This tool call was denied. It did not run.";
/// The result of a call whose tool did not finish in time.
pub const TIMED_OUT: &str = "[synthetic] This tool call did not finish in time. Whether it took effect is unknown.";
/// The result of a call whose tool or host crashed.
pub const CRASHED: &str = "[synthetic] The tool crashed during this call. Whether it took effect is unknown.";
/// The result of a call that was itself cut off.
pub const TRUNCATED: &str = "[synthetic] This tool call was cut off before it was complete. It did not run.";
/// The result of a call that a conversion found without one.
pub const NO_RESULT_CONVERTED: &str = "[synthetic] No result was recorded for this tool call.";
/// The result of a server tool call without a result.
pub const NO_SERVER_RESULT: &str = NO_RESULT_CONVERTED;

/// The content of a real result that was empty.
pub const NO_OUTPUT: &str = "[synthetic] (no output)";
/// The content of a real result whose output moved to a later message.
pub const OUTPUT_FOLLOWS: &str = "[synthetic] (the output follows below)";
/// The content of a message that would otherwise be empty.
pub const NO_CONTENT: &str = "[synthetic] (no content)";
/// The first user message, where the user must come first.
pub const START: &str = "[synthetic] (the conversation starts here)";
/// The last user message, where the user must come last.
pub const CONTINUE: &str = "[synthetic] Continue.";
/// The message between two messages of one role that cannot be joined.
pub const NOTHING_BETWEEN: &str = "[synthetic] (no message in between)";
/// The text beside a document, where a document needs one.
pub const DOCUMENT: &str = "[synthetic] (a document follows)";
/// The assistant message where the assistant's response was not recorded.
pub const NO_RESPONSE: &str = "[synthetic] (no response was recorded)";
/// The reasoning where reasoning is required and was not recorded.
pub const NO_REASONING: &str = "[synthetic] (reasoning was not recorded)";
/// The heading inside the marks around thinking that lost its signature.
pub const UNSIGNED_THINKING: &str = "thinking without a signature, kept as text";
/// The heading inside the marks around an empty text whose other members have content.
pub const EMPTY_TEXT: &str = "an empty text with other members, kept as text";

/// Seamline's texts that replace a missing result.
const OURS: &[&str] = &[NO_RESULT, ABORTED, CANCELLED, DENIED, TIMED_OUT, CRASHED, TRUNCATED, NO_RESULT_CONVERTED];

/// Texts that replaced a missing result in earlier versions. Stored conversations still hold them.
const EARLIER: &[&str] =
    &["[synthetic] no result was recorded for this call", "[synthetic] This tool call was rebuilt from its result."];

/// Texts of other programs that name their program and say that it made them up.
const NAMED: &[&str] =
    &["[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair."];

/// Texts that other programs write in place of a missing result. A tool may print any of them, so a result that is one of
/// them is synthetic only if it also says that the tool failed, or if the policy has the text.
const OTHERS: &[&str] = &[
    "[Aborted by user]",
    "[Error: tool result missing]",
    "[missing]",
    "[tool execution interrupted]",
    "[Tool execution was interrupted]",
    "[Tool call interrupted]",
    "Tool execution cancelled by user",
    "Tool call interrupted or cancelled",
    "Tool execution was interrupted before completion.",
    "No result provided",
];

/// Whether a text is one of Seamline's own, of this version or an earlier one. The stored policy of a session holds the
/// default texts of the version that created it.
pub fn is_default_text(text: &str) -> bool {
    [OURS, EARLIER].iter().any(|known| known.contains(&text))
}

/// Whether a repair is known to have written a result's text. It is the whole text, to the last space: a real tool may
/// print the mark or quote the text.
pub fn is_synthetic(text: &str) -> bool {
    [OURS, EARLIER, NAMED].iter().any(|known| known.contains(&text))
}

/// Whether some program is known to write a text in place of a missing result, and a tool may print it, too.
pub fn is_of_others(text: &str) -> bool {
    OTHERS.contains(&text)
}

/// Whether a repair made a result. A real result that arrives later replaces a synthetic one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synthetic {
    /// Nothing marks it as synthetic.
    #[default]
    No,
    /// It is a known synthetic text.
    Yes,
    /// It starts with the mark, and is synthetic if the policy has this text, or a session wrote it about this call.
    Marked,
    /// Another program writes this text. It is synthetic if the result says that the tool failed, or if the policy has
    /// this text.
    Foreign,
}

impl Synthetic {
    /// Classifies the text of a result.
    pub fn of(text: &str) -> Self {
        match text {
            text if is_synthetic(text) => Self::Yes,
            text if is_of_others(text) => Self::Foreign,
            NO_OUTPUT | OUTPUT_FOLLOWS => Self::No,
            text if text.trim_start().starts_with(MARK) => Self::Marked,
            _ => Self::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of missing results that every released version has written. Do not remove any.
    const WRITTEN: &[&str] = &[
        "[synthetic] No result was recorded for this tool call. Whether it ran is unknown; check before running it again.",
        "[synthetic] The user aborted the run before this tool call gave a result. Whether it ran is unknown.",
        "[synthetic] The user cancelled this tool call. It did not finish.",
        "[synthetic] This tool call was denied. It did not run.",
        "[synthetic] This tool call did not finish in time. Whether it took effect is unknown.",
        "[synthetic] The tool crashed during this call. Whether it took effect is unknown.",
        "[synthetic] This tool call was cut off before it was complete. It did not run.",
        "[synthetic] This tool call was rebuilt from its result.",
        "[synthetic] No result was recorded for this tool call.",
        "[synthetic] no result was recorded for this call",
    ];

    #[test]
    fn texts_of_earlier_versions_are_recognised_as_synthetic() {
        for text in WRITTEN {
            assert!(is_synthetic(text) && is_default_text(text), "{text}");
            assert_eq!(Synthetic::of(text), Synthetic::Yes, "{text}");
            for quoted in [format!(" {text}"), format!("{text}\n"), format!("{text} ")] {
                assert_eq!(Synthetic::of(&quoted), Synthetic::Marked, "{quoted:?}");
            }
        }
    }

    #[test]
    fn a_marked_text_of_a_tool_is_not_synthetic_by_itself() {
        assert!(!is_synthetic("[synthetic] 40 rows of test data"));
        assert!(NAMED.iter().all(|text| !is_default_text(text) && Synthetic::of(text) == Synthetic::Yes));
        assert!(OTHERS.iter().all(|text| !is_synthetic(text) && Synthetic::of(text) == Synthetic::Foreign));
        assert_eq!(Synthetic::of("[synthetic] 40 rows of test data"), Synthetic::Marked);
        let quoted = "[synthetic] [not executed] The call \"pay\" (c1) did not run: so it says in the log. 7 paid.";
        assert_eq!(Synthetic::of(quoted), Synthetic::Marked);
        let whole = "[synthetic] [not executed] The call \"pay\" (c1) did not run: it names no tool. You may issue it again, whole.";
        assert!(is_of_session(whole) && is_of_session_about(whole, Some("c1"), &|name| name == "pay"));
        assert!(!is_of_session_about(whole, Some("c1"), &|name| name == "look"));
        assert!(!is_of_session_about(whole, Some("c2"), &|name| name == "pay"));
        assert!(!is_of_session(&format!("{whole}\n7 paid")));
        assert_eq!(Synthetic::of(&format!("{whole}\n7 paid")), Synthetic::Marked);
        for real in [NO_OUTPUT, OUTPUT_FOLLOWS, "40 rows"] {
            assert_eq!(Synthetic::of(real), Synthetic::No, "{real}");
        }
    }
}
