//! xAI.

use seamline_model::{Constraints, ErrorText};

use super::Provider;
use crate::openai_chat;

/// xAI's own endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "xai",
    company: "xai",
    aliases: &["grok"],
    about: "xAI's Chat Completions: no message may be empty",
    dialect: openai_chat::NAME,
    models: &["grok-"],
    fallback: false,
    constraints: Constraints {
        // XAI-1, observed.
        empty_message: Some(ErrorText("Invalid request content: Each message must have at least one content element.")),
        // XAI-1, observed.
        null_content: Some(ErrorText("Invalid request content: Each message must have at least one content element.")),
        ..openai_chat::COMPATIBLE
    },
};
