//! How what a repair makes up is marked, and how such marks are recognised.

/// Stands at the start of every text that a repair makes up.
pub const MARK: &str = "[synthetic]";

/// Stands where a call has no result, when nothing else is known.
pub const NO_RESULT: &str = "[synthetic] No result was recorded for this tool call. Whether it ran is unknown; check \
                             before running it again.";
/// The same when the user aborted the run.
pub const ABORTED: &str =
    "[synthetic] The user aborted the run before this tool call gave a result. Whether it ran is unknown.";
/// The same when the user cancelled the call.
pub const CANCELLED: &str = "[synthetic] The user cancelled this tool call. It did not finish.";
/// The same when somebody refused to let the tool run.
pub const DENIED: &str = "[synthetic] This tool call was denied. It did not run.";
/// The same when the tool did not finish in time.
pub const TIMED_OUT: &str = "[synthetic] This tool call did not finish in time. Whether it took effect is unknown.";
/// The same when the tool or its host crashed.
pub const CRASHED: &str = "[synthetic] The tool crashed during this call. Whether it took effect is unknown.";
/// The same when the call itself was cut off.
pub const TRUNCATED: &str = "[synthetic] This tool call was cut off before it was complete. It did not run.";
/// Stands beside a call that was rebuilt from its result.
pub const RECONSTRUCTED: &str = "[synthetic] This tool call was rebuilt from its result.";
/// Stands where a conversion finds no result.
pub const NO_RESULT_CONVERTED: &str = "[synthetic] No result was recorded for this tool call.";
/// Stands where a call of the provider's own tools has no result.
pub const NO_SERVER_RESULT: &str = "[synthetic] no result was recorded for this call";

/// Stands in a result that was there and held nothing. It is a real one.
pub const NO_OUTPUT: &str = "[synthetic] (no output)";
/// Stands in a result whose output had to move out of it. It is a real one.
pub const OUTPUT_FOLLOWS: &str = "[synthetic] (the output follows below)";
/// Stands in a message that would otherwise be empty.
pub const NO_CONTENT: &str = "[synthetic] (no content)";
/// Opens a conversation that the user has to open.
pub const START: &str = "[synthetic] (the conversation starts here)";
/// Closes a conversation that the user has to close.
pub const CONTINUE: &str = "[synthetic] Continue.";
/// Stands between two messages of one role that cannot be joined.
pub const NOTHING_BETWEEN: &str = "[synthetic] (nothing was said in between)";
/// Stands where the assistant has to answer and nothing is known of what it said.
pub const NO_ANSWER: &str = "[synthetic] (no answer was recorded)";
/// Stands where reasoning has to be and is not.
pub const NO_REASONING: &str = "[synthetic] (reasoning was not recorded)";
/// The line above thinking that lost its signature.
pub const UNSIGNED_THINKING: &str = "[synthetic] thinking without a signature:";

/// Our texts that stand for a result nobody has.
const OURS: &[&str] = &[
    NO_RESULT,
    ABORTED,
    CANCELLED,
    DENIED,
    TIMED_OUT,
    CRASHED,
    TRUNCATED,
    RECONSTRUCTED,
    NO_RESULT_CONVERTED,
    NO_SERVER_RESULT,
];

/// Texts that other programs put where a result was missing.
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
    "[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.",
    "No result provided",
];

/// How the texts begin with which a session answers a call of which it knows that it did not run, or that nobody knows
/// what became of it. What follows names the call.
const OF_SESSIONS: &[&str] = &[
    "[synthetic] [outcome unknown] The call \"",
    "[synthetic] [not executed] The call \"",
    "[synthetic] [no result] The call \"",
];

/// Whether a result's text is known to have been made up by a repair, compared without
/// surrounding white space. A mark at its start alone proves nothing: tools say such things too.
pub fn is_synthetic(text: &str) -> bool {
    let text = text.trim();
    OURS.contains(&text) || OTHERS.contains(&text)
}

/// Whether a result was made up by a repair. A real result that turns up later takes its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synthetic {
    /// Nothing says so.
    #[default]
    No,
    /// Its text is known.
    Yes,
    /// Its text carries our mark, and is made up if the policy has such a text.
    Marked,
}

impl Synthetic {
    /// What the text of a result says about it.
    pub fn of(text: &str) -> Self {
        match text.trim() {
            text if is_synthetic(text) => Self::Yes,
            text if OF_SESSIONS.iter().any(|start| text.starts_with(start)) => Self::Yes,
            NO_OUTPUT | OUTPUT_FOLLOWS => Self::No,
            text if text.starts_with(MARK) => Self::Marked,
            _ => Self::No,
        }
    }
}

/// Why a result had to be made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// No result was recorded; nothing else is known.
    Missing,
    /// The user aborted the run.
    Aborted,
    /// The user cancelled this call.
    Cancelled,
    /// Somebody refused to let the tool run.
    Denied,
    /// The tool did not finish in time.
    Timeout,
    /// The tool or its host crashed.
    Crashed,
    /// The call itself was cut off.
    Truncated,
    /// The call was rebuilt from its result.
    Reconstructed,
}
