//! How what a repair makes up is marked, and how such marks are recognised.

/// Stands at the start of every text that a repair makes up.
pub const MARK: &str = "[synthetic]";

/// Texts that other programs put where a result was missing, compared without
/// surrounding white space. A real result that turns up later takes their place.
const KNOWN: &[&str] = &[
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

/// Whether a result's text is known to have been made up by a repair.
pub fn is_synthetic(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(MARK) || KNOWN.contains(&text)
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
