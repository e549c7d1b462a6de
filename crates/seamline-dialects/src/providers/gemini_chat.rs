//! Google's Gemini API, in the Chat Completions dialect.

use seamline_model::Constraints;

use super::Provider;
use crate::{gemini_generate, openai_chat};

/// The endpoint of the Gemini API that speaks Chat Completions.
pub(super) const PROVIDER: Provider = Provider {
    name: "gemini-chat",
    company: "gemini",
    aliases: &["gemini-openai"],
    about: "Gemini's Chat Completions: tool calls of newer models carry their signature",
    dialect: openai_chat::NAME,
    models: &["gemini-", "models/gemini-"],
    fallback: false,
    constraints: Constraints {
        // GEM-24, observed: in `extra_content.google.thought_signature`.
        call_signature: gemini_generate::CONSTRAINTS.call_signature,
        ..openai_chat::COMPATIBLE
    },
};
