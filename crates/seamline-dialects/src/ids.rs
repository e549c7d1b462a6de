//! The names that different programs give to ids, tool names, inputs and contents.

/// Names that other programs and dialects give the id of the call a result answers.
pub(crate) const RESULT_ID_KEYS: &[&str] = &["tool_use_id", "tool_call_id", "toolUseId", "toolCallId", "call_id"];

/// Names that other programs give the id of a call.
pub(crate) const CALL_ID_KEYS: &[&str] = &["id", "call_id", "toolCallId", "toolUseId"];

/// Names that other programs and dialects give the input of a call.
pub(crate) const INPUT_KEYS: &[&str] = &["arguments", "args", "input", "parameters"];

/// Names that other programs give the name of the tool that is called.
pub(crate) const TOOL_NAME_KEYS: &[&str] = &["name", "toolName", "tool_name"];

/// Names that other programs and dialects give the content of a message.
pub(crate) const CONTENT_KEYS: &[&str] = &["content", "parts", "text"];
