//! OpenAI's Responses API.

use super::Family;
use crate::kinds::{content, pairing, reasoning, service, shape};
use crate::known::{code, sentence, sort};

pub(super) const FAMILY: Family = Family {
    name: "openai-responses",
    aliases: &["openai", "codex", "responses-compatible"],
    dialects: &["openai_responses"],
    errors: &[
        code(
            "OAR-22",
            400,
            &content::CONTENT_FILTERED,
            r"misalignment_policy_violation|cyber_policy|bio_policy|image_content_policy_violation|moderation_blocked",
        ),
        code("OAR-21", 200, &content::RESPONSE_FILTERED, r#"reason["'] ?: ?["']content_filter"#),
        // Calls and results.
        sentence(
            "OAR-2",
            400,
            &pairing::UNANSWERED_CALL,
            r"No tool output found for (?:function|custom tool|local shell|shell|apply patch|computer|tool search)? ?(?:tool )?call",
        ),
        sentence("OAR-3", 400, &pairing::ORPHAN_RESULT, r"No tool call found for (?:\w+ )*output with call_id"),
        // Codex writes these texts about the history that it is about to send.
        sentence("Codex history", 400, &pairing::UNANSWERED_CALL, r"(?:\w+ )?call output is missing for call id"),
        sentence("Codex history", 400, &pairing::ORPHAN_RESULT, r"Orphan (?:\w+ )*output for call id"),
        sentence("OAR-13", 400, &pairing::UNADDRESSED_RESULT, r"[Cc]all output requires call_id"),
        sentence(
            "OAR-13",
            400,
            &pairing::LONG_CALL_ID,
            r"\.call_id': string too long|`input\[\d+\]\.call_id` The length of the value must be|Invalid 'input\[\d+\]\.id': string too long",
        ),
        code("OAR-13", 400, &pairing::LONG_CALL_ID, r"string_above_max_length"),
        // Reasoning.
        sentence(
            "OAR-6",
            400,
            &reasoning::SPLIT_REASONING,
            r"of type ['\x22`]reasoning['\x22`] was provided without its required following item",
        ),
        sentence(
            "OAR-7",
            400,
            &reasoning::SPLIT_REASONING,
            r"was provided without its required ['\x22`]reasoning['\x22`] item",
        ),
        sentence(
            "OAR-11",
            400,
            &reasoning::SEALED_REASONING,
            r"[Ee]ncrypted content .{0,80}could not be (?:verified|decrypted)|[Ee]ncrypted content item_id did not match",
        ),
        code("OAR-11", 400, &reasoning::SEALED_REASONING, r"invalid_encrypted_content"),
        // Items.
        sentence("OAR-8", 400, &shape::LOST_ITEM, r"Item with id ['\x22`][^'\x22`]+['\x22`] not found"),
        sentence("OAR-9", 400, &shape::LOST_ITEM, r"Previous response with id ['\x22`][^'\x22`]+['\x22`] not found"),
        code("OAR-9", 400, &shape::LOST_ITEM, r"previous_response_not_found"),
        sentence("OAR-10", 400, &shape::DUPLICATE_ITEM, r"Duplicate item found with id"),
        sentence("OAR-14", 400, &shape::ITEM_ID, r"Expected an ID that begins with ['\x22`]\w+"),
        code("OAR-14", 400, &shape::ITEM_ID, r"invalid_id_prefix"),
        sentence(
            "OAR-15",
            400,
            &shape::ITEM_ID,
            r"Expected an ID that contains letters, numbers, underscores, or dashes",
        ),
        sentence(
            "OAR-16",
            400,
            &shape::CONTENT_FORM,
            r"Invalid value: ['\x22`](?:input_text|output_text|tool|text)['\x22`]\. Supported values are",
        ),
        sentence(
            "OAC-1",
            400,
            &shape::UNSUPPORTED_ROLE,
            r"Invalid value: '[^'\n]{0,80}'\. Supported values are: (?:(?:and )?'\w{1,20}',? ){0,4}(?:and )?'(?:system|assistant|user)'",
        ),
        sentence(
            "OAC-1",
            400,
            &shape::WRONG_MEMBER,
            r"Invalid value: '[^'\n]{0,80}'\. Supported values are: (?:(?:and )?'\w{1,40}',? ){0,4}(?:and )?'(?:text|image_url|input_text|output_text|input_image|function_call|message)'",
        ),
        // The service.
        sentence(
            "OAR-20",
            200,
            &service::CUT_STREAM,
            r"stream closed before response\.completed|stream disconnected before completion",
        ),
        sentence("OAR-20", 200, &service::TIMED_OUT, r"idle timeout waiting for SSE"),
        sentence(
            "OAR-24",
            409,
            &service::CONVERSATION_BUSY,
            r"Another process is currently operating on this conversation",
        ),
        code("OAR-24", 409, &service::CONVERSATION_BUSY, r"conversation_locked"),
        code("OAR-23", 200, &service::OVERLOADED, r"server_is_overloaded|slow_down"),
        sort("OAR-23", 200, &service::SERVER_FAILED, r"server_error"),
        sort("OAR-23", 200, &service::TIMED_OUT, r"vector_store_timeout"),
        sort("OAR-23", 200, &service::RATE_LIMITED, r"rate_limit_exceeded"),
    ],
    ..Family::NONE
};
