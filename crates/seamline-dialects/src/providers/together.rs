//! Together.

use seamline_model::{Constraints, ErrorText};

use super::Provider;
use crate::openai_chat;

/// Together's own endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "together",
    company: "together",
    aliases: &["together-ai", "togetherai"],
    about: "Together's Chat Completions: results are strings",
    dialect: openai_chat::NAME,
    models: &[],
    fallback: false,
    constraints: Constraints {
        // TOG-1, in the SDK's types: a plain string. The text is not known.
        listed_results: Some(ErrorText("")),
        ..openai_chat::COMPATIBLE
    },
};
