//! The backend that Codex speaks to with a `ChatGPT` account.

use seamline_model::{Constraints, ErrorText, ItemIdDemand};

use super::Provider;
use crate::openai_responses;
use crate::openai_responses::ITEM_ID;

/// The `ChatGPT` backend of Codex. It keeps nothing, and wants `store` to be false.
pub(super) const PROVIDER: Provider = Provider {
    name: "codex",
    company: "codex",
    aliases: &[],
    about: "the ChatGPT backend of Codex, which speaks Responses and keeps nothing",
    dialect: openai_responses::NAME,
    models: &[],
    fallback: false,
    constraints: Constraints {
        // OAR-8, observed: it refuses requests that ask it to keep anything.
        keeps_nothing: true,
        item_id: Some(ItemIdDemand {
            // OAR-14, observed. The text is not known.
            ending_error: Some(ErrorText("")),
            ..ITEM_ID
        }),
        ..openai_responses::CONSTRAINTS
    },
};
