//! DeepSeek.

use super::Family;
use crate::kinds::{content, pairing, reasoning, service, shape};
use crate::known::{code, sentence};

pub(super) const FAMILY: Family = Family {
    name: "deepseek",
    aliases: &["deepseek-responses", "deepseek-anthropic", "deepseek-messages"],
    errors: &[
        sentence("DSK-7", 400, &content::EITHER_FILTERED, r"Content Exists Risk"),
        sentence("DSK-9", 402, &service::OUT_OF_QUOTA, r"Insufficient Balance"),
        sentence("OAR-27", 400, &pairing::UNANSWERED_CALL, r"No tool output found for tool call"),
        sentence("DSK-1", 400, &pairing::UNANSWERED_CALL, r"insufficient tool messages following tool_calls message"),
        sentence(
            "DSK-2",
            400,
            &pairing::ORPHAN_RESULT,
            r"(?i)role ['\x22`]?tool['\x22`]? must be a response to a preceding message",
        ),
        sentence(
            "DSK-5",
            400,
            &reasoning::MISSING_THINKING,
            r"`?content\[\]\.thinking`? in the thinking mode must be passed back",
        ),
        sentence(
            "DSK-3",
            400,
            &reasoning::MISSING_REASONING,
            r"`?reasoning_content`? in the thinking mode must be passed back|Missing `?reasoning_content`? field in the assistant message",
        ),
        sentence("DSK-6", 400, &shape::CONSECUTIVE_ROLES, r"does not support successive user or assistant messages"),
        sentence("DSK-6", 400, &shape::TRAILING_ASSISTANT, r"last message of deepseek-reasoner must be a user message"),
        sentence("DSK-10", 400, &pairing::CALL_INPUT, r"invalid tool call arguments"),
        code("DSK-8", 200, &service::OVERLOADED, r"insufficient_system_resource"),
    ],
    ..Family::NONE
};
