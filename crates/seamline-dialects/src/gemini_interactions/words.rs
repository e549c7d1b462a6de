//! The words of the Interactions API.

/// The names of members, and the values of members that choose from a list. A request has no other word by which the
/// dialect means something, so any other one may come from a user, a model or a tool.
#[rustfmt::skip]
pub(super) const WORDS: &[&str] = &[
    "agent", "agent_config", "allowed_tools", "annotations", "any", "arguments", "audio", "auto",
    "background", "call_id", "code_execution", "code_execution_call", "code_execution_result", "computer_use",
    "content", "data", "description", "document", "environment", "file_search", "file_search_call",
    "file_search_result", "function", "function_call", "function_result", "generation_config", "google_maps",
    "google_maps_call", "google_maps_result", "google_search", "google_search_call", "google_search_result",
    "high", "id", "image", "input", "is_error", "language", "low", "max_output_tokens", "mcp_server",
    "mcp_server_tool_call", "mcp_server_tool_result", "media", "medium", "mime_type", "minimal", "model",
    "model_output", "name", "none", "parameters", "previous_interaction_id", "resolution", "response_format",
    "response_mime_type", "response_modalities", "result", "role", "seed", "server_name", "service_tier",
    "signature", "speech_config", "status", "steps", "stop_sequences", "store", "stream", "summary",
    "system_instruction", "temperature", "text", "thinking_level", "thinking_summaries", "thought",
    "tool_choice", "tools", "top_p", "type", "uri", "url_context", "url_context_call", "url_context_result",
    "user", "user_input", "validated", "video", "webhook_config",
];
