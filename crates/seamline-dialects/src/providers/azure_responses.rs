//! Azure, which serves OpenAI's models.

use super::Provider;
use crate::openai_responses;

/// Azure's Responses endpoint. AZR-1: the same rules as OpenAI's own.
pub(super) const PROVIDER: Provider = Provider {
    name: "azure-responses",
    company: "azure",
    aliases: &[],
    about: "Azure OpenAI's Responses API",
    dialect: openai_responses::NAME,
    models: &[],
    fallback: false,
    constraints: openai_responses::CONSTRAINTS,
};
