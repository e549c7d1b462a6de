//! The words of the Converse API.

/// The names of members, and the values of members that choose from a list. A request has no other word by which the
/// dialect means something, so any other one may come from a user, a model or a tool.
#[rustfmt::skip]
pub(super) const WORDS: &[&str] = &[
    "additionalModelRequestFields", "additionalModelResponseFieldPaths", "any", "assistant", "audio", "auto",
    "bucketOwner", "bytes", "cachePoint", "citations", "citationsContent", "content", "context", "csv",
    "default", "description", "doc", "document", "docx", "enabled", "end_turn", "error", "format", "gif",
    "guardContent", "guardrailConfig", "guardrailIdentifier", "guardrailVersion", "html", "image",
    "inferenceConfig", "input", "inputSchema", "jpeg", "json", "latency", "maxTokens", "max_tokens", "md",
    "messages", "mkv", "modelId", "mov", "mp4", "name", "optimized", "outputConfig", "pdf",
    "performanceConfig", "png", "promptVariables", "qualifiers", "reasoningContent", "reasoningText",
    "redactedContent", "requestMetadata", "role", "s3Location", "searchResult", "serviceTier", "signature",
    "source", "standard", "status", "stopReason", "stopSequences", "strict", "success", "system",
    "systemTool", "temperature", "text", "title", "tool", "toolChoice", "toolConfig", "toolResult",
    "toolSpec", "toolUse", "toolUseId", "tool_use", "tools", "topP", "trace", "ttl", "txt", "type", "uri",
    "user", "video", "webm", "webp", "xls", "xlsx",
];
