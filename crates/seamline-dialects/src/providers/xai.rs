//! xAI.

use seamline_model::{Constraints, ErrorText, IdDemand, ToolDemands};

use super::Provider;
use crate::openai_chat;

/// xAI's own endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "xai",
    aliases: &["grok"],
    about: "xAI's Chat Completions: no message may be empty",
    dialect: openai_chat::NAME,
    models: &["grok-"],
    fallback: false,
    constraints: Constraints {
        // OAC-5 and OAC-7 were seen with OpenAI and Azure alone.
        call_id: IdDemand { length_max: usize::MAX, length_error: ErrorText(""), ..openai_chat::CONSTRAINTS.call_id },
        empty_call_list: None,
        // The models that do not know a role are OpenAI's.
        role_gap: None,
        // XAI-1, observed.
        empty_message: Some(ErrorText("Invalid request content: Each message must have at least one content element.")),
        // XAI-1, observed.
        null_content: Some(ErrorText("Invalid request content: Each message must have at least one content element.")),
        tools: ToolDemands::NONE,
        ..openai_chat::CONSTRAINTS
    },
};
