//! The words of the Responses API.

/// The names of members, and the values of members that choose from a list. A request has no other word by which the
/// dialect means something, so any other one may come from a user, a model or a tool.
#[rustfmt::skip]
pub(super) const WORDS: &[&str] = &[
    "acknowledged_safety_checks", "action", "additional_tools", "agent_message", "allowed_tools",
    "annotations", "apply_patch", "apply_patch_call", "apply_patch_call_output", "approval_request_id",
    "approve", "arguments", "assistant", "auto", "background", "call_id", "caller", "client_metadata", "code",
    "code_interpreter", "code_interpreter_call", "command", "commentary", "compact_threshold", "compaction",
    "compaction_trigger", "completed", "computer_call", "computer_call_output", "computer_use_preview",
    "concise", "connector_id", "container", "container_id", "content", "context_management", "conversation",
    "create_file", "created_by", "custom", "custom_tool_call", "custom_tool_call_output", "defer_loading",
    "definition", "delete_file", "description", "detail", "detailed", "developer", "diff", "direct", "effort",
    "encrypted_content", "env", "ephemeral", "error", "exec", "exit", "exit_code", "failed", "file_data",
    "file_id", "file_search", "file_search_call", "file_url", "filename", "final_answer", "format",
    "function", "function_call", "function_call_output", "generate", "grammar", "headers", "high", "id",
    "image_generation", "image_generation_call", "image_url", "in_progress", "include", "incomplete", "input",
    "input_file", "input_image", "input_text", "instructions", "item_reference", "json_object", "json_schema",
    "lark", "local_shell", "local_shell_call", "local_shell_call_output", "logprobs", "low",
    "max_output_length", "max_output_tokens", "max_tool_calls", "mcp", "mcp_approval_request",
    "mcp_approval_response", "mcp_call", "mcp_list_tools", "medium", "message", "metadata", "minimal", "mode",
    "model", "name", "namespace", "none", "operation", "original", "outcome", "output", "output_text",
    "outputs", "parallel_tool_calls", "parameters", "path", "pending_safety_checks", "phase",
    "previous_response_id", "program", "program_output", "prompt", "prompt_cache_key", "prompt_cache_options",
    "prompt_cache_retention", "queries", "query", "reason", "reasoning", "reasoning_text", "refusal", "regex",
    "require_approval", "required", "response.create", "result", "results", "role", "safety_identifier",
    "schema", "searching", "server_label", "server_url", "service_tier", "shell", "shell_call",
    "shell_call_output", "status", "stderr", "stdout", "store", "stream", "stream_options", "strict",
    "summary", "summary_text", "syntax", "system", "temperature", "text", "timeout_ms", "tool_choice",
    "tool_search", "tool_search_call", "tool_search_output", "tools", "top_logprobs", "top_p", "truncation",
    "type", "update_file", "user", "vector_store_ids", "verbosity", "web_search", "web_search_call",
    "web_search_preview", "working_directory", "xhigh",
];
