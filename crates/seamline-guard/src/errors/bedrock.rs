//! AWS Bedrock's Converse.

use super::Family;
use crate::kinds::{content, pairing, reasoning, service, shape};
use crate::known::{code, sentence, sort, wrapper};

pub(super) const FAMILY: Family = Family {
    name: "bedrock",
    aliases: &[
        "aws-bedrock",
        "amazon-bedrock",
        "bedrock-converse",
        "bedrock-anthropic",
        "bedrock-claude",
        "bedrock-mistral",
        "bedrock-nova",
    ],
    dialects: &["bedrock_converse"],
    // Only Bedrock reports a failed model with this status.
    statuses: &[(424, &service::SERVER_FAILED)],
    errors: &[
        sentence(
            "Bedrock filters",
            400,
            &content::CONTENT_FILTERED,
            r"request has been blocked by our content filters",
        ),
        code(
            "BED-14",
            200,
            &content::RESPONSE_FILTERED,
            r#"stopReason["'] ?: ?["'](?:guardrail_intervened|content_filtered)"#,
        ),
        sentence(
            "BED-18",
            400,
            &content::CONTEXT_OVERFLOW,
            r"(?i)input is too long for requested model|too many input tokens",
        ),
        // Calls and results.
        sentence(
            "BED-4",
            400,
            &pairing::UNANSWERED_CALL,
            r"Expected toolResult blocks at messages\.\d+\.content for the following Ids",
        ),
        sentence(
            "BED-5",
            400,
            &pairing::SURPLUS_RESULTS,
            r"number of toolResult blocks at messages\.\d+\.content exceeds the number of toolUse blocks of previous turn",
        ),
        sentence(
            "BED-6",
            400,
            &pairing::UNDECLARED_TOOLS,
            r"toolConfig field must be defined when using toolUse and toolResult",
        ),
        sentence(
            "case 15",
            400,
            &pairing::REPEATED_CALL_ID,
            r"toolUse blocks at messages\.\d+\.content contain duplicate Ids",
        ),
        sentence("BED-2", 400, &pairing::ILLEGAL_CALL_ID, r"toolUseId' failed to satisfy constraint"),
        sentence(
            "BED-10",
            400,
            &pairing::CALL_INPUT,
            r"The format of the value at messages\.\d+\.content\.\d+\.toolUse\.input is invalid",
        ),
        sentence(
            "BED-10",
            400,
            &shape::CONTENT_FORM,
            r"The format of the value at messages\.\d+\.content\.\d+\.toolResult\.content\.\d+\.json is invalid",
        ),
        // Claude gets a document beside results in a form that it cannot read (pydantic-ai#6081).
        sentence(
            "BED-20",
            400,
            &pairing::DOCUMENT_BESIDE_RESULTS,
            r"messages\.\d+\.content\.\d+\.document\.source\.type: Field required",
        ),
        // Messages, fields and thinking.
        sentence("BED-7", 400, &shape::LEADING_ROLE, r"A conversation must start with a user message"),
        sentence("BED-7", 400, &shape::TRAILING_ASSISTANT, r"A conversation must end with a user message"),
        sentence(
            "BED-7",
            400,
            &shape::CONSECUTIVE_ROLES,
            r"must alternate between user and assistant roles|A conversation must alternate",
        ),
        sentence("BED-8", 400, &shape::EMPTY_TEXT, r"text field in the ContentBlock object at [\w.]+ is blank"),
        sentence("BED-8", 400, &shape::EMPTY_MESSAGE, r"content field in the Message object at [\w.]+ is empty"),
        sentence("BED-9", 400, &shape::EMPTY_RESULT, r"toolResult cannot be empty when status value is error"),
        sentence(
            "BED-11",
            400,
            &shape::MIXED_BLOCKS,
            r"Conversation blocks and tool (?:result|use) blocks cannot be provided in the same turn",
        ),
        sentence(
            "BED-12",
            400,
            &reasoning::UNWANTED_REASONING,
            r"This model doesn't support the reasoning[\w.]+ field",
        ),
        sentence("BED-12", 400, &shape::UNKNOWN_FIELD, r"This model doesn't support the [\w.]+ field"),
        sentence(
            "BED-19",
            400,
            &shape::CACHE_MARK,
            r"Malformed input request: [^\n]{0,140}extraneous key \[cachePoint\]",
        ),
        // Nova was seen to report a request without `toolConfig` like this; it may have other causes.
        sentence("BED-6", 400, &pairing::UNEXPECTED_PAIR, r"extraneous key \[tool(?:Use|Result)\]"),
        sentence("BED-19", 400, &shape::UNKNOWN_FIELD, r"Malformed input request: [^\n]{0,140}extraneous key"),
        // The account, the service, the response.
        sentence("BED-3", 424, &service::MALFORMED_CALL, r"Model produced invalid sequence as part of ToolUse"),
        code("BED-15", 200, &service::MALFORMED_CALL, r#"stopReason["'] ?: ?["']malformed_(?:tool_use|model_output)"#),
        sentence("BED-18", 400, &service::NOT_FOUND, r"The provided model identifier is invalid"),
        sort("BED-18", 403, &service::NOT_ALLOWED, r"AccessDeniedException"),
        sort("BED-18", 404, &service::NOT_FOUND, r"ResourceNotFoundException"),
        sort("BED-17", 429, &service::RATE_LIMITED, r"(?i:throttlingException|modelNotReadyException)"),
        sort(
            "BED-17",
            500,
            &service::SERVER_FAILED,
            r"(?i:modelStreamErrorException|serviceUnavailableException|internalServerException|modelTimeoutException|modelErrorException)",
        ),
        wrapper("BED-13", &shape::REJECTED_BODY, r"The model returned the following errors:"),
    ],
};
