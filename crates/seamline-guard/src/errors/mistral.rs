//! Mistral.

use super::Family;
use crate::kinds::{content, pairing, reasoning, service, shape};
use crate::known::{code, sentence};

pub(super) const FAMILY: Family = Family {
    name: "mistral",
    aliases: &["mistralai", "mistral-v13"],
    errors: &[
        // Status 403 looks like a wrong key. Guardrails check only the request.
        // https://docs.mistral.ai/capabilities/guardrailing
        sentence("MIS-12", 403, &content::CONTENT_FILTERED, r"Content blocked by guardrail"),
        sentence("MIS-11", 400, &content::CONTEXT_OVERFLOW, r"too large for model with \d+ maximum context length"),
        sentence(
            "MIS-2",
            400,
            &pairing::ILLEGAL_CALL_ID,
            r"Tool call id was [^\n]{0,80}but must be a-z, A-Z, 0-9|Tool call id (?:has to be defined|must be a non-empty string)",
        ),
        sentence("MIS-5", 400, &pairing::UNEQUAL_RESULTS, r"Not the same number of function calls and responses"),
        sentence("MIS-5", 400, &pairing::DUPLICATE_RESULT, r"Duplicate tool call id \S+ in tool results"),
        sentence("MIS-5", 400, &pairing::REPEATED_CALL_ID, r"Duplicate tool call id \S+ in assistant message"),
        sentence("MIS-5", 400, &pairing::ORPHAN_RESULT, r"Unexpected tool call id \S* ?in tool results"),
        sentence("MIS-4", 400, &shape::TRAILING_ASSISTANT, r"Expected last role User or Tool"),
        sentence("MIS-4", 400, &shape::EARLY_PREFIX, r"Assistant message with prefix True must be last message"),
        sentence("MIS-3", 400, &shape::UNEXPECTED_ROLE, r"Unexpected role ['\x22`]\w+['\x22`] after role ['\x22`]\w+"),
        sentence("MIS-6", 400, &shape::EMPTY_MESSAGE, r"Assistant message must have either content or tool_calls"),
        sentence("MIS-7", 400, &service::TOOL_DECLARATION, r"Function name was (?:[^\n]{0,140} )?but must be a-z"),
        sentence("MIS-8", 422, &reasoning::UNWANTED_REASONING, r"\.reasoning\w*: Extra inputs are not permitted"),
        sentence("MIS-8", 422, &shape::UNKNOWN_FIELD, r"Extra inputs are not permitted"),
        code("MIS-8", 422, &shape::UNKNOWN_FIELD, r"extra_forbidden"),
    ],
    ..Family::NONE
};
