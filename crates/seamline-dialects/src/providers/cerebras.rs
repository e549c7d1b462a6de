//! Cerebras.

use seamline_model::{Constraints, Echo, ErrorText, ReasoningDemands};

use super::Provider;
use crate::openai_chat;

/// Cerebras' own endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "cerebras",
    company: "cerebras",
    aliases: &[],
    about: "Cerebras' Chat Completions: reasoning comes back in `reasoning`",
    dialect: openai_chat::NAME,
    models: &[],
    fallback: false,
    constraints: Constraints {
        // CER-1, CMP-12, observed: the member on input is `reasoning`.
        reasoning: ReasoningDemands {
            echo: Echo::Refused {
                // OAC-11: the other two belong to other programs.
                fields: &["reasoning_content", "thinking", "thinkingSignature"],
                partly: &[],
                instead: Some("reasoning"),
                error: ErrorText("property 'messages.{message}.assistant.{kind}' is unsupported"),
            },
            ..ReasoningDemands::NONE
        },
        ..openai_chat::COMPATIBLE
    },
};
