//! Moonshot, who make Kimi.

use seamline_model::{Constraints, Echo, ErrorText, Models, NameStart, ReasoningDemands, ToolDemands, Uniqueness};

use super::Provider;
use crate::openai_chat;

/// Moonshot's own endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "moonshot",
    company: "moonshot",
    aliases: &["kimi", "moonshotai"],
    about: "Moonshot's Chat Completions (Kimi): ids as its models made them, each once",
    dialect: openai_chat::NAME,
    models: &["kimi-", "moonshot-"],
    fallback: false,
    constraints: Constraints {
        // KIM-1, observed: ids such as `functions.bash:0` must come back as they are.
        call_id: openai_chat::COMPATIBLE.call_id,
        // KIM-2, observed: among all calls of a request. The text is not known.
        unique_ids: Uniqueness::Request(ErrorText("")),
        // KIM-3, observed, with the server's two blanks.
        orphan: ErrorText("Invalid request: tool_call_id  is not found"),
        // KIM-3: a second result answers no open call.
        duplicate_result: ErrorText("Invalid request: tool_call_id  is not found"),
        // KIM-5, observed.
        empty_message: Some(ErrorText(
            "Invalid request: the message at position {message} with role '{kind}' must not be empty",
        )),
        // KIM-4, CMP-12, observed. Which models think unless told otherwise is inferred from their names.
        reasoning: ReasoningDemands {
            echo: Echo::Required {
                field: "reasoning_content",
                models: Models(&["kimi-k2-thinking", "kimi-k2.5", "kimi-k2.6", "kimi-k3", "kimi-thinking"]),
                error: ErrorText(
                    "thinking is enabled but reasoning_content is missing in assistant tool call message at index \
                     {message}",
                ),
            },
            ..ReasoningDemands::NONE
        },
        // KIM-6, observed: names start with a letter. The text is not known.
        tools: ToolDemands { name: Some(ErrorText("")), start: NameStart::Letter, ..ToolDemands::NONE },
        ..openai_chat::COMPATIBLE
    },
};
