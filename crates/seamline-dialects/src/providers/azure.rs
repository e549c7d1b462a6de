//! Azure OpenAI.

use super::Provider;
use crate::openai_chat;

/// Chat Completions as Azure serves it.
pub(super) const PROVIDER: Provider = Provider {
    name: "azure",
    aliases: &["azure-openai"],
    about: "Azure OpenAI's Chat Completions",
    dialect: openai_chat::NAME,
    models: &[],
    fallback: false,
    // AZR-1, observed: the rules of OpenAI, ids of at most 40 characters among them.
    constraints: openai_chat::CONSTRAINTS,
};
