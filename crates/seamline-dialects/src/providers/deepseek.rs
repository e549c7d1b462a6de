//! DeepSeek.

use seamline_model::{Arguments, Constraints, Echo, ErrorText, Models, ReasoningDemands};

use super::Provider;
use crate::openai_chat;

/// DeepSeek's own endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "deepseek",
    company: "deepseek",
    aliases: &[],
    about: "DeepSeek's Chat Completions: reasoning comes back with calls while thinking",
    dialect: openai_chat::NAME,
    models: &["deepseek-"],
    fallback: false,
    constraints: Constraints {
        // DSK-1, observed.
        unanswered: ErrorText(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. \
             (insufficient tool messages following tool_calls message)",
        ),
        // DSK-2, observed.
        orphan: ErrorText("Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"),
        // DSK-2: a second result answers no open call.
        duplicate_result: ErrorText(
            "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
        ),
        // DSK-10, observed. X-7 wants an object of gateways before it, not of itself.
        arguments: Arguments::Json { empty: true, error: ErrorText("invalid tool call arguments") },
        // DSK-3, CMP-12, documented: V4 thinks unless told not to. DSK-4: the first reasoner wanted the opposite, so
        // other models only when the request switches thinking on.
        reasoning: ReasoningDemands {
            echo: Echo::Required {
                field: "reasoning_content",
                models: Models(&["deepseek-v4", "deepseek-flash", "deepseek-pro"]),
                error: ErrorText("The `reasoning_content` in the thinking mode must be passed back to the API."),
            },
            ..ReasoningDemands::NONE
        },
        ..openai_chat::COMPATIBLE
    },
};
