//! Ollama.

use seamline_model::{Arguments, Constraints, ErrorText, IdDemand, ToolDemands};

use super::Provider;
use crate::openai_chat;

/// Ollama's compatible endpoint, `/v1/chat/completions`.
pub(super) const PROVIDER: Provider = Provider {
    name: "ollama",
    aliases: &[],
    about: "Ollama's `/v1`: arguments are JSON objects, results strings",
    dialect: openai_chat::NAME,
    models: &[],
    fallback: false,
    constraints: Constraints {
        // OAC-5 and OAC-7 were seen with OpenAI and Azure alone.
        call_id: IdDemand { length_max: usize::MAX, length_error: ErrorText(""), ..openai_chat::CONSTRAINTS.call_id },
        empty_call_list: None,
        // The models that do not know a role are OpenAI's.
        role_gap: None,
        // OLL-2, in the server's code.
        arguments: Arguments::Object { empty: false, error: ErrorText("invalid tool call arguments") },
        // OLL-3, in the server's code.
        null_content: Some(ErrorText("invalid message content type: <nil>")),
        // OLL-4, in the server's code: no error, but the id of the call is lost.
        listed_results: Some(ErrorText("")),
        tools: ToolDemands::NONE,
        ..openai_chat::CONSTRAINTS
    },
};
