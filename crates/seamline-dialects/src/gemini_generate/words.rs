//! The words of generateContent.

/// The names of members, and the values of members that choose from a list. A request has no other word by which the
/// dialect means something, so any other one may come from a user, a model or a tool.
#[rustfmt::skip]
pub(super) const WORDS: &[&str] = &[
    "ANY", "AUDIO", "AUTO", "BLOCK_NONE", "BLOCK_ONLY_HIGH", "HIGH", "IMAGE", "LOW", "MAX_TOKENS", "MEDIUM",
    "MINIMAL", "NONE", "OFF", "OUTCOME_FAILED", "OUTCOME_OK", "PYTHON", "STOP", "TEXT", "VALIDATED",
    "allowedFunctionNames", "allowed_function_names", "args", "behavior", "cachedContent", "cached_content",
    "candidateCount", "candidate_count", "category", "code", "codeExecution", "codeExecutionResult",
    "code_execution", "code_execution_result", "computerUse", "contents", "data", "description",
    "displayName", "endOffset", "executableCode", "executable_code", "fileData", "fileSearch", "fileUri",
    "file_data", "file_uri", "finishReason", "fps", "frequencyPenalty", "function", "functionCall",
    "functionCallingConfig", "functionDeclarations", "functionResponse", "function_call",
    "function_calling_config", "function_declarations", "function_response", "generationConfig",
    "generation_config", "googleMaps", "googleSearch", "googleSearchRetrieval", "google_search", "high", "id",
    "includeThoughts", "include_thoughts", "inlineData", "inline_data", "labels", "language", "logprobs",
    "low", "maxOutputTokens", "max_output_tokens", "mediaResolution", "medium", "mimeType", "mime_type",
    "minimal", "mode", "model", "name", "outcome", "output", "parameters", "parametersJsonSchema",
    "partMetadata", "parts", "presencePenalty", "response", "responseJsonSchema", "responseLogprobs",
    "responseMimeType", "responseModalities", "responseSchema", "response_mime_type", "response_schema",
    "retrievalConfig", "role", "safetySettings", "safety_settings", "scheduling", "seed", "serviceTier",
    "speechConfig", "startOffset", "stopSequences", "stop_sequences", "systemInstruction",
    "system_instruction", "temperature", "text", "thinkingBudget", "thinkingConfig", "thinkingLevel",
    "thinking_budget", "thinking_config", "thinking_level", "thought", "thoughtSignature",
    "thought_signature", "threshold", "toolCall", "toolConfig", "toolResponse", "tool_config", "tools",
    "topK", "topP", "top_k", "top_p", "urlContext", "url_context", "user", "videoMetadata", "video_metadata",
    "willContinue", "will_continue",
];
