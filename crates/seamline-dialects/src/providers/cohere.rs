//! Cohere.

use seamline_model::{Constraints, ErrorText};

use super::Provider;
use crate::openai_chat;

/// Cohere's v2 chat, whose messages have the shape of Chat Completions.
pub(super) const PROVIDER: Provider = Provider {
    name: "cohere",
    company: "cohere",
    aliases: &["cohere-v2"],
    about: "Cohere's chat, v2 or its compatible endpoint",
    dialect: openai_chat::NAME,
    models: &["command-"],
    fallback: false,
    constraints: Constraints {
        // COH-2, observed. The text is not known.
        unanswered: ErrorText(""),
        // COH-1: results may hold documents.
        text_only_results: None,
        ..openai_chat::COMPATIBLE
    },
};
