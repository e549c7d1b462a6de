//! OpenAI itself.

use super::Provider;
use crate::openai_chat;

/// OpenAI's own Chat Completions endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "openai",
    company: "openai",
    aliases: &[],
    about: "OpenAI's Chat Completions API",
    dialect: openai_chat::NAME,
    models: &["gpt-#", "gpt-audio", "chatgpt", "o#", "ft:gpt"],
    fallback: false,
    constraints: openai_chat::CONSTRAINTS,
};
