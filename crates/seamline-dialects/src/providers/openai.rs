//! OpenAI itself.

use super::Provider;
use crate::openai_chat;

/// OpenAI's own Chat Completions endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "openai",
    aliases: &[],
    about: "OpenAI's Chat Completions API",
    dialect: openai_chat::NAME,
    models: &["gpt-3", "gpt-4", "gpt-5", "gpt-audio", "chatgpt", "o1", "o3", "o4", "ft:gpt"],
    fallback: false,
    constraints: openai_chat::CONSTRAINTS,
};
