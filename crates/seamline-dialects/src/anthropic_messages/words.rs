//! The words of the Messages API.

/// The names of members, and the values of members that choose from a list. A request has no other word by which the
/// dialect means something, so any other one may come from a user, a model or a tool.
#[rustfmt::skip]
pub(super) const WORDS: &[&str] = &[
    "1h", "5m", "adaptive", "allowed_callers", "allowed_domains", "allowed_tools", "any", "assistant",
    "authorization_token", "auto", "base64", "bash_code_execution_tool_result", "betas", "blocked_domains",
    "budget_tokens", "cache_control", "cache_creation_input_tokens", "cache_read_input_tokens", "caller",
    "char_location", "citations", "cited_text", "clear_at", "code_execution_tool_result", "compaction",
    "container", "container_upload", "content", "content_block_location", "context", "context_management",
    "continue", "custom", "data", "defer_loading", "description", "direct", "disable_parallel_tool_use",
    "disabled", "display", "display_height_px", "display_number", "display_width_px", "document",
    "document_index", "document_title", "eager_input_streaming", "edits", "effort", "enabled",
    "encrypted_content", "encrypted_index", "end_char_index", "end_turn", "ephemeral", "error_code", "file",
    "file_id", "format", "high", "id", "image", "inference_geo", "input", "input_examples", "input_schema",
    "input_tokens", "is_error", "json_schema", "keep", "low", "max", "max_tokens", "max_uses", "mcp_servers",
    "mcp_tool_result", "mcp_tool_use", "media_type", "medium", "messages", "metadata", "model", "name",
    "none", "omitted", "output_config", "output_format", "output_tokens", "page_age", "page_location",
    "redacted_thinking", "return_code", "role", "search_result", "search_result_location", "server_name",
    "server_tool_use", "service_tier", "signature", "source", "speed", "standard_only", "start_char_index",
    "stderr", "stdout", "stop_reason", "stop_sequence", "stop_sequences", "stream", "strict", "summarized",
    "system", "temperature", "text", "text_editor_code_execution_tool_result", "thinking", "thread", "title",
    "tool", "tool_choice", "tool_configuration", "tool_reference", "tool_result", "tool_search_tool_result",
    "tool_use", "tool_use_id", "tools", "toolset_name", "top_k", "top_p", "transformations", "trigger", "ttl",
    "type", "url", "usage", "user", "user_id", "user_location", "value", "web_fetch_tool_result",
    "web_search_result", "web_search_result_location", "web_search_tool_result",
    "web_search_tool_result_error",
];
