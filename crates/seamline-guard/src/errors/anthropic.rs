//! Anthropic's Messages API.

use super::Family;
use crate::kinds::{content, pairing, reasoning, service, shape};
use crate::known::{code, sentence, sort};

pub(super) const FAMILY: Family = Family {
    name: "anthropic",
    aliases: &["anthropic-compatible", "messages-compatible", "claude"],
    dialects: &["anthropic_messages"],
    errors: &[
        // These have the status and type of damage, but are not damage.
        sentence("ANT-49", 400, &content::RESPONSE_FILTERED, r"Output blocked by content filtering policy"),
        sentence("ANT-49", 400, &content::CONTENT_FILTERED, r"Input blocked by content filtering policy"),
        // The type that agents look for (S1-51); no recorded error has it.
        code("ANT-49", 400, &content::EITHER_FILTERED, r#"type["'] ?: ?["']content_filtered"#),
        sentence(
            "ANT-62",
            400,
            &content::CONTEXT_OVERFLOW,
            r"prompt is too long: \d|^ ?[Pp]rompt is too long\.?$|input length and [`'\x22]?max_tokens[`'\x22]? exceed context limit|exceed context limit",
        ),
        sentence(
            "ANT-63",
            413,
            &content::BODY_TOO_LARGE,
            r"Request exceeds the maximum (?:allowed )?(?:size|number of bytes)",
        ),
        sentence(
            "ANT-64",
            400,
            &service::OUT_OF_QUOTA,
            r"[Cc]redit balance is too low|reached (?:your|the) [\w ]{0,40}(?:spend(?:ing)?|usage) limit",
        ),
        sentence(
            "ANT-27",
            400,
            &service::UNSUPPORTED_SETTING,
            r#""?thinking\.type\.(?:enabled|disabled|adaptive)"? is not supported|adaptive thinking is not supported|tool_choice: type [^"\n]{0,60} not supported for this model"#,
        ),
        sentence(
            "ANT-21",
            400,
            &service::TOOL_DECLARATION,
            r"tools\.\d+\.(?:[a-z_0-9]+\.)?name: String should (?:match pattern|have at)|tools\.\d+\.[\w.]*input_schema: JSON schema is invalid",
        ),
        sentence("ANT-27", 400, &service::UNSUPPORTED_SETTING, r"max_tokens: \d+ > \d+, which is the maximum allowed"),
        // Calls and results.
        sentence(
            "ANT-5",
            400,
            &pairing::UNANSWERED_CALL,
            r"[`'\x22]?tool_use[`'\x22]? ids were found without [`'\x22]?tool_result\b",
        ),
        sentence(
            "ANT-5",
            400,
            &pairing::UNANSWERED_CALL,
            r"Did not find \d+ [`'\x22]?tool_result[`'\x22]? blocks?(?:\(s\))? at the beginning of this message",
        ),
        sentence(
            "ANT-36",
            400,
            &pairing::ORPHAN_SERVER_RESULT,
            r"unexpected [`'\x22]?tool_use_id[`'\x22]? found in [`'\x22]?\w+_tool_result[`'\x22]? blocks",
        ),
        sentence(
            "ANT-6",
            400,
            &pairing::ORPHAN_RESULT,
            r"unexpected [`'\x22]?tool_use_id[`'\x22]? found in [`'\x22]?tool_result[`'\x22]? blocks",
        ),
        sentence(
            "ANT-7",
            400,
            &pairing::DUPLICATE_RESULT,
            r"each [`'\x22]?tool_use[`'\x22]? must have a single result",
        ),
        sentence("ANT-8", 400, &pairing::REPEATED_CALL_ID, r"[`'\x22]?tool_use[`'\x22]? ids must be unique"),
        sentence(
            "ANT-10",
            400,
            &pairing::WRONG_ROLE_BLOCK,
            r"[`'\x22]?tool_(?:use|result)[`'\x22]? blocks can only be in [`'\x22]?(?:assistant|user)[`'\x22]? messages",
        ),
        sentence(
            "ANT-35",
            400,
            &pairing::UNANSWERED_SERVER_CALL,
            r"tool use with id [`'\x22]?[\w-]+[`'\x22]? was found without a corresponding [`'\x22]?\w+_tool_result[`'\x22]? block",
        ),
        sentence("ANT-37", 400, &pairing::UNDECLARED_TOOL, r"but no [`'\x22]?\w+[`'\x22]? tool was provided"),
        sentence("ANT-38", 400, &pairing::LOST_CONTAINER, r"container_id is required when there are pending tool uses"),
        sentence(
            "ANT-44",
            400,
            &pairing::UNDECLARED_TOOLS,
            r"include [`'\x22]?tool_use[`'\x22]? or [`'\x22]?tool_result[`'\x22]? blocks must define tools",
        ),
        code(
            "ANT-43",
            400,
            &pairing::UNRESOLVED_TOOL,
            r"tool_reference_unresolved|tool_name_conflict|available_tools_limit_exceeded",
        ),
        sentence("ANT-43", 400, &pairing::UNRESOLVED_TOOL, r"Tool reference [^\n]{0,140} not found in available tools"),
        sentence("ANT-22", 400, &pairing::ILLEGAL_CALL_ID, r"server_tool_use\.id: String should match pattern"),
        sentence(
            "ANT-20",
            400,
            &pairing::ILLEGAL_CALL_ID,
            r"(?:tool_use|tool_result)\.(?:tool_use_)?id: String should (?:match pattern|have at)",
        ),
        sentence(
            "ANT-21",
            400,
            &pairing::ILLEGAL_TOOL_NAME,
            r"tool_use\.name: String should (?:match pattern|have at)",
        ),
        sentence(
            "ANT-3",
            400,
            &pairing::CALL_INPUT,
            r"tool_use\.input: (?:Input should be (?:a valid dictionary|an object)|Field required)",
        ),
        // Thinking; a block of another conversation is reported as a bad signature too.
        sentence(
            "ANT-28",
            400,
            &reasoning::BOUND_THINKING,
            r"block is bound to a different conversation|[`'\x22]?thinking[`'\x22]? block that preceded this one when it was created is missing",
        ),
        sentence(
            "ANT-24",
            400,
            &reasoning::ALTERED_THINKING,
            r"[`'\x22]?thinking[`'\x22]? or [`'\x22]?redacted_thinking[`'\x22]? blocks in the latest assistant message cannot be modified",
        ),
        sentence("ANT-25", 400, &reasoning::UNSIGNED_THINKING, r"thinking\.signature: Field required"),
        sentence("ANT-21", 400, &service::REPEATED_TOOL, r"[Tt]ool names must be unique"),
        sentence(
            "ANT-25",
            400,
            &reasoning::FOREIGN_SIGNATURE,
            r"Invalid [`'\x22]?signature[`'\x22]? in [`'\x22]?thinking[`'\x22]? block",
        ),
        sentence(
            "ANT-26",
            400,
            &reasoning::MISSING_THINKING,
            r"Expected [`'\x22]?thinking[`'\x22]? or [`'\x22]?redacted_thinking[`'\x22]?, but found",
        ),
        // Seen in forgecode#1853.
        sentence(
            "case 49",
            400,
            &reasoning::THINKING_WHILE_OFF,
            r"When thinking is disabled, an [`'\x22]?assistant[`'\x22]? message in the final position cannot contain",
        ),
        // Messages and fields.
        sentence(
            "ANT-13",
            400,
            &shape::TRAILING_ASSISTANT,
            r"does not support assistant message prefill|conversation must end with a user message",
        ),
        sentence(
            "ANT-14",
            400,
            &shape::TRAILING_WHITESPACE,
            r"final assistant content cannot end with trailing whitespace",
        ),
        sentence(
            "ANT-12",
            400,
            &shape::CONSECUTIVE_ROLES,
            r"roles must alternate between .?[\x22'`]|multiple .?.?(?:user|assistant).?.? roles in a row",
        ),
        sentence("ANT-12", 400, &shape::LEADING_ROLE, r"first message must use the .?.?user.?.? role"),
        sentence("ANT-17", 400, &shape::EMPTY_TEXT, r"cache_control cannot be set for empty text blocks"),
        sentence(
            "ANT-16",
            400,
            &shape::EMPTY_TEXT,
            r"text content blocks must (?:be non-empty|contain non-whitespace)",
        ),
        sentence("ANT-18", 400, &shape::EMPTY_MESSAGE, r"all messages must have non-empty content"),
        sentence("ANT-1", 400, &shape::NO_MESSAGES, r"messages: at least one message is required"),
        sentence(
            "ANT-1",
            400,
            &shape::MISSING_CONTENT,
            r"messages\.\d+\.content: (?:Input should be a valid|Field required)",
        ),
        sentence("ANT-19", 400, &shape::NOT_JSON, r"request body is not valid JSON"),
        sentence("ANT-4", 400, &shape::UNKNOWN_FIELD, r"Extra inputs are not permitted"),
        sentence("ANT-67", 400, &shape::CACHE_MARK, r"A maximum of \d+ blocks with cache_control"),
        sentence(
            "ANT-67",
            400,
            &shape::UNUSABLE_IMAGE,
            r"image exceeds \d+ MB maximum|image dimensions exceed max allowed size|Could not process image",
        ),
        code(
            "ANT-40",
            400,
            &shape::MISPLACED_COMPACTION,
            r"compaction_(?:block_ambiguous|block_misplaced|content_mismatch|incomplete_turn|nothing_to_summarize|signature_invalid|tool_changes_mismatch|too_many_tool_references)",
        ),
        code(
            "ANT-42",
            400,
            &shape::LOST_THREAD,
            r"thread_(?:already_continued|continue_in_flight|fingerprint_mismatch|not_found|unsupported_request)",
        ),
        // The account, the service, the response.
        code(
            "ANT-64",
            429,
            &service::OUT_OF_QUOTA,
            r"enforced_spend_limit_reached|contract_spend_limit_reached|linked_organization_spend_limit_reached|billing_error",
        ),
        code("ANT-63", 413, &content::BODY_TOO_LARGE, r"request_too_large"),
        code("ANT-66", 401, &service::NOT_ALLOWED, r"invalid x-api-key|organization_on_hold"),
        code("ANT-65", 429, &service::RATE_LIMITED, r"ramp_limit_exceeded"),
        code("ANT-65", 503, &service::SERVER_FAILED, r"compaction_unavailable"),
        code("ANT-48", 200, &content::REFUSED, r#"stop_reason["'] ?: ?["']refusal"#),
        // The word alone or as a value: it also occurs in prose.
        sort(
            "ANT-58",
            529,
            &service::OVERLOADED,
            r"overloaded_error|(?:^ ?|: ?[\x22']?|\b529 )Overloaded\.?(?: ?$|[\x22',}(]| \()",
        ),
        sort("ANT-65", 429, &service::RATE_LIMITED, r"rate_limit_error"),
        sort("ANT-65", 500, &service::SERVER_FAILED, r"api_error|Internal server error"),
        sort("ANT-65", 504, &service::TIMED_OUT, r"timeout_error"),
        sort("ANT-66", 401, &service::NOT_ALLOWED, r"authentication_error|permission_error"),
        sort("ANT-66", 404, &service::NOT_FOUND, r"not_found_error"),
    ],
    ..Family::NONE
};
