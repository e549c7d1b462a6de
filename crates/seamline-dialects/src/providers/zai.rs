//! Z.ai, who make GLM.

use seamline_model::{Constraints, ErrorText, IdDemand, ReasoningDemands, ToolDemands};

use super::Provider;
use crate::openai_chat;

/// Z.ai's own endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "zai",
    aliases: &["z.ai", "zhipu", "glm"],
    about: "Z.ai's Chat Completions (GLM)",
    dialect: openai_chat::NAME,
    models: &["glm-"],
    fallback: false,
    constraints: Constraints {
        // OAC-5 and OAC-7 were seen with OpenAI and Azure alone.
        call_id: IdDemand { length_max: usize::MAX, length_error: ErrorText(""), ..openai_chat::CONSTRAINTS.call_id },
        empty_call_list: None,
        // The models that do not know a role are OpenAI's.
        role_gap: None,
        // CMP-12 names gateways; Z.ai itself was recorded to take reasoning back, not to demand it.
        reasoning: ReasoningDemands::NONE,
        tools: ToolDemands::NONE,
        ..openai_chat::CONSTRAINTS
    },
};
