//! Ids as they are written by different programs.

/// Names that other programs and dialects give the id of the call a result answers.
pub(crate) const RESULT_ID_KEYS: &[&str] = &["tool_use_id", "tool_call_id", "toolUseId", "toolCallId", "call_id"];

/// Names that other programs give the id of a call.
pub(crate) const CALL_ID_KEYS: &[&str] = &["id", "call_id", "toolCallId", "toolUseId"];
