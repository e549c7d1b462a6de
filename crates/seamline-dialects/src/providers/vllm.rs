//! vLLM.

use seamline_model::{Arguments, Constraints, ErrorText, ToolDemands};

use super::Provider;
use crate::openai_chat;

/// vLLM's compatible server.
pub(super) const PROVIDER: Provider = Provider {
    name: "vllm",
    company: "vllm",
    aliases: &[],
    about: "vLLM's server: arguments are read as JSON",
    dialect: openai_chat::NAME,
    models: &[],
    fallback: false,
    constraints: Constraints {
        // VLM-1, in the server's code: nothing counts as no arguments. X-7: an object.
        arguments: Arguments::Object { empty: true, error: ErrorText("") },
        // VLM-1, in the server's code.
        tools: ToolDemands {
            empty_list: Some(ErrorText(
                "`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.",
            )),
            ..ToolDemands::NONE
        },
        ..openai_chat::COMPATIBLE
    },
};
