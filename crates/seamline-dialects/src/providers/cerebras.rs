//! Cerebras.

use seamline_model::{Constraints, Echo, ErrorText, IdDemand, ReasoningDemands, ToolDemands};

use super::Provider;
use crate::openai_chat;

/// Cerebras' own endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "cerebras",
    aliases: &[],
    about: "Cerebras' Chat Completions: reasoning comes back in `reasoning`",
    dialect: openai_chat::NAME,
    models: &[],
    fallback: false,
    constraints: Constraints {
        // OAC-5 and OAC-7 were seen with OpenAI and Azure alone.
        call_id: IdDemand { length_max: usize::MAX, length_error: ErrorText(""), ..openai_chat::CONSTRAINTS.call_id },
        empty_call_list: None,
        // The models that do not know a role are OpenAI's.
        role_gap: None,
        // CER-1, CMP-12, observed: the member on input is `reasoning`.
        reasoning: ReasoningDemands {
            echo: Echo::Refused {
                fields: &["reasoning_content"],
                instead: Some("reasoning"),
                error: ErrorText("property 'messages.{message}.assistant.{kind}' is unsupported"),
            },
            ..ReasoningDemands::NONE
        },
        tools: ToolDemands::NONE,
        ..openai_chat::CONSTRAINTS
    },
};
