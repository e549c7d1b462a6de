//! Errors that client libraries raise before they send a request.

use super::{Family, anywhere};
use crate::kinds::pairing;
use crate::known::{code, sentence};

pub(super) const FAMILY: Family = Family {
    name: anywhere::FAMILY.name,
    errors: &[
        sentence(
            "LangGraph",
            400,
            &pairing::UNANSWERED_CALL,
            r"AIMessages with tool_calls that do not have a corresponding ToolMessage|MUST have a corresponding ToolMessage",
        ),
        code("LangGraph", 400, &pairing::UNANSWERED_CALL, r"INVALID_CHAT_HISTORY"),
        sentence(
            "AI SDK",
            400,
            &pairing::UNANSWERED_CALL,
            r"Tool results? (?:is|are) missing for tool calls?|ToolInvocation must have a result",
        ),
        code("AI SDK", 400, &pairing::UNANSWERED_CALL, r"(?:AI_)?MissingToolResultsError"),
    ],
    ..Family::NONE
};
