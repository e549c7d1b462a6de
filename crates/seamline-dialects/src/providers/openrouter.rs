//! OpenRouter.

use seamline_model::Constraints;

use super::Provider;
use crate::openai_chat;

/// OpenRouter, which hands requests on to other providers.
pub(super) const PROVIDER: Provider = Provider {
    name: "openrouter",
    company: "openrouter",
    aliases: &[],
    about: "OpenRouter: what the provider behind it demands is not known here",
    dialect: openai_chat::NAME,
    models: &[],
    fallback: false,
    constraints: Constraints {
        // ORT-1: errors are those of the provider behind it. Recorded and accepted: ids of 50 characters.
        call_id: openai_chat::COMPATIBLE.call_id,
        ..openai_chat::COMPATIBLE
    },
};
