//! Groq.

use seamline_model::{Constraints, Echo, ErrorText, Members, Models, ReasoningDemands, ToolDemands};

use super::Provider;
use crate::openai_chat;

/// Groq's own endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "groq",
    company: "groq",
    aliases: &[],
    about: "Groq's Chat Completions: unknown members are rejected by name",
    dialect: openai_chat::NAME,
    models: &[],
    fallback: false,
    constraints: Constraints {
        // GRQ-1, observed.
        members: Members::Closed {
            known: &[],
            error: ErrorText(
                "'messages.{message}' : for 'role:{kind}' the following must be satisfied[('messages.{message}' : \
                 property '{id}' is unsupported)]",
            ),
            in_block: ErrorText(""),
        },
        // GRQ-1, CMP-12, observed; `reasoning` is taken by some models.
        reasoning: ReasoningDemands {
            echo: Echo::Refused {
                fields: &["reasoning_content", "reasoning_details"],
                // Models that do not reason; gptel#774.
                partly: &[("reasoning", Models(&["llama-3.1", "llama-3.3", "llama-4", "gemma2", "mixtral"]))],
                instead: None,
                error: ErrorText(
                    "'messages.{message}' : for 'role:assistant' the following must be satisfied[('messages.{message}' \
                     : property '{kind}' is unsupported)]",
                ),
            },
            ..ReasoningDemands::NONE
        },
        // GRQ-3, observed for a forced tool.
        tools: ToolDemands { unknown_choice: Some(ErrorText("requested tool does not exist")), ..ToolDemands::NONE },
        ..openai_chat::COMPATIBLE
    },
};
