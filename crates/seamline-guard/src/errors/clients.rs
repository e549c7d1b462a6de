//! Errors of agents and client libraries: their own words for damage, and what they raise before they send a request.

use super::{Family, anywhere};
use crate::kinds::pairing;
use crate::known::{code, sentence};

pub(super) const FAMILY: Family = Family {
    name: anywhere::FAMILY.name,
    errors: &[
        // The agent hides the provider's sentence, which is about missing results (claude-code#54638) or repeated ids
        // (claude-code#21088).
        sentence("Claude Code", 400, &pairing::UNPAIRED_CALLS, r"due to tool use concurrency issues"),
        sentence(
            "LangGraph",
            400,
            &pairing::UNANSWERED_CALL,
            r"AIMessages with tool_calls that do not have a corresponding ToolMessage|MUST have a corresponding ToolMessage",
        ),
        code("LangGraph", 400, &pairing::UNANSWERED_CALL, r"INVALID_CHAT_HISTORY"),
        sentence("LangGraph", 400, &pairing::UNANSWERED_CALL, r"/INVALID_CHAT_HISTORY\b"),
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
