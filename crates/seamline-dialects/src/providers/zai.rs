//! Z.ai, who make GLM.

use seamline_model::{Constraints, ReasoningDemands};

use super::Provider;
use crate::openai_chat;

/// Z.ai's own endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "zai",
    company: "zai",
    aliases: &["z.ai", "zhipu", "glm"],
    about: "Z.ai's Chat Completions (GLM)",
    dialect: openai_chat::NAME,
    models: &["glm-"],
    fallback: false,
    constraints: Constraints {
        // CMP-12 names gateways; Z.ai itself was recorded to take reasoning back, not to demand it.
        reasoning: ReasoningDemands::NONE,
        ..openai_chat::COMPATIBLE
    },
};
