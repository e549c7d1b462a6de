//! Azure OpenAI.

use seamline_model::Constraints;

use super::Provider;
use crate::openai_chat;

/// Chat Completions as Azure serves it.
pub(super) const PROVIDER: Provider = Provider {
    name: "azure",
    company: "azure",
    aliases: &["azure-openai"],
    about: "Azure OpenAI's Chat Completions",
    dialect: openai_chat::NAME,
    models: &[],
    fallback: false,
    constraints: Constraints {
        // AZR-1, observed: the rules of OpenAI, ids of at most 40 characters among them.
        call_id: openai_chat::CONSTRAINTS.call_id,
        ..openai_chat::CONSTRAINTS
    },
};
