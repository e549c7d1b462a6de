//! Mistral with its newer tokenizers.

use seamline_model::{Alphabet, Constraints, ErrorText, IdDemand, Role, RoleOrder};

use super::{Provider, mistral};
use crate::openai_chat;

/// The Mistral API with models of tokenizer v13 and v15.
pub(super) const PROVIDER: Provider = Provider {
    name: "mistral-v13",
    company: "mistral",
    aliases: &[],
    about: "Mistral's API, models from tokenizer v13 on: any ids",
    dialect: openai_chat::NAME,
    models: &["magistral-", "devstral-"],
    fallback: false,
    constraints: Constraints {
        // MIS-2, executed: anything but nothing and `null`.
        call_id: IdDemand {
            alphabet: Alphabet::NotNull,
            alphabet_error: ErrorText(
                "Tool call id must be a non-empty string other than 'null' for tokenizer version 13 or newer.",
            ),
            ..openai_chat::COMPATIBLE.call_id
        },
        // MIS-3, executed: newer validators take a user right after a tool.
        role_order: Some(RoleOrder {
            never: &[(Role::Tool, Role::System), (Role::Assistant, Role::System)],
            error: ErrorText("Unexpected role '{kind}' after role '{id}'"),
        }),
        ..mistral::CONSTRAINTS
    },
};
