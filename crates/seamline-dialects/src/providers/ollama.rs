//! Ollama.

use seamline_model::{Arguments, Constraints, ErrorText};

use super::Provider;
use crate::openai_chat;

/// Ollama's compatible endpoint, `/v1/chat/completions`.
pub(super) const PROVIDER: Provider = Provider {
    name: "ollama",
    company: "ollama",
    aliases: &[],
    about: "Ollama's `/v1`: arguments are JSON objects, results strings",
    dialect: openai_chat::NAME,
    models: &[],
    fallback: false,
    constraints: Constraints {
        // OLL-2, in the server's code.
        arguments: Arguments::Object { empty: false, error: ErrorText("invalid tool call arguments") },
        // OLL-3, in the server's code.
        null_content: Some(ErrorText("invalid message content type: <nil>")),
        // OLL-4, in the server's code: no error, but the id of the call is lost.
        listed_results: Some(ErrorText("")),
        ..openai_chat::COMPATIBLE
    },
};
