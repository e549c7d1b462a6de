//! The backend that Codex speaks to with a `ChatGPT` account.

use super::Provider;
use crate::openai_responses;

/// The `ChatGPT` backend of Codex. It keeps nothing, and wants `store` to be false.
pub(super) const PROVIDER: Provider = Provider {
    name: "codex",
    aliases: &[],
    about: "the ChatGPT backend of Codex, which speaks Responses and keeps nothing",
    dialect: openai_responses::NAME,
    models: &[],
    fallback: false,
    constraints: openai_responses::CONSTRAINTS,
};
