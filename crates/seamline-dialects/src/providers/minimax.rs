//! MiniMax.

use seamline_model::{Arguments, Constraints, Echo, ErrorText, Models, ReasoningDemands};

use super::Provider;
use crate::openai_chat;

/// MiniMax's own endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "minimax",
    company: "minimax",
    aliases: &[],
    about: "MiniMax's Chat Completions: reasoning comes back with calls",
    dialect: openai_chat::NAME,
    models: &["MiniMax-"],
    fallback: false,
    constraints: Constraints {
        // Case 12, observed (opencode#32609).
        unanswered: ErrorText("tool call result does not follow tool call (2013)"),
        // Case 12, observed: the same text.
        orphan: ErrorText("tool call result does not follow tool call (2013)"),
        // Case 12: a second result answers no open call.
        duplicate_result: ErrorText("tool call result does not follow tool call (2013)"),
        // Case 28, observed. The text is not known.
        arguments: Arguments::Json { empty: true, error: ErrorText("") },
        // CMP-12, observed through gateways when thinking is on. The text is not known.
        reasoning: ReasoningDemands {
            echo: Echo::Required { field: "reasoning_content", models: Models::NONE, error: ErrorText("") },
            ..ReasoningDemands::NONE
        },
        ..openai_chat::COMPATIBLE
    },
};
