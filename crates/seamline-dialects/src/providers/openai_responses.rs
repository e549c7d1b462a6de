//! OpenAI, in its Responses API.

use super::Provider;
use crate::openai_responses;

/// OpenAI's own Responses endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "openai-responses",
    company: "openai",
    aliases: &[],
    about: "OpenAI's Responses API",
    dialect: openai_responses::NAME,
    models: &["gpt-#", "gpt-audio", "gpt-realtime", "chatgpt", "o#", "codex-", "computer-use", "ft:gpt"],
    fallback: false,
    constraints: openai_responses::CONSTRAINTS,
};
