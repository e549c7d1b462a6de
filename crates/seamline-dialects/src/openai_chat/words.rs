//! The words of Chat Completions.

/// The names of members, and the values of members that choose from a list. A request has no other word by which the
/// dialect means something, so any other one may come from a user, a model or a tool.
#[rustfmt::skip]
pub(super) const WORDS: &[&str] = &[
    "allowed_tools", "annotations", "arguments", "assistant", "audio", "auto", "cache_control",
    "chat_template_kwargs", "citations", "completion_tokens", "content", "content_filter", "custom", "data",
    "definition", "description", "detail", "developer", "effort", "enable_thinking", "ephemeral",
    "extra_body", "extra_content", "file", "file_data", "file_id", "filename", "finish_reason", "format",
    "frequency_penalty", "function", "function_call", "functions", "google", "grammar", "high", "id",
    "image_url", "include_obfuscation", "include_reasoning", "include_usage", "index", "input", "input_audio",
    "json_object", "json_schema", "keep_alive", "length", "logit_bias", "logprobs", "low",
    "max_completion_tokens", "max_tokens", "medium", "messages", "metadata", "min_p", "minimal", "modalities",
    "mode", "model", "models", "n", "name", "none", "options", "parallel_tool_calls", "parameters", "plugins",
    "prediction", "prefix", "presence_penalty", "prompt_cache_key", "prompt_cache_retention", "prompt_mode",
    "prompt_tokens", "provider", "random_seed", "reasoning", "reasoning.encrypted", "reasoning.summary",
    "reasoning.text", "reasoning_content", "reasoning_details", "reasoning_effort", "reasoning_text",
    "refusal", "repetition_penalty", "required", "response_format", "role", "route", "safe_prompt",
    "safety_identifier", "schema", "search_parameters", "seed", "service_tier", "signature", "stop", "store",
    "stream", "stream_options", "strict", "summary", "syntax", "system", "temperature", "text", "thinking",
    "thought_signature", "tool", "tool_call_id", "tool_calls", "tool_choice", "tools", "top_k",
    "top_logprobs", "top_p", "total_tokens", "transforms", "type", "url", "usage", "user", "verbosity",
    "video_url", "web_search_options", "xhigh",
];
