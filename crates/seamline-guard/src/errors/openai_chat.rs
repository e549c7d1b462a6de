//! OpenAI's Chat Completions, and providers that copied its texts.

use super::Family;
use crate::kinds::{content, pairing, reasoning, service, shape};
use crate::known::{broad, code, sentence, sort};

pub(super) const FAMILY: Family = Family {
    name: "openai",
    aliases: &["openai-compatible", "openai-chat", "copilot", "github-copilot", "together", "zai"],
    dialects: &["openai_chat"],
    errors: &[
        sentence(
            "OAC-17",
            400,
            &content::CONTENT_FILTERED,
            r"(?i)violating our usage polic|rejected as a result of (?:the|our) safety system(?:[^ \w]|$)",
        ),
        sentence(
            "OAC-18",
            400,
            &content::CONTEXT_OVERFLOW,
            r"(?i)maximum context length is \d|exceeds the context window|input tokens exceed the configured limit",
        ),
        // The request exceeds the limit of a whole minute: the status asks to wait, but waiting does not help.
        sentence(
            "OAC-19",
            429,
            &content::BODY_TOO_LARGE,
            r"Request too large for [^\n]{1,200} on tokens per (?:min|day)|The input or output tokens must be reduced in order to run successfully",
        ),
        sentence("OAC-19", 429, &service::OUT_OF_QUOTA, r"exceeded your current quota").for_good(),
        sentence("OAC-19", 401, &service::NOT_ALLOWED, r"Incorrect API key provided|You didn't provide an API key"),
        code("OAC-19", 401, &service::NOT_ALLOWED, r"invalid_api_key"),
        sentence(
            "OAC-19",
            404,
            &service::NOT_FOUND,
            r"The model [`'\x22][^`'\x22]{1,200}[`'\x22] does not exist or you do not have access to it",
        ),
        code("OAC-19", 404, &service::NOT_FOUND, r"model_not_found"),
        sentence(
            "OAC-9",
            400,
            &service::TOOL_DECLARATION,
            r"Invalid 'tools\[\d+\][^']*name': string (?:does not match pattern|too long)",
        ),
        sentence("OAC-7", 400, &pairing::EMPTY_TOOL_LIST, r"Invalid 'tools': empty array"),
        // Calls and results.
        sentence(
            "OAC-2",
            400,
            &pairing::UNANSWERED_CALL,
            r"(?i)assistant message with ['\x22`]?tool_calls['\x22`]? must be followed by tool messages|tool_call_ids? did not have response messages",
        ),
        sentence(
            "OAC-3",
            400,
            &pairing::ORPHAN_RESULT,
            r"(?i)role ['\x22`]?tool['\x22`]? must be a response to a prece+ding message",
        ),
        sentence(
            "OAC-4",
            400,
            &pairing::ORPHAN_RESULT,
            r"['\x22`]?tool_call_id['\x22`]? of ['\x22`][^'\x22`]*['\x22`] not found in ['\x22`]?tool_calls",
        ),
        sentence(
            "OAC-1",
            400,
            &pairing::WRONG_ROLE_BLOCK,
            r"only messages with role ['\x22`]?assistant['\x22`]? can have ['\x22`]?tool_calls",
        ),
        sentence(
            "OAC-5",
            400,
            &pairing::LONG_CALL_ID,
            r"Invalid 'messages\[\d+\]\.(?:tool_calls\[\d+\]\.id|tool_call_id)': string too long",
        ),
        sentence(
            "OAC-5",
            400,
            &pairing::MISSING_CALL_ID,
            r"Missing required parameter: 'messages\[\d+\]\.(?:tool_calls\[\d+\]\.id|tool_call_id)'",
        ),
        sentence("OAC-5", 400, &pairing::UNADDRESSED_RESULT, r"Missing parameter 'tool_call_id'"),
        sentence("OAC-5", 400, &pairing::REPEATED_CALL_ID, r"(?i)duplicate tool_call_id"),
        sentence(
            "OAC-9",
            400,
            &pairing::ILLEGAL_TOOL_NAME,
            r"Invalid '(?:messages|input)\[\d+\][^']*name': string (?:does not match pattern|too long)",
        ),
        sentence(
            "OAC-1",
            400,
            &pairing::CALL_INPUT,
            r"Invalid type for 'messages\[\d+\]\.tool_calls\[\d+\]\.function\.arguments'",
        ),
        // Messages and fields.
        sentence("OAC-7", 400, &shape::EMPTY_CALL_LIST, r"\.tool_calls': empty array"),
        sentence("OAC-1", 400, &shape::NO_MESSAGES, r"Invalid 'messages': empty array"),
        sentence(
            "OAC-8",
            400,
            &shape::MISSING_CONTENT,
            r"Invalid value for 'content': expected a string, got null|content[^\n]{0,60}expected a string[^\n]{0,60}got null",
        ),
        sentence(
            "OAC-8",
            400,
            &shape::MISSING_CONTENT,
            r"Invalid type for '(?:messages|input)\[\d+\][\w.\[\]]*\.?(?:content|output|text)': expected [^\n]{0,120}got null",
        ),
        sentence("OAC-1", 400, &shape::WRONG_MEMBER, r"Invalid type for '(?:messages|input)\[\d+\]"),
        sentence("OAC-1", 400, &shape::MISSING_MEMBER, r"Missing required parameter: '(?:messages|input)\[\d+\]"),
        sentence(
            "OAC-1",
            400,
            &shape::MEDIA_IN_RESULT,
            r"messages with role ['\x22`]?tool['\x22`]? can only contain text",
        ),
        sentence(
            "OAC-1",
            400,
            &shape::UNSUPPORTED_ROLE,
            r"Unsupported value: 'messages\[\d+\]\.role' does not support",
        ),
        sentence(
            "unknown parameters",
            400,
            &reasoning::UNWANTED_REASONING,
            r"Unknown parameter: '(?:messages|input)\[\d+\][\w.\[\]]*(?:reasoning|thinking)\w*'",
        ),
        sentence("unknown parameters", 400, &shape::UNKNOWN_FIELD, r"Unknown parameter: '(?:messages|input)\[\d+\]"),
        broad(
            "unknown parameters",
            &shape::UNKNOWN_FIELD,
            r"Unknown parameter: '?\w|Unrecognized request arguments? supplied: ",
        ),
        sentence(
            "OAC-21",
            400,
            &shape::NOT_JSON,
            r"could not parse the JSON body of your request|Invalid body: failed to parse JSON",
        ),
        // The account, the service, the response.
        code(
            "OAC-19",
            429,
            &service::OUT_OF_QUOTA,
            r"insufficient_quota|usage_limit_reached|usage_not_included|billing_hard_limit_reached",
        ),
        code("OAC-17", 400, &content::CONTENT_FILTERED, r"content_policy_violation|invalid_prompt"),
        code("OAC-18", 400, &content::CONTEXT_OVERFLOW, r"context_length_exceeded"),
        code("OAC-16", 200, &content::RESPONSE_FILTERED, r#"finish_reason["'] ?: ?["']content_filter"#),
        code("OAC-20", 503, &service::OVERLOADED, r"server_is_overloaded|slow_down"),
        sentence("OAC-14", 500, &service::SERVER_FAILED, r"The server had an error (?:while )?processing your request"),
        sort("OAC-20", 429, &service::RATE_LIMITED, r"rate_limit_exceeded"),
        sentence("OAC-20", 429, &service::RATE_LIMITED, r"(?i)Rate limit reached for|please try again in \d"),
        sort("OAC-14", 500, &service::SERVER_FAILED, r#"type["'] ?: ?["']server_error"#),
    ],
    ..Family::NONE
};
